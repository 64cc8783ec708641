"""Cells of rankings: numbers, gaps, and how messages show them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._types import Positions

_SHOWN = 60


def clip(value: Any) -> str:
    """A value as messages show it: never more than a line.

    Examples
    --------
    >>> clip("tea")
    "'tea'"
    >>> len(clip("tea" * 1000))
    60
    """
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 2] + "…" + text[-1]


def plain(number: float) -> str:
    """A number for people: no more digits than say something, and no powers of ten.

    Examples
    --------
    >>> plain(0.65481), plain(2024.0), plain(17012.3)
    ('0.6548', '2024', '17,012')
    """
    return f"{number:,.0f}" if abs(number) >= 9999.5 else f"{number:.4g}"


def shorten(names: Iterable[Any], most: int = 12) -> str:
    """Names in a row, the first ones only if there are many.

    Examples
    --------
    >>> shorten(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    texts = [clip(str(name)) for name in names]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def count(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}" + "s" * (number != 1)


def to_finite(array: NDArray[Any], names: NDArray[Any]) -> Positions:
    """Cells as finite positions; an error names the row and the label of the first bad one."""
    check_no_truths(array, names)
    positions = to_floats(array, names, "position")
    infinite = np.argwhere(np.isinf(positions))
    if len(infinite):
        row, col = infinite[0]
        raise ValueError(
            f"row {row}, label {names[col]!r}: position is {positions[row, col]}; "
            "positions must be finite, NaN means not ranked (infinity is not supported)"
        )
    return positions


def check_no_truths(array: NDArray[Any], names: Any, of: str = "label") -> None:
    """Refuse True and False as positions: True would come after False."""
    found = np.full(array.shape, array.dtype.kind == "b")
    if array.dtype == object:
        cells = [isinstance(cell, bool | np.bool_) for cell in array.flat]
        found = np.array(cells, dtype=bool).reshape(array.shape)
    if found.any():
        row, col = np.argwhere(found)[0]
        raise ValueError(
            f"row {row}, {of} {names[col]!r}: {array[row, col]} is no position; if True is "
            "better than False, moreplr.rankings.from_ratings turns a frame of them into rankings"
        )


def to_floats(array: NDArray[Any], names: Any, what: str, of: str = "label") -> Positions:
    """Cells as floats; an error names the row and the column of the first bad one."""
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: a {what} must be a real number")
    if array.dtype.kind in "buif":
        positions = array.astype(np.float64, order="C")  # frames are stored by column
    else:
        positions = np.empty(array.shape)
        for row, col in np.ndindex(array.shape):
            positions[row, col] = _to_number(array[row, col], row, names[col], what, of)
    return positions


def _to_number(value: Any, row: int, name: Any, what: str, of: str) -> float:
    if value is None or value is pd.NA or value is pd.NaT:
        return np.nan
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (Number, str)):
        try:
            return float(value)  # type: ignore[arg-type]
        except (OverflowError, TypeError, ValueError):
            pass
    remedy = "where it means not ranked, put NaN"
    if isinstance(value, str) and any(sign in value for sign in ">≻~∼"):
        remedy = f"rankings as texts are a list or a column, such as Y[{name!r}], and no frame"
    raise ValueError(f"row {row}, {of} {name!r}: {what} {clip(value)} is not a number; {remedy}")


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and np.isnan(value))
    )
