"""What a ranking is: one canonical form, and the way in and out of it.

The canonical form of `n` rankings of `k` labels is a float array of shape `(n, k)` of
*positions*: smaller is better, equal is tied, NaN is not ranked. Everything inside the library
trusts this form; :func:`check_rankings` is the door that makes it from what users have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._ranking_parts import (
    check_buckets,
    check_labels,
    holds_buckets,
    holds_texts,
    parse_text,
    quote_label,
    sorted_labels,
    to_finite,
)
from moreplr._types import Labels, Positions
from moreplr._validation import without_mask


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
    if holds_texts(Y):
        return from_text(Y, wanted)
    if holds_buckets(Y):
        return from_buckets(Y, wanted)
    return _from_array(Y, wanted)


def from_text(
    rows: Iterable[str | None], labels: Iterable[Any] | None = None
) -> tuple[Positions, Labels]:
    """Read rankings such as ``"Hawaii > Bali ~ Paris"`` (also ``≻`` and ``∼``).

    A label that holds one of these signs is written in double quotes. An empty text, None or
    NaN is a row without a ranked label.

    Examples
    --------
    >>> from_text(['"rent > 900" > b', ""], labels=["rent > 900", "b"])[0]
    array([[ 1.,  2.],
           [nan, nan]])
    """
    return from_buckets([parse_text(text, row) for row, text in enumerate(rows)], labels)


def from_buckets(
    rows: Iterable[Sequence[Iterable[Any]]], labels: Iterable[Any] | None = None
) -> tuple[Positions, Labels]:
    """Read rankings given as lists of buckets, the best bucket first.

    Examples
    --------
    >>> from_buckets([[["a"], ["b", "c"]]])[0]
    array([[1., 2., 2.]])
    """
    parsed = [check_buckets(row, number) for number, row in enumerate(rows)]
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
                    known = ", ".join(map(repr, names.tolist()))
                    raise ValueError(f"row {number}: unknown label {label!r}; known are {known}")
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
    positions, names = check_rankings(Y, labels)
    if library == "pandas":
        return pd.DataFrame(positions, columns=pd.Index(names.tolist()))
    if library == "polars":
        import polars

        columns = zip(names, positions.T, strict=True)
        return polars.DataFrame({str(name): column for name, column in columns})
    raise ValueError(f"library must be 'pandas' or 'polars', got {library!r}")


class SortedRankings(NamedTuple):
    """Rankings sorted from best to worst, each row with its unranked labels last."""

    order: NDArray[np.intp]  # column that stands at each place
    bucket: NDArray[np.intp]  # number of the bucket at each place, from 0
    first: NDArray[np.intp]  # place of the first label of the bucket
    last: NDArray[np.intp]  # place of the last label of the bucket


def sort_rankings(Y: Positions) -> SortedRankings:
    """Sort each row and find its buckets; what every encoder and dense ranks are made of."""
    order = np.argsort(Y, axis=1, kind="stable")
    values = np.take_along_axis(Y, order, axis=1)
    places = np.broadcast_to(np.arange(Y.shape[1]), Y.shape)
    opens = np.ones(Y.shape, dtype=bool)
    opens[:, 1:] = values[:, 1:] != values[:, :-1]
    closes = np.ones(Y.shape, dtype=bool)
    closes[:, :-1] = opens[:, 1:]
    first = np.maximum.accumulate(np.where(opens, places, 0), axis=1)
    last_place = np.where(closes, places, Y.shape[1])
    last = np.minimum.accumulate(last_place[:, ::-1], axis=1)[:, ::-1]
    return SortedRankings(order, np.cumsum(opens, axis=1) - 1, first, last)


def unsort(values: NDArray[Any], order: NDArray[np.intp], Y: Positions) -> Positions:
    """Put values that follow sorted places back to their columns; NaN where Y has NaN."""
    out = np.empty(Y.shape)
    np.put_along_axis(out, order, values, axis=1)
    out[np.isnan(Y)] = np.nan
    return out


def dense_ranks(Y: Positions) -> Positions:
    """Positions as 1, 2, … without gaps, equal for tied labels, NaN for unranked ones.

    Examples
    --------
    >>> dense_ranks(np.array([[10.0, -3.0, 10.0, np.nan]]))
    array([[ 2.,  1.,  2., nan]])
    """
    ranked = sort_rankings(Y)
    return unsort(ranked.bucket + 1.0, ranked.order, Y)


def count_buckets(Y: Positions) -> NDArray[np.intp]:
    """Number of buckets of each ranking.

    Examples
    --------
    >>> count_buckets(np.array([[2.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
    array([2, 3])
    """
    ranks = np.nan_to_num(dense_ranks(Y))
    return ranks.max(axis=1, initial=0).astype(np.intp)


def bucket_matrix(Y: Positions) -> Positions:
    """Bucket matrix B of each ranking: 1 where i is better than j, ½ tied, 0 worse (eq. 1).

    One ranking of shape `(k,)` gives `(k, k)`, a stack `(n, k)` gives `(n, k, k)`. A pair with
    an unranked label is NaN.

    Examples
    --------
    >>> bucket_matrix(np.array([1.0, 2.0, 2.0]))
    array([[0.5, 1. , 1. ],
           [0. , 0.5, 0.5],
           [0. , 0.5, 0.5]])
    """
    return (1 - np.sign(Y[..., :, None] - Y[..., None, :])) / 2


def pair_order_matrix(Y: Positions, sample_weight: Positions | None = None) -> Positions:
    """Pair order matrix C of a set of rankings: the mean of their bucket matrices.

    Each entry is the weighted mean over the rankings that hold both labels; ½ where none does.

    Examples
    --------
    >>> pair_order_matrix(np.array([[1.0, 2.0], [1.0, 1.0], [np.nan, 1.0]]))
    array([[0.5 , 0.75],
           [0.25, 0.5 ]])
    """
    n, k = Y.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    C = np.full((k, k), 0.5)
    for i in range(k - 1):
        preference = (1 - np.sign(Y[:, i, None] - Y[:, i + 1 :])) / 2
        both = ~np.isnan(preference)
        total = weight @ both
        won = weight @ np.where(both, preference, 0.0)
        C[i, i + 1 :] = np.divide(won, total, out=np.full(k - i - 1, 0.5), where=total > 0)
        C[i + 1 :, i] = 1 - C[i, i + 1 :]
    return C


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
