"""A table in words: what it holds, and warnings about what looks odd."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from moreplr._types import Array
from moreplr.encoders import METHODS, encode
from moreplr.rankings import to_text
from moreplr.rankings._cells import clip, count, shorten
from moreplr.tables.cells import has_decimal_comma
from moreplr.tables.options import TableOptions

# In fewer rows, all values may differ by chance.
_SOME = 20
# Typing errors affect fewer rows than this; ratings taken for positions affect nearly all.
_ODD_SHARE = 0.2
# Names and identifiers have fewer words; longer texts are useful features.
_NAME_WORDS = 3
# Dates also differ from row to row, and are useful features.
_DATE = r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\b"
_TRUTH = "yes or no"
# Characters of a line: label names may be of any length.
_LONGEST = 2000


@dataclass(frozen=True)
class Overview:
    """A summary of a data set, to see at a glance whether it was read correctly.

    Attributes
    ----------
    name : what was read
    rows : number of rows
    features : whether each feature is a number, a text or another type
    labels : names of the labels
    meaning : the meaning of the label columns
    first : the first ranking, as text
    consensus : the ranking that agrees best with all, as text
    notes : what looks odd
    """

    name: str
    rows: int
    features: dict[str, str]
    labels: list[str]
    meaning: str
    first: str
    consensus: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        kinds = pd.Series(list(self.features.values()), dtype=object).value_counts(sort=False)
        of_kind = ", ".join(
            f"{n} {kind}" if kind == _TRUTH else count(n, str(kind)) for kind, n in kinds.items()
        )
        lines = [
            f"read       {self.name}: {count(self.rows, 'row')}",
            f"features   {len(self.features)}{f' ({of_kind})' if of_kind else ''}: "
            f"{shorten(self.features)}",
            f"labels     {len(self.labels)}: {shorten(self.labels)}",
            f"rankings   {self.meaning}",
            f"first row  {_cut(self.first) or 'ranks nothing'}",
            f"consensus  {_cut(self.consensus)}",
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _shown(name: str) -> str:
    """A name in full, so that it can be copied to an option, unless it is very long."""
    return repr(name) if len(name) <= 300 else clip(name)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def meaning(options: TableOptions) -> str:
    """The meaning of rankings in words."""
    better = "the largest is best" if options.larger_is_better else "the smallest is best"
    close = f", closer than {options.tolerance} is tied" if options.tolerance else ""
    gaps = "empty is last" if options.missing == "last" else "empty is not ranked"
    scores = f"scores: {better}{close}, {gaps}"
    if options.text is not None:
        return f"texts of column {options.text!r}: '>' is better, '~' is tied"
    if options.votes is not None:
        return f"votes: winner of column {options.votes[2]!r}, a row for each vote"
    if options.choices is not None:
        return "best and worst of those tried"
    what = "positions: the smallest is best, equal is tied, empty is not ranked"
    what = scores if options.has_scores else what
    return what if options.long is None else f"a line for each row and label, {what}"


def notes_on_rankings(Y: Array, labels: list[Any], options: TableOptions) -> Iterator[str]:
    """Warnings where positions look like ratings, places or gaps."""
    if options.text is not None or options.votes is not None or options.choices is not None:
        return
    ranked = ~np.isnan(Y)
    if options.has_scores or not ranked.any():
        return
    values = Y[ranked]
    several = ranked.sum(axis=1) > 1
    best = np.nanmin(Y[several], axis=1) if several.any() else np.array([])
    zero = (Y == 0).any(axis=1)
    zero_is_odd = bool(zero.any() and (best[~zero[several]] == 1).any())
    if zero_is_odd:
        yield (
            "0 is the best position, although rows without a 0 begin with 1; if it means not "
            "ranked, say unranked=['0']"
        )
    if values.max() > len(labels):
        yield (
            f"a position is {values.max():g}, with {len(labels)} labels; if larger numbers are "
            "better, say ratings=True, or for measurements scores='smaller' or scores='larger'"
        )
    elif zero_is_odd:
        return
    elif len(labels) > 2 and set(np.unique(values)) == {0, 1}:
        yield "all positions are 0 or 1, and 0 is best; if 1 is better, say ratings=True"
    elif len(best) and (best > values.min()).mean() > 0.5:
        yield (
            f"most rows have no label at the best position, {values.min():g}; if larger numbers "
            "are better, say ratings=True"
        )
    elif (odd := _share_of_no_places(Y[ranked.all(axis=1)])) > _ODD_SHARE:
        yield (
            f"in {odd:.0%} of the rows that rank all labels, the numbers are not the places 1, 2, "
            "3 and so on; if larger numbers are better, say ratings=True"
        )


def _share_of_no_places(Y: Array) -> float:
    """The share of rows that no method of numbering places gives, ties included."""
    if not len(Y) or (np.round(Y) != Y).any():
        return 0.0  # measurements, of which only the order counts
    places = Y + (Y.min() == 0)
    return min(float((encode(places, way) != places).any(axis=1).mean()) for way in METHODS)


def notes_on_scores(values: Array, options: TableOptions) -> Iterator[str]:
    """Warnings where zeros look like missing ratings."""
    found = values[np.isfinite(values)]
    if options.has_scores and options.larger_is_better and len(found):
        whole = (found == np.round(found)).all()
        # Among zeros and ones only, a zero means "no", and is needed.
        if whole and found.min() == 0 and found.max() > 1 and (found == 0).mean() > 0.2:
            yield (
                "0 is the worst rating, and frequent; if it means not rated, say unranked=['0']"
            )


def notes_on_features(X: pd.DataFrame) -> Iterator[str]:
    """Identifiers, numbers that are taken as texts, and empty columns."""
    for column, values in X.items():
        name, n = str(column), int(values.notna().sum())
        distinct = int(values.nunique())
        if not n:
            yield f"column {_shown(name)} is empty"
        elif pd.api.types.is_bool_dtype(values.dtype) or n <= _SOME:
            continue
        elif pd.api.types.is_numeric_dtype(values.dtype):
            if distinct == n and values.max() - values.min() == n - 1:
                yield (
                    f"column {_shown(name)} numbers the rows; if it is an identifier, say "
                    f"ignore=[{_shown(name)}]"
                )
        elif values.dtype == object or isinstance(values.dtype, pd.StringDtype):
            yield from _notes_on_texts(name, values, n, distinct)


def _notes_on_texts(name: str, values: pd.Series, n: int, distinct: int) -> Iterator[str]:
    numbers = pd.to_numeric(values, errors="coerce").notna()
    if 2 * int(numbers.sum()) > n:
        odd = np.flatnonzero(values.notna() & ~numbers)
        if len(odd):
            cell = clip(values.iloc[odd[0]])
            yield (
                f"column {_shown(name)} is taken as text because of {cell} in row {odd[0] + 1}; "
                f"if that is a gap, say gaps=[{cell}]"
            )
    elif values.map(has_decimal_comma).sum() > n / 2:
        yield f"column {_shown(name)} is taken as text; if it holds numbers, say decimal=','"
    elif distinct > 0.9 * n and values.str.count(r"\s+").median() < _NAME_WORDS:
        if values.dropna().str.match(_DATE).all():
            return
        yield (
            f"text column {_shown(name)} has {distinct:,} different values in {n:,} rows; if it "
            f"is an identifier, say ignore=[{_shown(name)}]"
        )


def make_overview(
    name: str, X: pd.DataFrame, Y: pd.DataFrame, how: str, notes: list[str], weight: Any
) -> Overview:
    """Describe features and positions."""
    from moreplr.rankers import DummyRanker

    labels = [str(label) for label in Y]
    positions = Y.to_numpy(dtype=float)
    consensus = "not known: no row ranks two labels"
    if ((~np.isnan(positions)).sum(axis=1) > 1).any():
        with warnings.catch_warnings():  # rows that rank nothing are counted elsewhere
            warnings.simplefilter("ignore", UserWarning)
            named = pd.DataFrame(positions, columns=labels)
            ranker = DummyRanker().fit(np.zeros((len(Y), 1)), named, weight)
        consensus = ranker.predict_text([[0.0]])[0]
    return Overview(
        name,
        len(Y),
        {str(column): _kind(values) for column, values in X.items()},
        labels,
        how,
        to_text(positions[:1], labels)[0] if len(Y) else "",
        consensus,
        tuple(notes),
    )


def _kind(values: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(values.dtype):
        return _TRUTH
    if pd.api.types.is_numeric_dtype(values.dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return "date"
    return "text"
