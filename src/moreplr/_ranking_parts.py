"""Cells, label names and texts of rankings: checked and turned into the canonical form's parts.

:mod:`moreplr.rankings` is the door; this is what it checks with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_BETTER = ">≻"
_TIED = "~∼"
_TOKEN = re.compile(
    rf'\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"\s*|(?P<sign>[{_BETTER}{_TIED}])'
    rf'|(?P<bare>[^{_BETTER}{_TIED}"][^{_BETTER}{_TIED}]*))',
    re.DOTALL,
)


def check_labels(labels: Iterable[Any]) -> NDArray[Any]:
    """Label names as an object array; names that differ in type only count as the same."""
    names = list(labels)
    out = np.empty(len(names), dtype=object)
    out[:] = names
    seen: set[str] = set()
    for name in names:
        if str(name) in seen:
            raise ValueError(f"label {name!r} names two columns; label names must differ")
        seen.add(str(name))
    return out


def sorted_labels(names: set[Any]) -> NDArray[Any]:
    """Names found in texts or buckets, in an order that does not depend on the rows."""
    try:
        return check_labels(sorted(names))
    except TypeError:  # labels of different types have no order of their own
        return check_labels(sorted(names, key=str))


def to_finite(array: NDArray[Any], names: NDArray[Any]) -> NDArray[np.float64]:
    """Cells as floats; an error names the row and the label of the first bad one."""
    if np.iscomplexobj(array):
        raise ValueError("Complex data not supported: positions must be real numbers")
    if array.dtype.kind in "buif":
        positions = array.astype(np.float64, order="C")  # frames are stored by columns
    else:
        positions = np.empty(array.shape)
        for row, col in np.ndindex(array.shape):
            positions[row, col] = _to_number(array[row, col], row, names[col])
    infinite = np.argwhere(np.isinf(positions))
    if len(infinite):
        row, col = infinite[0]
        raise ValueError(
            f"row {row}, label {names[col]!r}: position is {positions[row, col]}; "
            "positions must be finite, NaN means not ranked (infinity is not supported)"
        )
    return positions


def _to_number(value: Any, row: int, label: Any) -> float:
    if value is None or value is pd.NA or value is pd.NaT:
        return np.nan
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (Number, str)):
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            pass
    raise ValueError(f"row {row}, label {label!r}: position {value!r} is not a number")


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def holds_texts(Y: Any) -> bool:
    """Whether rows are texts such as ``a > b``."""
    if isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype.kind not in "OUT"):
        return False
    if not isinstance(Y, (list, tuple, np.ndarray)):
        return False
    return any(isinstance(row, str) for row in Y)


def holds_buckets(Y: Any) -> bool:
    """Whether rows are lists of buckets, each a list, tuple or set of labels."""
    if isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype != object):
        return False
    if not isinstance(Y, (list, tuple, np.ndarray)):
        return False
    rows = [row for row in Y if isinstance(row, (list, tuple))]
    return any(isinstance(bucket, (list, tuple, set, frozenset)) for row in rows for bucket in row)


def check_buckets(row: Any, number: int) -> list[list[Any]]:
    """One row's buckets as lists; a missing row has none."""
    if _is_missing(row):
        return []
    buckets = []
    for bucket in row:
        if not isinstance(bucket, (list, tuple, set, frozenset)):
            raise ValueError(
                f"row {number}: bucket {bucket!r} is not a list of labels; "
                f"write a bucket of one label as [{bucket!r}]"
            )
        if not bucket:
            raise ValueError(f"row {number}: a bucket is empty")
        buckets.append(list(bucket))
    return buckets


def parse_text(text: Any, row: int) -> list[list[str]]:
    """The buckets of one text."""
    if _is_missing(text):
        return []
    if not isinstance(text, str):
        raise ValueError(f"row {row}: {text!r} is not a text")
    if not text.strip():
        return []
    buckets: list[list[str]] = [[]]
    at, expects_label = 0, True
    while at < len(text):
        token = _TOKEN.match(text, at)
        sign = token["sign"] if token else None
        if token is None or expects_label != (sign is None):
            wanted = "a label" if expects_label else "'>' or '~'"
            raise ValueError(f"row {row}: expected {wanted} at {text[at:]!r} in {text!r}")
        if sign is None:
            quoted = token["quoted"]
            name = token["bare"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            buckets[-1].append(name)
        elif sign in _BETTER:
            buckets.append([])
        at, expects_label = token.end(), sign is not None
    if expects_label:
        raise ValueError(f"row {row}: {text!r} ends where a label should stand")
    return buckets


def quote_label(label: Any) -> str:
    """A label as it stands in a text: in double quotes where it could be misread."""
    text = str(label)
    signs = set(_BETTER + _TIED)
    if text and text == text.strip() and text[0] != '"' and not signs & set(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
