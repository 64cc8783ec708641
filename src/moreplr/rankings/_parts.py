"""Labels and buckets: checked, and told apart from other forms of rankings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr.rankings._cells import clip, is_missing


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
    if is_missing(row):
        return []
    buckets = []
    for bucket in row:
        if not isinstance(bucket, (list, tuple, set, frozenset)):
            raise ValueError(
                f"row {number}: bucket {clip(bucket)} is not a list of labels; "
                f"write a bucket of one label as [{clip(bucket)}]"
            )
        if not bucket:
            raise ValueError(f"row {number}: a bucket is empty")
        buckets.append(list(bucket))
    return buckets
