"""Cells as numbers, texts or gaps; errors name the row and the column.

Rows are counted from 1, the first below the header.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._lazy import lazy
from moreplr.rankings._cells import clip

NUMBER, TEXT = "number", "text"
# The same as in pandas.
_GAPS = """
#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null
"""
GAPS = frozenset(["", *_GAPS.strip().split("|")])
_TRUTHS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}


@dataclass(frozen=True)
class Reader:
    """Reads columns of raw cells.

    Parameters
    ----------
    name : the table's, for messages
    gaps : texts that stand for no value, beside :data:`GAPS`
    decimal : the decimal sign
    first_row : number of the first row, for messages
    infinite : whether infinity is a number, as of a solver that did not finish
    advice : what to do about a cell that is no number, ``{cell}`` stands for it

    Examples
    --------
    >>> reader = Reader("people.csv", gaps=["?"])
    >>> reader.numbers(pd.Series(["1", "?", "2.5"], name="age"))
    array([1. , nan, 2.5])
    >>> reader.kind(pd.Series(["1", "two"]))
    'text'
    """

    name: str
    gaps: Collection[str] = ()
    decimal: str = "."
    first_row: int = 1
    infinite: bool = False
    advice: str = ""

    def kind(self, column: pd.Series) -> str:
        """`NUMBER` if all cells but gaps are numbers, else `TEXT`."""
        if not is_text(column):
            return NUMBER if has_numbers(column) else TEXT
        values, gap = self._parse(column)
        return TEXT if (np.isnan(values) & ~gap).any() else NUMBER

    def numbers(self, column: pd.Series) -> NDArray[np.float64]:
        """Cells as numbers, NaN for gaps; an error names the first that is neither."""
        values, gap = self._parse(column)
        bad = (np.isnan(values) if self.infinite else ~np.isfinite(values)) & ~gap
        if bad.any():
            row = int(np.argmax(bad))
            cell = column.iloc[row]
            comma = self.decimal == "." and has_decimal_comma(cell)
            advice = "if it is one, say decimal=','" if comma else self.advice
            if advice and not comma and re.search(r"\d", str(cell)):  # such as 2nd or 10%
                advice = f"write the number alone, or {advice}"
            raise ValueError(
                f"{self.name}: row {row + self.first_row}, column {column.name!r}: "
                f"{clip(cell)} is not a number"
                + "; " * bool(advice)
                + advice.format(cell=clip(cell))
            )
        return values

    def texts(self, column: pd.Series) -> NDArray[Any]:
        """Cells as texts, None for gaps."""
        cells = _cells(column)
        return _objects([None if self._is_gap(cell) else _plain(cell) for cell in cells])

    def truths(self, column: pd.Series) -> NDArray[np.float64] | None:
        """1 for true, 0 for false and NaN for gaps; None if cells are something else.

        Examples
        --------
        >>> reader = Reader("people.csv")
        >>> reader.truths(pd.Series(["True", "", "False"]))
        array([ 1., nan,  0.])
        >>> reader.truths(pd.Series(["True", "2"])) is None
        True
        """
        if has_numbers(column):
            return None
        values = np.full(len(column), np.nan)
        for row, cell in enumerate(_cells(column)):
            truth = _TRUTHS.get(cell.strip() if isinstance(cell, str) else str(cell))
            if truth is not None:
                values[row] = truth
            elif not self._is_gap(cell):
                return None
        return None if np.isnan(values).all() else values

    def is_code(self, column: pd.Series) -> NDArray[np.bool_]:
        """Which cells are among `gaps`; empty cells and the like are not."""
        own, cells = set(map(str, self.gaps)), _cells(column)
        found = np.array([isinstance(c, str) and c.strip() in own for c in cells], dtype=bool)
        return found | np.isin(self._as_numbers(cells), self.codes) if self.codes else found

    def _parse(self, column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        cells = _cells(column)
        values = self._as_numbers(cells)
        values[np.isin(values, self.codes)] = np.nan
        gap = np.zeros(len(values), dtype=bool)
        # Few cells are no numbers: a loop over these is fast.
        odd = np.flatnonzero(np.isnan(values))
        gap[odd] = [self._is_gap(cells[row]) for row in odd]
        return values, gap

    def _as_numbers(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        if self.decimal != ".":
            point = str.maketrans(self.decimal, ".")
            cells = _objects([c.translate(point) if isinstance(c, str) else c for c in cells])
        numbers = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce")
        return numbers.to_numpy(dtype=float, na_value=np.nan).copy()

    def _is_gap(self, cell: Any) -> bool:
        if isinstance(cell, str):
            return cell.strip() in self._known
        return cell is None or (isinstance(cell, float) and np.isnan(cell)) or cell in self.codes

    @lazy
    def _known(self) -> frozenset[str]:
        return GAPS.union(map(str, self.gaps))

    @lazy
    def codes(self) -> list[float]:
        """The gaps that are numbers."""
        return [code for code in map(as_number, self.gaps) if code is not None]


def as_number(text: Any) -> float | None:
    """A text as a number, if it is one.

    Examples
    --------
    >>> as_number("977"), as_number("?")
    (977.0, None)
    """
    value = float(pd.to_numeric(pd.Series([text], dtype=object), errors="coerce").iloc[0])
    return value if np.isfinite(value) else None


def is_text(column: pd.Series) -> bool:
    """Whether a column holds texts, or anything."""
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def has_numbers(column: pd.Series) -> bool:
    """Whether a column has a type of numbers, other than booleans."""
    dtype = column.dtype
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def has_decimal_comma(cell: Any) -> bool:
    """Whether a cell looks like a number with a decimal comma.

    Examples
    --------
    >>> has_decimal_comma("3,5"), has_decimal_comma("3.5")
    (True, False)
    """
    return isinstance(cell, str) and re.fullmatch(r"\s*[-+]?\d+,\d+\s*", cell) is not None


def _cells(column: Any) -> NDArray[Any]:
    return column.to_numpy(dtype=object, na_value=None)


def _objects(cells: list[Any]) -> NDArray[Any]:
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def _plain(cell: Any) -> str:
    """A cell as text; whole numbers that pandas made floats, because of gaps, stay whole."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
