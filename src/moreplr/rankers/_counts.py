"""Kernels that count, in weighted sets of rankings, how often each label precedes another.

The rankings of set r are `indices[indptr[r]:indptr[r + 1]]`, with the weights at the same places.
A set may be neighbours, the rows of leaves, or the whole training set.
"""

from __future__ import annotations

from moreplr._jit import jit


@jit
def add_pairs(Y, indptr, indices, weights, P, Q):
    """Add the weights of rankings to P[r, i, j] if i precedes j, and to Q[r, i, j] if they tie.

    Pairs with NaN are left out, since comparisons with NaN are false. Ties are counted for j < i.

    Parameters
    ----------
    Y : array (n_rankings, n_labels), positions
    indptr, indices, weights : the rankings of each set and their weights
    P, Q : arrays (n_sets, n_labels, n_labels)
    """
    k = Y.shape[1]
    for r in range(len(indptr) - 1):
        for at in range(indptr[r], indptr[r + 1]):
            row, weight = indices[at], weights[at]
            for i in range(k):
                # Without branches, so that several pairs are counted at a time.
                position = Y[row, i]
                for j in range(k):
                    P[r, i, j] += weight if position < Y[row, j] else 0.0
                for j in range(i):
                    Q[r, i, j] += weight if position == Y[row, j] else 0.0


@jit
def to_shares(P, Q, prior_P, prior_Q):
    """Turn the counts of `add_pairs` into probabilities; pairs without counts get the prior's."""
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
