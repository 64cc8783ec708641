"""pandas and polars frames: what columns hold, and results with names."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
import pandas as pd

from moreplr._types import Array, Labels


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def to_pandas(X: Any) -> pd.DataFrame:
    """A pandas frame of a pandas or polars one; pandas frames are given back as they are.

    Examples
    --------
    >>> import polars
    >>> to_pandas(polars.DataFrame({"a": [1, None], "b": ["x", "y"]}))
         a  b
    0  1.0  x
    1  NaN  y
    """
    if isinstance(X, pd.DataFrame):
        return X
    columns = {}
    for name in X.columns:
        column = X[name]
        plain = column.dtype.is_numeric() or column.dtype.is_temporal()
        values = column.to_numpy() if plain else np.array([*column, None], dtype=object)[:-1]
        columns[name] = pd.Series(values)
    return pd.DataFrame(columns)


def named_columns(values: Array, labels: Labels, X: Any, library: str) -> Any:
    """A frame with a column for each label; in pandas with the index of a pandas X."""
    if library == "polars":
        import polars

        return polars.DataFrame(values, schema=[str(label) for label in labels])
    index = X.index if isinstance(X, pd.DataFrame) else None
    return pd.DataFrame(values, index=index, columns=pd.Index(labels.tolist()))


def not_numbers(X: Any) -> str | None:
    """What keeps features from being numbers, or None: a column and one of its values.

    Examples
    --------
    >>> not_numbers(pd.DataFrame({"age": [31, 40], "town": ["Ulm", "Bonn"]}))
    "column 'town' holds 'Ulm' (row 0)"
    >>> not_numbers([["1.5"], ["x"]])
    "column 0 holds 'x' (row 1)"
    """
    try:
        frame = to_pandas(X) if is_frame(X) else pd.DataFrame(np.asarray(X, dtype=object))
    except (TypeError, ValueError, AttributeError):  # no table at all
        return None
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        for row, value in enumerate(column):
            if not _is_number(value):
                shown = f"{value!r:.40}" if isinstance(value, str) else f"{value!s:.40}"
                return f"column {name!r} holds {shown} (row {row})"
    return None


def _is_number(value: Any) -> bool:
    """Whether scikit-learn reads a value as a number, or has a better word for it."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return value is pd.NaT or not isinstance(value, date | time | timedelta | np.datetime64)
