"""Rankings as texts such as ``b > a ~ c``, read strictly."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from moreplr.rankings._cells import clip, is_missing

_BETTER = ">≻"
_TIED = "~∼"
_TOKEN = re.compile(
    rf'\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"\s*|(?P<sign>[{_BETTER}{_TIED}])'
    rf'|(?P<bare>[^{_BETTER}{_TIED}"][^{_BETTER}{_TIED}]*))',
    re.DOTALL,
)
# Signs that are unlikely in a label, and advice for each.
_MEANT = {
    "<≺": "the best label comes first: 'b > a'",
    ",;|": "labels are joined by '>' for better and '~' for tied: 'a > b ~ c'",
    "=≥≤": "'>' is better and '~' is tied: 'a > b ~ c'",
    "()[]{}": "ties need no brackets: 'a > b ~ c'",
}
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def parse_text(text: Any, row: int, known: Collection[str] = ()) -> list[list[str]]:
    """The buckets of one text; labels that are `known` may hold any sign but > and ~."""
    if is_missing(text):
        return []
    if not isinstance(text, str):
        raise ValueError(f"row {row}: {clip(text)} is not a text")
    text = text.strip()
    if not text:
        return []
    buckets: list[list[str]] = [[]]
    at, expects_label = 0, True
    while at < len(text):
        token = _TOKEN.match(text, at)
        sign = token["sign"] if token else None
        if token is None or expects_label != (sign is None):
            wanted = "a label" if expects_label else "'>' or '~'"
            raise ValueError(f"row {row}: expected {wanted} at {clip(text[at:])} in {clip(text)}")
        if sign is None:
            quoted = token["quoted"]
            if quoted is None:
                name = token["bare"].strip()
                if name not in known:
                    _check_bare(name, text, row)
            else:
                name = re.sub(r"\\(.)", r"\1", quoted)
            buckets[-1].append(name)
        elif sign in _BETTER:
            buckets.append([])
        at, expects_label = token.end(), sign is not None
    if expects_label:
        raise ValueError(f"row {row}: {clip(text)} ends where a label should stand")
    return buckets


def quote_label(label: Any) -> str:
    """A label for a text: in double quotes where it could be misread."""
    text = str(label)
    signs = set(_BETTER + _TIED)
    plain = text and text == text.strip() and text[0] != '"' and not signs & set(text)
    if plain and not _odd_sign(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _check_bare(name: str, text: str, row: int) -> None:
    odd = _odd_sign(name)
    if odd:
        meant = next(words for signs, words in _MEANT.items() if odd in signs)
        raise ValueError(
            f"row {row}: {odd!r} in {clip(text)}; {meant} (a label that holds {odd!r} is written "
            "in double quotes)"
        )


def _odd_sign(name: str) -> str:
    """The first sign that a label seldom has; brackets count where they are not of a word."""
    for sign in name:
        if any(sign in signs for signs in ("<≺", ",;|", "=≥≤")):
            return sign
    if name[0] in _BRACKETS:
        return name[0]
    for opening, closing in _BRACKETS.items():
        if name.count(opening) != name.count(closing):
            return opening if opening in name else closing
    return ""
