"""What cells mean: numbers, texts or gaps; errors name the row and the column.

Rows are counted from 1, the first below the header.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NUMBER, TEXT = "number", "text"
# As pandas reads them, so that a table means the same here and there.
_GAPS = """
#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null
"""
GAPS = frozenset(["", *_GAPS.strip().split("|")])


@dataclass(frozen=True)
class Reader:
    """Reads columns of raw cells.

    Parameters
    ----------
    name : the table's, for messages
    gaps : texts that stand for no value, beside :data:`GAPS`
    decimal : the sign between whole and fraction
    first_row : number of the first row, for messages

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

    def kind(self, column: pd.Series) -> str:
        """Whether a column holds numbers: all that is no gap can be read as one."""
        if not _is_text(column):
            dtype = column.dtype
            is_number = pd.api.types.is_numeric_dtype(dtype)
            return NUMBER if is_number and not pd.api.types.is_bool_dtype(dtype) else TEXT
        values, gap = self._parse(column)
        return TEXT if (np.isnan(values) & ~gap).any() else NUMBER

    def numbers(self, column: pd.Series) -> NDArray[np.float64]:
        """Cells as numbers, NaN for gaps; an error names the first that is neither."""
        values, gap = self._parse(column)
        bad = ~np.isfinite(values) & ~gap
        if bad.any():
            row = int(np.argmax(bad))
            cell = column.iloc[row]
            comma = self.decimal == "." and has_decimal_comma(cell)
            raise ValueError(
                f"{self.name}: row {row + self.first_row}, column {column.name!r}: "
                f"{cell!r} is not a number" + "; say --decimal ',' if it is one" * comma
            )
        return values

    def texts(self, column: pd.Series) -> NDArray[Any]:
        """Cells as texts, None for gaps."""
        cells = _cells(column)
        return _objects([None if self._is_gap(cell) else _plain(cell) for cell in cells])

    def _parse(self, column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        cells = _cells(column)
        if self.decimal != ".":
            point = str.maketrans(self.decimal, ".")
            cells = _objects([c.translate(point) if isinstance(c, str) else c for c in cells])
        numbers = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce")
        values = numbers.to_numpy(dtype=float, na_value=np.nan).copy()
        values[np.isin(values, self._codes)] = np.nan
        gap = np.zeros(len(values), dtype=bool)
        # Few cells are no numbers: only those are looked at one by one.
        odd = np.flatnonzero(np.isnan(values))
        gap[odd] = [self._is_gap(cells[row]) for row in odd]
        return values, gap

    def _is_gap(self, cell: Any) -> bool:
        if isinstance(cell, str):
            return cell.strip() in self._known
        return cell is None or (isinstance(cell, float) and np.isnan(cell)) or cell in self._codes

    @cached_property
    def _known(self) -> frozenset[str]:
        return GAPS.union(self.gaps)

    @cached_property
    def _codes(self) -> list[float]:
        return [code for code in map(as_number, self.gaps) if code is not None]


def as_number(text: str) -> float | None:
    """A text as a number, if it is one.

    Examples
    --------
    >>> as_number("977"), as_number("?")
    (977.0, None)
    """
    value = float(pd.to_numeric(pd.Series([text], dtype=object), errors="coerce").iloc[0])
    return value if np.isfinite(value) else None


def _is_text(column: pd.Series) -> bool:
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def has_decimal_comma(cell: Any) -> bool:
    """Whether a cell looks like a number of another country.

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
    """A cell as it stands in CSV; whole numbers that gaps made floats stay whole."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
