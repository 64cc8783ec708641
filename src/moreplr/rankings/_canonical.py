"""The canonical form of rankings, from arrays, frames, texts and buckets, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr._frames import named_columns
from moreplr._types import Labels, Positions
from moreplr._validation import check_name, without_mask
from moreplr.rankings._cells import clip, is_missing, shorten, to_finite
from moreplr.rankings._matrices import dense_ranks
from moreplr.rankings._texts import parse_text, quote_label


def check_rankings(Y: Any, labels: Iterable[Any] | None = None) -> tuple[Positions, Labels]:
    """Turn any accepted form of rankings into positions and label names.

    Parameters
    ----------
    Y : array, nested list, data frame, sequence of texts, or sequence of bucket lists
        - numbers of shape `(n, k)`: positions, NaN (or None, or masked) where a label is not
          ranked;
        - a pandas or polars frame: positions, its columns name the labels;
        - texts such as ``"Hawaii > Bali ~ Paris"``: labels that are absent are not ranked;
        - lists of buckets such as ``[["Hawaii"], ["Bali", "Paris"]]``, best bucket first.
    labels : iterable, optional
        The label names, in the order of the columns. Without them a frame's columns, the
        sorted names found in texts or buckets, or 0, 1, …, k − 1.

    Returns
    -------
    positions : float array of shape (n, k)
    labels : object array of shape (k,)

    Examples
    --------
    >>> positions, labels = check_rankings(["b > a ~ c", "c > a"])
    >>> labels.tolist()
    ['a', 'b', 'c']
    >>> positions
    array([[ 2.,  1.,  2.],
           [ 2., nan,  1.]])
    """
    wanted = None if labels is None else check_labels(labels)
    Y = without_mask(Y)
    if isinstance(Y, str):
        raise TypeError("Y is a single text; give a list of rankings, one text for each row")
    if hasattr(Y, "columns"):
        return _from_frame(Y, wanted)
    if hasattr(Y, "to_list"):  # a pandas or polars series
        Y = Y.to_list()
    if _holds_texts(Y):
        return from_text(Y, wanted)
    if _holds_buckets(Y):
        return from_buckets(Y, wanted)
    return _from_array(Y, wanted)


def from_text(
    rows: Iterable[str | None], labels: Iterable[Any] | None = None
) -> tuple[Positions, Labels]:
    """Read rankings such as ``"Hawaii > Bali ~ Paris"`` (also ``≻`` and ``∼``).

    A label that holds one of these signs is written in double quotes, and so is one with a
    comma, ``<``, ``=`` or a bracket at its start, unless `labels` names it: ``a, b``,
    ``a < b`` and ``a > (b ~ c)`` are errors. An empty text, None or NaN is a row without a
    ranked label.

    Examples
    --------
    >>> from_text(['"rent > 900" > b', ""], labels=["rent > 900", "b"])[0]
    array([[ 1.,  2.],
           [nan, nan]])
    """
    names = None if labels is None else check_labels(labels)
    known = () if names is None else {str(name) for name in names}
    return from_buckets([parse_text(text, row, known) for row, text in enumerate(rows)], names)


def from_buckets(
    rows: Iterable[Sequence[Iterable[Any]]], labels: Iterable[Any] | None = None
) -> tuple[Positions, Labels]:
    """Read rankings given as lists of buckets, the best bucket first.

    Examples
    --------
    >>> from_buckets([[["a"], ["b", "c"]]])[0]
    array([[1., 2., 2.]])
    """
    parsed = [_check_buckets(row, number) for number, row in enumerate(rows)]
    if labels is None:
        names = sorted_labels({label for row in parsed for bucket in row for label in bucket})
    else:
        names = check_labels(labels)
    column: dict[Any, int] = {str(name): i for i, name in enumerate(names)}
    column.update({name: i for i, name in enumerate(names)})
    positions = np.full((len(parsed), len(names)), np.nan)
    for number, row in enumerate(parsed):
        for position, bucket in enumerate(row, start=1):
            for label in bucket:
                if label not in column:
                    raise ValueError(
                        f"row {number}: unknown label {clip(label)}; known are "
                        f"{shorten(names)}; where labels are rare, convert all "
                        "rankings by check_rankings before they are split"
                    )
                if not np.isnan(positions[number, column[label]]):
                    raise ValueError(f"row {number}: label {label!r} is ranked twice")
                positions[number, column[label]] = position
    if not len(names):
        raise ValueError("Y has no label column: none of its rows names a label")
    return positions, names


def to_buckets(Y: Any, labels: Iterable[Any] | None = None) -> list[list[list[Any]]]:
    """Write rankings as lists of buckets, the best bucket first.

    Examples
    --------
    >>> to_buckets([[2, 1, 2]], labels=["a", "b", "c"])
    [[['b'], ['a', 'c']]]
    """
    positions, names = check_rankings(Y, labels)
    ranks = dense_ranks(positions)
    rows = []
    for row in ranks:
        buckets: list[list[Any]] = [[] for _ in range(int(np.nanmax(row, initial=0)))]
        for label, rank in zip(names.tolist(), row, strict=True):
            if not np.isnan(rank):
                buckets[int(rank) - 1].append(label)
        rows.append(buckets)
    return rows


def to_text(Y: Any, labels: Iterable[Any] | None = None, *, signs: str = ">~") -> list[str]:
    """Write rankings as texts; ``signs="≻∼"`` writes them as papers do.

    Examples
    --------
    >>> to_text([[2, 1, 2], [1, float("nan"), 2]], labels=["a", "b", "c"])
    ['b > a ~ c', 'a > c']
    """
    better, tied = (f" {sign} " for sign in signs)
    return [
        better.join(tied.join(map(quote_label, bucket)) for bucket in row)
        for row in to_buckets(Y, labels)
    ]


def to_frame(Y: Any, labels: Iterable[Any] | None = None, *, library: str = "pandas") -> Any:
    """Write rankings as a pandas or polars frame of positions, a column for each label.

    Examples
    --------
    >>> to_frame(["b > a"]).to_dict("list")
    {'a': [2.0], 'b': [1.0]}
    """
    check_name("library", library, ("pandas", "polars"))
    return named_columns(*check_rankings(Y, labels), library)


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


def _from_frame(Y: Any, wanted: Labels | None) -> tuple[Positions, Labels]:
    columns = list(Y.columns)
    if not columns:
        raise ValueError("Y has no label column")
    names = check_labels(columns)
    if wanted is not None:
        missing = [label for label in wanted if label not in columns]
        extra = [column for column in columns if column not in set(wanted.tolist())]
        if missing or extra:
            raise ValueError(
                f"the columns of Y are not the labels: missing {missing}, unknown {extra}"
            )
        Y, names = Y[wanted.tolist()], wanted
    return to_finite(Y.to_numpy(), names), names


def _from_array(Y: Any, wanted: Labels | None) -> tuple[Positions, Labels]:
    if hasattr(Y, "tocsr"):
        raise TypeError("Y is a sparse matrix; rankings are dense: use Y.toarray()")
    try:
        array = np.asarray(Y)
    except ValueError as error:
        raise ValueError(f"the rows of Y differ in length: {error}") from None
    if array.ndim != 2:
        raise ValueError(
            f"Y must have shape (n_samples, n_labels), got {array.shape}; "
            "for a single label use Y.reshape(-1, 1)"
        )
    if array.shape[1] == 0:
        raise ValueError("Y has no label column")
    names = check_labels(range(array.shape[1])) if wanted is None else wanted
    if len(names) != array.shape[1]:
        raise ValueError(f"Y has {array.shape[1]} columns, but {len(names)} labels are given")
    return to_finite(array, names), names


def _holds_texts(Y: Any) -> bool:
    """Whether rows are texts such as ``a > b``."""
    if isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype.kind not in "OUT"):
        return False
    if not isinstance(Y, (list, tuple, np.ndarray)):
        return False
    return any(isinstance(row, str) for row in Y)


def _holds_buckets(Y: Any) -> bool:
    """Whether rows are lists of buckets, each a list, tuple or set of labels."""
    if isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype != object):
        return False
    if not isinstance(Y, (list, tuple, np.ndarray)):
        return False
    rows = [row for row in Y if isinstance(row, (list, tuple))]
    return any(isinstance(bucket, (list, tuple, set, frozenset)) for row in rows for bucket in row)


def _check_buckets(row: Any, number: int) -> list[list[Any]]:
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
