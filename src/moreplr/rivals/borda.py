"""Borda's count for incomplete rankings, by which most of the rivals aggregate.

The r-th of m ranked labels gets (k + 1)(m + 1 − r)/(m + 1) votes, an absent one (k + 1)/2: the
means over all places that they may have among all k labels. Here the votes are counted from
above, as positions: r·(k + 1)/(m + 1), the fewer the better. Tied labels share the mean of
their places, and labels with equal sums of votes are tied in the consensus. Where all voters
give the same ranking, it is the consensus, ties included.
"""

from __future__ import annotations

import numpy as np

from moreplr._types import Array, Positions
from moreplr.encoders import encode
from moreplr.rankings import dense_ranks

# Sums of the same votes in another order differ in the last digits, and must tie.
ROUNDING = 1e-9


def expected_positions(Y: Positions) -> Array:
    """Positions (…, k) that the labels of each ranking may expect among all labels.

    Examples
    --------
    >>> expected_positions(np.array([[1.0, 2.0, 3.0], [2.0, np.nan, 1.0]]))
    array([[1.        , 2.        , 3.        ],
           [2.66666667, 2.        , 1.33333333]])
    """
    k = Y.shape[-1]
    encoded = encode(Y.reshape(-1, k), "fractional", "expected").reshape(Y.shape)
    return np.where(np.isnan(encoded), (k + 1) / 2, encoded)


def consensus(positions: Array, weight: Array | None = None) -> Positions:
    """Dense ranks (…, k) of the mean positions over the voters in axis −2.

    Examples
    --------
    >>> consensus(np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 2.0, 3.0]]))
    array([1., 2., 3.])
    """
    if weight is None:
        mean = positions.mean(axis=-2)
    else:
        total = weight.sum(axis=-1)[..., None]
        mean = np.matmul(weight[..., None, :], positions)[..., 0, :] / total
    return ranks_of(mean)


def ranks_of(scores: Array) -> Positions:
    """Dense ranks (…, k) by rising scores; scores that differ by rounding only are tied."""
    return dense_ranks((scores / ROUNDING).round())
