"""Values of --set: KEY=VALUE, where the value is TOML or a bare word."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any


def parse_changes(texts: Sequence[str]) -> dict[str, Any]:
    """The values by their keys; a bare word is a text, and none is None.

    Examples
    --------
    >>> parse_changes(["folds=3", "forest=moreplr", "missing=[0, 0.5]", "max_depth=none"])
    {'folds': 3, 'forest': 'moreplr', 'missing': [0, 0.5], 'max_depth': None}
    """
    changes: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"--set takes KEY=VALUE, got {text!r}")
        if key.strip() in changes:
            raise ValueError(f"--set gives {key.strip()!r} two values")
        changes[key.strip()] = _parse(value.strip())
    return changes


def _parse(value: str) -> Any:
    if value in ("none", "None"):
        return None
    if value in ("True", "False"):
        value = value.lower()
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
