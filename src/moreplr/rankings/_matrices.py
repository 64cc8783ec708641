"""Ranks, buckets and matrices of pairs of rankings in canonical form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Positions


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
    """Bucket matrix B of each ranking: 1 where i is better than j, ½ tied, 0 worse.

    It is the paper's equation 1. One ranking of shape `(k,)` gives `(k, k)`, a stack `(n, k)`
    gives `(n, k, k)`. A pair with an unranked label is NaN.

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
