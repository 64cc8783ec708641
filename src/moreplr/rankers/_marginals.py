"""Kernels for pair probabilities from leaf members: by pairs, by positions, and mixed.

A member that ranks both labels of a pair is counted as such. One that ranks only one of them
still tells where that label stands: the labels' own distributions of positions, taken as
independent, answer for the pair as well. Members are given as in :mod:`moreplr.rankers._counts`.
"""

from __future__ import annotations

from moreplr.forest._jit import jit


@jit
def add_pairs_of(Y, label, indptr, indices, weights, P, Q):
    """Like `add_pairs`, for the pairs of one label with all others; ties below the diagonal."""
    k = Y.shape[1]
    for r in range(len(indptr) - 1):
        for at in range(indptr[r], indptr[r + 1]):
            row, weight = indices[at], weights[at]
            for j in range(k):
                if j == label:
                    continue
                if Y[row, label] < Y[row, j]:
                    P[r, label, j] += weight
                elif Y[row, j] < Y[row, label]:
                    P[r, j, label] += weight
                elif Y[row, label] == Y[row, j]:
                    Q[r, max(label, j), min(label, j)] += weight


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


@jit
def mix(P, Q, positions, marginal_weight, prior_P, prior_Q, mixed_P, mixed_Q):
    """Shares of the three relations: counted pairs, and as `marginal_weight` more the marginals.

    Where a pair has neither, the prior's.
    """
    k, places = positions.shape[1], positions.shape[2]
    for r in range(P.shape[0]):
        for i in range(k):
            mixed_P[r, i, i], mixed_Q[r, i, i] = 0.0, 1.0
            for j in range(i):
                before, tied, after = P[r, i, j], Q[r, i, j], P[r, j, i]
                total = before + tied + after
                if marginal_weight > 0.0:
                    own, other = 0.0, 0.0
                    for p in range(places):
                        own += positions[r, i, p]
                        other += positions[r, j, p]
                    if own > 0.0 and other > 0.0:
                        scale = marginal_weight / (own * other)
                        rest = other
                        passed = 0.0
                        for p in range(places):
                            here = positions[r, i, p]
                            same = positions[r, j, p]
                            rest -= same
                            before += scale * here * rest
                            tied += scale * here * same
                            after += scale * here * passed
                            passed += same
                        total = before + tied + after
                if total > 0.0:
                    mixed_P[r, i, j] = max(before, 0.0) / total
                    mixed_P[r, j, i] = max(after, 0.0) / total
                    mixed_Q[r, i, j] = 1.0 - mixed_P[r, i, j] - mixed_P[r, j, i]
                else:
                    mixed_P[r, i, j] = prior_P[i, j]
                    mixed_P[r, j, i] = prior_P[j, i]
                    mixed_Q[r, i, j] = prior_Q[i, j]
                mixed_Q[r, i, j] = max(mixed_Q[r, i, j], 0.0)
                mixed_Q[r, j, i] = mixed_Q[r, i, j]
