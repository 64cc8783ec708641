"""Columns of pandas and polars frames, and the features and rankings that are made of them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._frames import named_columns
from moreplr._types import Array
from moreplr._validation import check_name
from moreplr.rankings._cells import clip, shorten


@dataclass(frozen=True)
class RankedTable:
    """Features X and positions Y of the same rows; unpacks as ``X, Y = from_long(…)``.

    Attributes
    ----------
    X : frame of the features, of pandas or polars as the input
    Y : frame of positions of the same kind: 1 is best, equal is tied, NaN is not ranked
    sample_weight : array (n_samples,) or None
        How often each ranking was given, where the source has this number.
    """

    X: Any
    Y: Any
    sample_weight: Array | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.Y))


def check_frame(frame: Any) -> list[Any]:
    """The columns of a pandas or polars frame, whose names must differ."""
    if not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a pandas or polars frame, got {type(frame).__name__}")
    columns = list(frame.columns)
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise ValueError(f"there are two columns {twice[0]!r}: rename one of them")
    return columns


def column(frame: Any, name: Any, parameter: str) -> NDArray[Any]:
    """The cells of a column as objects."""
    columns = list(frame.columns)
    if name not in columns:
        raise ValueError(f"there is no column {clip(name)} ({parameter}){_hint(columns, name)}")
    return objects(frame[name].to_list())


def objects(cells: Iterable[Any]) -> NDArray[Any]:
    """Cells as an array of objects, whatever they are."""
    listed = list(cells)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def select(frame: Any, columns: Sequence[Any], rows: NDArray[Any] | None = None) -> Any:
    """Some columns of a frame, and some of its rows."""
    if rows is not None:  # first, as a polars frame without columns has no rows
        frame = frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows.tolist()]
    return frame[list(columns)]


def others(columns: list[Any], used: Iterable[Any], ignore: Iterable[Any]) -> list[Any]:
    """The columns that are neither used nor ignored: the features."""
    left_out = set(used) | set(find_columns(columns, ignore, "ignore"))
    return [name for name in columns if name not in left_out]


def ranked_table(X: Any, positions: Array, labels: Iterable[Any]) -> RankedTable:
    """Features, and positions as a frame of the same kind."""
    library = "pandas" if hasattr(X, "iloc") else "polars"
    return RankedTable(X, named_columns(positions, labels, library, like=X))


def make_frame(columns: dict[Any, Any], library: str) -> Any:
    """A pandas or polars frame of columns."""
    check_name("library", library, ("pandas", "polars"))
    if library == "pandas":
        return pd.DataFrame(columns)
    import polars

    return polars.DataFrame(columns, strict=False)


def find_columns(columns: list[Any], wanted: Iterable[Any], parameter: str) -> list[Any]:
    """Columns by names and patterns such as ``"item_*"``; a name comes before a pattern.

    Examples
    --------
    >>> find_columns(["a1", "a2", "b"], ["b", "a*"], "ignore")
    ['b', 'a1', 'a2']
    """
    found: dict[Any, None] = {}
    for name in [wanted] if isinstance(wanted, str) else wanted:
        matches = [c for c in columns if c == name] or [
            c
            for c in columns
            if isinstance(name, str)
            and any(sign in name for sign in "*?[")
            and fnmatchcase(str(c), name)
        ]
        if not matches:
            raise ValueError(
                f"there is no column {clip(name)} ({parameter}){_hint(columns, name)}"
            )
        found.update(dict.fromkeys(matches))
    return list(found)


def find_labels(columns: list[Any], labels: Any) -> list[Any]:
    """The label columns: by their names, a pattern or prefix, or the number of last columns.

    Examples
    --------
    >>> find_labels(["x", "L1", "L2"], 2)
    ['L1', 'L2']
    >>> find_labels(["x", "L1", "L2"], "L")
    ['L1', 'L2']
    """
    if labels is None:
        raise ValueError(
            "say which columns are labels: labels=['a', 'b'] (names), labels='rank_*' (a pattern) "
            f"or labels=3 (the last three); columns are {shorten(columns)}"
        )
    if isinstance(labels, int | np.integer) and not isinstance(labels, bool):
        if not 0 < labels < len(columns):
            raise ValueError(f"{labels} label columns in a table of {len(columns)} columns")
        return columns[-labels:]
    if isinstance(labels, str) and labels not in columns:
        pattern = labels if any(sign in labels for sign in "*?[") else labels + "*"
        found = [name for name in columns if fnmatchcase(str(name), pattern)]
        if not found:
            raise ValueError(
                f"no column matches {labels!r} (labels); columns are {shorten(columns)}"
            )
        return found
    return find_columns(columns, labels, "labels")


def _hint(columns: list[Any], name: Any) -> str:
    close = difflib.get_close_matches(str(name), map(str, columns), n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; columns are {shorten(columns)}"
