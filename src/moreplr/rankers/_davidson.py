"""Davidson's model of pairs: probabilities, likelihood and its derivatives, in O(k²) per row.

A row has a score s and a tie tendency t for each label. Of a pair,

    P(i≻j) ∝ exp(s_i),   P(j≻i) ∝ exp(s_j),   P(i∼j) ∝ exp((s_i + s_j) / 2 + t_i + t_j).

With a_i = exp(s_i / 2) and b_i = a_i · exp(t_i), these are a_i², a_j² and b_i · b_j, so that k
exponentials of each kind per row are enough.

In all functions, `rows` are the numbers of the rows to use, `scores` (n, 2k) hold s and then t,
`ranks` (n, k) are dense ranks, -1 where a label is not ranked, and `weights` (n,) those of rows.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit

# Differences of scores are limited to this, so that no term overflows. Probabilities are 0 or 1 in
# floating point there.
_FARTHEST = 300.0
_LEAST = np.exp(-_FARTHEST)


@inlined
def terms(scores, k, a, b):
    """Write exp(s / 2) and exp(s / 2 + t) of a row to a and b, with the largest s set to 0."""
    best = scores[0]
    for i in range(1, k):
        best = max(best, scores[i])
    for i in range(k):
        a[i] = np.exp(max(scores[i] - best, -_FARTHEST) / 2)
        b[i] = a[i] * np.exp(min(max(scores[k + i], -_FARTHEST), _FARTHEST / 4))


@jit(fastmath={"reassoc", "nsz", "contract", "arcp"})
def add_gradients(rows, scores, ranks, weights, G, H):
    """Write the gradient and the diagonal Hessian of the loss to G and H, each (n, 2k).

    Let e = P(i≻j) + P(i∼j) / 2 be the expected result of i against j, and o (1, ½ or 0) the
    observed one. The derivatives of a pair's negative log likelihood are e - o with respect to
    s_i, o - e with respect to s_j, and P(i∼j) - [i∼j] with respect to t_i and t_j.

    The ranked labels of a row are first copied to contiguous arrays, so that the loop over pairs
    has no branches and the compiler can process several pairs at a time.
    """
    k = ranks.shape[1]
    a, b = np.empty(k), np.empty(k)
    ranked = np.empty(k, np.int64)
    square, tied, rank = np.empty(k), np.empty(k), np.empty(k)
    g, h, tie_g, tie_h = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for row in rows:
        terms(scores[row], k, a, b)
        m = 0
        for i in range(k):
            if ranks[row, i] >= 0:
                ranked[m] = i
                square[m], tied[m], rank[m] = a[i] * a[i], b[i], ranks[row, i]
                m += 1
        for i in range(m):
            g[i], h[i], tie_g[i], tie_h[i] = 0.0, 0.0, 0.0, 0.0
        for j in range(1, m):
            square_j, tied_j, rank_j = square[j], tied[j], rank[j]
            own_g, own_h, own_tie_g, own_tie_h = 0.0, 0.0, 0.0, 0.0
            for i in range(j):
                tie = tied[i] * tied_j
                scale = 1.0 / (square[i] + square_j + tie)
                q = tie * scale
                expected = square[i] * scale + 0.5 * q
                is_tie = 1.0 if rank[i] == rank_j else 0.0
                surprise = expected - (1.0 if rank[i] < rank_j else 0.5 * is_tie)
                curve = expected * (1.0 - expected) - 0.25 * q
                g[i] += surprise
                own_g -= surprise
                h[i] += curve
                own_h += curve
                tie_g[i] += q - is_tie
                own_tie_g += q - is_tie
                tie_h[i] += q * (1.0 - q)
                own_tie_h += q * (1.0 - q)
            g[j] += own_g
            h[j] += own_h
            tie_g[j] += own_tie_g
            tie_h[j] += own_tie_h
        for i in range(2 * k):
            G[row, i], H[row, i] = 0.0, 0.0
        weight = weights[row]
        for i in range(m):
            G[row, ranked[i]], G[row, k + ranked[i]] = weight * g[i], weight * tie_g[i]
            H[row, ranked[i]], H[row, k + ranked[i]] = weight * h[i], weight * tie_h[i]


@jit
def total_loss(rows, scores, ranks, weights):
    """The weighted negative log likelihood of the observed pairs of these rows."""
    k = ranks.shape[1]
    a, b = np.empty(k), np.empty(k)
    total = 0.0
    for row in rows:
        terms(scores[row], k, a, b)
        loss, odds = 0.0, 1.0
        for i in range(1, k):
            own = ranks[row, i]
            if own < 0:
                continue
            for j in range(i):
                other = ranks[row, j]
                if other < 0:
                    continue
                tie, before, after = b[i] * b[j], a[i] * a[i], a[j] * a[j]
                seen = tie if own == other else (before if own < other else after)
                odds *= (before + after + tie) / max(seen, _LEAST)
                if odds > 1e100:  # one logarithm for many pairs
                    loss += np.log(odds)
                    odds = 1.0
        total += weights[row] * (loss + np.log(odds))
    return total


@jit
def probabilities(scores, P, Q):
    """Write the three probabilities of all pairs of labels of all rows to P and Q, (n, k, k)."""
    n, k = P.shape[0], P.shape[1]
    a, b = np.empty(k), np.empty(k)
    for row in range(n):
        terms(scores[row], k, a, b)
        for i in range(k):
            P[row, i, i], Q[row, i, i] = 0.0, 1.0
            for j in range(i):
                tie, before, after = b[i] * b[j], a[i] * a[i], a[j] * a[j]
                scale = 1.0 / (before + after + tie)
                P[row, i, j] = before * scale
                P[row, j, i] = after * scale
                Q[row, i, j] = Q[row, j, i] = tie * scale


@jit
def information(scores, ranks, weights, by_scores, by_ties, mixed):
    """Write the second derivatives of each row's loss to arrays (n, k, k).

    They do not depend on the observed relations, so that their sum is the Fisher information of
    the pairs.

    Parameters
    ----------
    scores, ranks, weights : see the module
    by_scores, by_ties : derivatives with respect to two scores, and to two tie tendencies
    mixed : derivatives with respect to a score (second axis) and a tie tendency (third axis)
    """
    n, k = ranks.shape
    a, b = np.empty(k), np.empty(k)
    for row in range(n):
        by_scores[row], by_ties[row], mixed[row] = 0.0, 0.0, 0.0
        terms(scores[row], k, a, b)
        for i in range(1, k):
            for j in range(i):
                if ranks[row, i] < 0 or ranks[row, j] < 0:
                    continue
                tie, before, after = b[i] * b[j], a[i] * a[i], a[j] * a[j]
                scale = weights[row] / (before + after + tie)
                share = tie / (before + after + tie)
                lead = (before - after) / (before + after + tie)
                strength = (before + after) * scale / 4 - weights[row] * lead * lead / 4
                tendency = weights[row] * share * (1 - share)
                cross = -weights[row] * lead * share / 2
                by_scores[row, i, i] += strength
                by_scores[row, j, j] += strength
                by_scores[row, i, j] = by_scores[row, j, i] = -strength
                by_ties[row, i, i] += tendency
                by_ties[row, j, j] += tendency
                by_ties[row, i, j] = by_ties[row, j, i] = tendency
                mixed[row, i, i] += cross
                mixed[row, i, j] += cross
                mixed[row, j, i] -= cross
                mixed[row, j, j] -= cross
