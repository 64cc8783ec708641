"""Dense ranks, numbers of buckets and pair matrices of rankings in canonical form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from moreplr._types import Positions


def dense_ranks(Y: Positions) -> Positions:
    """Ranks 1, 2, … without gaps: equal for tied labels, NaN for unranked ones.

    Examples
    --------
    >>> dense_ranks(np.array([[10.0, -3.0, 10.0, np.nan]]))
    array([[ 2.,  1.,  2., nan]])
    """
    return rankdata(Y, "dense", axis=-1, nan_policy="omit").astype(float)


def count_buckets(Y: Positions) -> NDArray[np.intp]:
    """Number of buckets of each ranking.

    Examples
    --------
    >>> count_buckets(np.array([[2.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
    array([2, 3])
    """
    ranks = np.nan_to_num(dense_ranks(Y))
    return ranks.max(axis=1, initial=0).astype(np.intp)


def has_ties(Y: Positions) -> NDArray[np.bool_]:
    """Which rankings tie labels."""
    return count_buckets(Y) < (~np.isnan(Y)).sum(axis=1)


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
