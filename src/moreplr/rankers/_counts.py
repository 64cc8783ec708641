"""Kernels that count, over weighted sets of rankings, how often each label precedes another.

Sets are given in rows: the members of set r are `indices[indptr[r]:indptr[r + 1]]` with the
weights at the same places, so that neighbours, leaves and whole training sets are one case.
"""

from __future__ import annotations

from moreplr._jit import jit


@jit
def add_pairs(Y, indptr, indices, weights, P, Q):
    """Add the weights of members to P[r, i, j] where they rank i before j, to Q where they tie.

    A member takes part in the pairs of which it ranks both labels: NaN compares as neither.
    """
    k = Y.shape[1]
    for r in range(len(indptr) - 1):
        for at in range(indptr[r], indptr[r + 1]):
            row, weight = indices[at], weights[at]
            for i in range(k):
                # Without branches, so that several pairs are counted at a time.
                own = Y[row, i]
                for j in range(k):
                    P[r, i, j] += weight if own < Y[row, j] else 0.0
                for j in range(i):
                    Q[r, i, j] += weight if own == Y[row, j] else 0.0


@jit
def to_shares(P, Q, prior_P, prior_Q):
    """Turn counts, ties below the diagonal, into probabilities; without any, the prior is used."""
    k = P.shape[1]
    for r in range(P.shape[0]):
        for i in range(k):
            P[r, i, i], Q[r, i, i] = 0.0, 1.0
            for j in range(i):
                total = P[r, i, j] + P[r, j, i] + Q[r, i, j]
                if total > 0.0:
                    P[r, i, j] /= total
                    P[r, j, i] /= total
                    Q[r, i, j] /= total
                else:
                    P[r, i, j] = prior_P[i, j]
                    P[r, j, i] = prior_P[j, i]
                    Q[r, i, j] = prior_Q[i, j]
                Q[r, j, i] = Q[r, i, j]
