"""pandas and polars frames: conversion, checks, and results with column names."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time, timedelta
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from moreplr._types import Array


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def to_pandas(X: Any) -> pd.DataFrame:
    """Convert a polars frame to pandas; pandas frames are returned unchanged.

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
        plain = plain or (str(column.dtype) == "Boolean" and not column.null_count())
        values = column.to_numpy() if plain else np.array([*column, None], dtype=object)[:-1]
        columns[name] = pd.Series(values)
    return pd.DataFrame(columns)


def named_columns(values: Array, labels: Iterable[Any], library: str, like: Any = None) -> Any:
    """A frame with a column for each label; in pandas with the index of `like`, if it has one."""
    if library == "polars":
        import polars

        columns = zip(labels, values.T, strict=True)
        return polars.DataFrame({str(label): column for label, column in columns})
    index = like.index if isinstance(like, pd.DataFrame) else None
    return pd.DataFrame(values, index=index, columns=pd.Index(list(labels)))


def one_row(x: Any, names: Any = None) -> Any:
    """One row as a table, from a frame of one row, a Series, a dict or a sequence of values.

    Examples
    --------
    >>> one_row({"town": "Ulm", "age": 30}, ["age", "town"])
       age town
    0   30  Ulm
    >>> one_row([[1, 2], [3, 4]])
    Traceback (most recent call last):
    ...
    ValueError: one row is explained at a time, got 2
    """
    if isinstance(x, dict):
        names = list(x) if names is None else list(names)
        absent = [name for name in names if name not in x]
        if absent:
            raise ValueError(f"the row lacks column {absent[0]!r}")
        row = pd.DataFrame([x])[names]
    elif isinstance(x, pd.Series):
        row = x.to_frame().T
    elif is_frame(x):
        row = to_pandas(x)
    else:
        row = x if hasattr(x, "shape") else np.asarray(x, dtype=object)
        row = row[None] if row.ndim == 1 else row
        if names is not None and row.ndim == 2 and isinstance(row, np.ndarray):
            row = pd.DataFrame(row, columns=list(names))
    if row.ndim != 2:
        raise ValueError(f"one row is explained at a time, got an array of shape {row.shape}")
    if row.shape[0] != 1:
        raise ValueError(f"one row is explained at a time, got {row.shape[0]}")
    return row


def fault_of(X: Any, ranker: str, *, takes_gaps: bool) -> str | None:
    """A message with the first column that a ranker of numbers can't take, and a remedy.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [31, None], "town": ["Ulm", "Bonn"]})
    >>> fault_of(people, "RankingForest", takes_gaps=True)
    "column 'town' holds 'Ulm' (row 0), and RankingForest takes numbers: wrap it in ..."
    >>> fault_of(people, "NearestNeighborsRanker", takes_gaps=False)
    "column 'age' holds NaN (row 1), and NearestNeighborsRanker takes no gaps: wrap it in ..."
    """
    if issparse(X):  # without column names, scikit-learn's message is as good
        return None
    try:
        frame = to_pandas(X) if is_frame(X) else pd.DataFrame(np.asarray(X, dtype=object))
    except (TypeError, ValueError, AttributeError):  # not a table
        return None
    for name, column in frame.items():
        found = _first_fault(column, takes_gaps)
        if found is not None:
            row, value, why = found
            return f"column {name!r} holds {value} (row {row}), and {ranker} takes {why}"
    return None


def _first_fault(column: pd.Series, takes_gaps: bool) -> tuple[int, str, str] | None:
    """Row and value of the first invalid cell, and what is expected instead."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        for row, value in enumerate(column):
            if not _is_number(value):
                shown = f"{value!r:.40}" if isinstance(value, str) else f"{value!s:.40}"
                return row, shown, "numbers: wrap it in moreplr.TableRanker"
    numbers = pd.to_numeric(column, errors="coerce")
    if pd.api.types.is_complex_dtype(numbers.dtype):
        return None
    values = numbers.to_numpy(dtype=float, na_value=np.nan)
    for odd, value, why in (
        (np.isinf(values), "infinity", "finite numbers: put a gap or a large number there"),
        (column.isna() & (not takes_gaps), "NaN", "no gaps: wrap it in moreplr.TableRanker"),
    ):
        if odd.any():
            return int(np.argmax(odd)), value, why
    return None


def _is_number(value: Any) -> bool:
    """Whether scikit-learn accepts a value as a number, or has a better message for it."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return value is pd.NaT or not isinstance(value, date | time | timedelta | np.datetime64)
