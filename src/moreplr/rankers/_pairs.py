"""Relations of pairs of labels: as codes of rows, as matrices, and as shares of all rows."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions
from moreplr.base import Pairs
from moreplr.rankers import _counts

# A kernel call counts this many pairs, in a fraction of a second; Ctrl-C works between calls.
_CELLS = 1 << 26


def pair_codes(Y: Positions) -> NDArray[np.int8]:
    """For each row and pair i < j: 0 if i precedes j, 1 tied, 2 if j precedes i, -1 unknown.

    Pairs are in the order of `numpy.triu_indices(k, 1)`.

    Examples
    --------
    >>> pair_codes(np.array([[1.0, 2.0, 2.0], [3.0, np.nan, 1.0]]))
    array([[ 0,  0,  1],
           [-1,  2, -1]], dtype=int8)
    """
    n, k = Y.shape
    codes = np.empty((n, k * (k - 1) // 2), np.int8)
    at = 0
    for i in range(k - 1):
        sign = np.sign(Y[:, i, None] - Y[:, i + 1 :])
        codes[:, at : at + k - 1 - i] = np.where(np.isnan(sign), -1, sign + 1)
        at += k - 1 - i
    return codes


def square(three_way: Array, k: int) -> Pairs:
    """Probabilities (n, n_pairs, 3) of the codes 0, 1 and 2 as matrices."""
    i, j = np.triu_indices(k, 1)
    P, Q = Pairs.zeros(len(three_way), k)
    P[:, i, j], P[:, j, i] = three_way[:, :, 0], three_way[:, :, 2]
    Q[:, i, j] = Q[:, j, i] = three_way[:, :, 1]
    Q[:, np.arange(k), np.arange(k)] = 1.0
    return Pairs(P, Q)


def know_nothing(k: int) -> Pairs:
    """Pair probabilities of one row without any data: a third for each relation."""
    own = np.eye(k, dtype=bool)
    return Pairs(np.where(own, 0.0, 1 / 3), np.where(own, 1.0, 1 / 3))


def consensus(Y: Positions, weight: Array | None) -> Pairs:
    """Shares of the three relations in all rows, as matrices; warns of pairs without data."""
    n, k = Y.shape
    P, Q = Pairs.zeros(1, k)
    weights = np.ones(n) if weight is None else weight
    step = max(1, _CELLS // k**2)
    for at in range(0, n, step):
        rows = np.arange(at, min(at + step, n))
        _counts.add_pairs(Y, np.array([0, len(rows)]), rows, weights[rows], P, Q)
    i, j = np.tril_indices(k, -1)
    unseen = int(np.sum(P[0, i, j] + P[0, j, i] + Q[0, i, j] == 0))
    warn_unseen(unseen, len(i), stacklevel=4)
    _counts.to_shares(P, Q, *know_nothing(k))
    return Pairs(P[0], Q[0])


def warn_unseen(unseen: int, n_pairs: int, stacklevel: int = 3) -> None:
    """Warn the caller of `fit` of pairs that are never ranked together."""
    if unseen:
        warnings.warn(
            f"{unseen} of {n_pairs} pairs of labels are never ranked together; a third is "
            "predicted for each of their relations",
            UserWarning,
            stacklevel=stacklevel,
        )
