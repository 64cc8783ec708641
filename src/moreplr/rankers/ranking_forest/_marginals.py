"""Pair probabilities from leaf members: by pairs, by positions, and mixed.

A member that ranks both labels of a pair is counted as such. One that ranks only one of them
still says where that label stands: the labels' own distributions of positions, taken as
independent, say which of the two comes first. Members are given as in
:mod:`moreplr.rankers._counts`.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr._types import Array


@jit
def add_pairs_of(Y, label, indptr, indices, weights, P, Q):
    """Like `add_pairs`, for the pairs of one label with all others; ties below the diagonal."""
    k = Y.shape[1]
    before, after, tied = np.empty(k), np.empty(k), np.empty(k)
    for r in range(len(indptr) - 1):
        before[:], after[:], tied[:] = 0.0, 0.0, 0.0
        for at in range(indptr[r], indptr[r + 1]):
            row, weight = indices[at], np.float64(weights[at])
            own = Y[row, label]
            for j in range(k):  # without branches, so that several pairs are counted at a time
                other = Y[row, j]
                before[j] += weight if own < other else 0.0
                after[j] += weight if other < own else 0.0
                tied[j] += weight if own == other else 0.0
        for j in range(k):
            if j != label:
                P[r, label, j] += before[j]
                P[r, j, label] += after[j]
                Q[r, max(label, j), min(label, j)] += tied[j]


@jit
def add_positions(places, first, last, indptr, indices, weights, positions):
    """Add to positions[r, i, p] the weight of the members with label i at place p.

    `places` holds small integers, -1 where a label is not ranked. Labels first to last - 1.
    """
    for r in range(len(indptr) - 1):
        for at in range(indptr[r], indptr[r + 1]):
            row, weight = indices[at], weights[at]
            for i in range(first, last):
                if places[row, i] >= 0:
                    positions[r, i, places[row, i]] += weight


def orders(positions: Array) -> Array:
    """Probabilities that label i comes before j, for labels with independent positions.

    `positions` (n, k, places) are weights of any sum; a pair with a label of none is zero.
    """
    total = positions.sum(axis=2, keepdims=True)
    share = np.divide(positions, total, out=np.zeros_like(positions), where=total > 0)
    later = np.maximum(share.sum(axis=2, keepdims=True) - np.cumsum(share, axis=2), 0.0)
    # Stacks of transposed matrices are multiplied at half the speed.
    return share @ np.ascontiguousarray(later.swapaxes(1, 2))


@jit
def mix(P, Q, order, prior_P, prior_Q, weights, mixed_P, mixed_Q):
    """Shares of the three relations: counted pairs, and by `weights` positions and the prior.

    Positions say which label comes first, but not whether two are tied: independent labels tie
    less often than labels do. So they keep the share of ties. Ties are counted below the
    diagonal. Where a pair has nothing of them, the prior's.
    """
    order_weight, prior_weight = weights
    k = P.shape[1]
    for r in range(P.shape[0]):
        for i in range(k):
            mixed_P[r, i, i], mixed_Q[r, i, i] = 0.0, 1.0
            for j in range(i):
                before = P[r, i, j] + prior_weight * prior_P[i, j]
                after = P[r, j, i] + prior_weight * prior_P[j, i]
                tied = Q[r, i, j] + prior_weight * prior_Q[i, j]
                votes = before + tied + after
                ties = tied / votes if votes > 0.0 else prior_Q[i, j]
                strict = order[r, i, j] + order[r, j, i]
                if strict > 0.0:
                    before += order_weight * (1.0 - ties) * order[r, i, j] / strict
                    after += order_weight * (1.0 - ties) * order[r, j, i] / strict
                    tied += order_weight * ties
                total = before + tied + after
                if total > 0.0:
                    mixed_P[r, i, j] = before / total
                    mixed_P[r, j, i] = after / total
                    mixed_Q[r, i, j] = tied / total
                else:
                    mixed_P[r, i, j] = prior_P[i, j]
                    mixed_P[r, j, i] = prior_P[j, i]
                    mixed_Q[r, i, j] = prior_Q[i, j]
                mixed_Q[r, j, i] = mixed_Q[r, i, j]
