"""Pair probabilities from counted pairs and from the positions of single labels.

Training rows that rank both labels of a pair are counted. Rows that rank only one of them still
hold its position. So the distribution of positions of each label, taken as independent, gives a
second estimate of which of the two comes first.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr._types import AnyArray

_DIGITS = 1e6


def orders(positions: AnyArray) -> AnyArray:
    """Probabilities that label i comes before j, for labels with independent positions.

    `positions` (n, k, places) are votes, which need not sum to 1. Pairs with a label without votes
    get 0.
    """
    n, k, n_places = positions.shape
    share = np.empty((n, k, n_places), np.float32)
    later = np.empty((n, n_places, k), np.float32)
    _shares(positions, share, later)
    return share @ later


@jit
def _shares(positions, share, later):
    """Compute the share of a label's votes at each place, and at all later places."""
    for r in range(positions.shape[0]):
        for i in range(positions.shape[1]):
            total = positions[r, i].sum()
            rest = total
            for p in range(positions.shape[2]):
                rest -= positions[r, i, p]
                share[r, i, p] = positions[r, i, p] / total if total > 0 else 0.0
                later[r, p, i] = rest / total if total > 0 else 0.0


@jit
def mix(before, tied, after, scale, order, prior_P, prior_Q, weights, mixed_P, mixed_Q):
    """Mix counted pairs, the orders of positions, and a prior into pair probabilities.

    Positions are used for the order of two labels, not for ties: independent labels would tie
    less often than labels do. The share of ties is that of the counted pairs and the prior.

    Parameters
    ----------
    before, tied, after : uint32 arrays, the votes of `_votes.add_votes`
    scale : float, turns votes into shares, which are rounded to six digits
    order : array (n, k, k), the result of `orders`
    prior_P, prior_Q : arrays (k, k), pair probabilities
    weights : the weights of `order` and of the prior, against 1 for all votes
    mixed_P, mixed_Q : arrays (n, k, k), to which the result is written
    """
    order_weight, prior_weight = weights
    k = before.shape[1]
    for r in range(before.shape[0]):
        for i in range(k):
            mixed_P[r, i, i], mixed_Q[r, i, i] = 0.0, 1.0
            for j in range(i):
                first = _share(before[r, i, j] + after[r, j, i], scale)
                second = _share(before[r, j, i] + after[r, i, j], scale)
                level = _share(tied[r, i, j] + tied[r, j, i], scale)
                first += prior_weight * prior_P[i, j]
                second += prior_weight * prior_P[j, i]
                level += prior_weight * prior_Q[i, j]
                votes = first + level + second
                ties = level / votes if votes > 0.0 else prior_Q[i, j]
                strict = order[r, i, j] + order[r, j, i]
                if strict > 0.0:
                    first += order_weight * (1.0 - ties) * order[r, i, j] / strict
                    second += order_weight * (1.0 - ties) * order[r, j, i] / strict
                    level += order_weight * ties
                total = first + level + second
                if total > 0.0:
                    mixed_P[r, i, j] = first / total
                    mixed_P[r, j, i] = second / total
                    mixed_Q[r, i, j] = level / total
                else:
                    mixed_P[r, i, j] = prior_P[i, j]
                    mixed_P[r, j, i] = prior_P[j, i]
                    mixed_Q[r, i, j] = prior_Q[i, j]
                mixed_Q[r, j, i] = mixed_Q[r, i, j]


@inlined
def _share(votes, scale):
    return np.rint(votes * scale * _DIGITS) / _DIGITS
