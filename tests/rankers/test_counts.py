"""The kernels that count pairs against plain loops over sets of rankings."""

import numpy as np

from moreplr.rankers import _counts


def case(seed=0, n=12, k=4):
    rng = np.random.default_rng(seed)
    Y = rng.integers(1, 4, (n, k)).astype(float)
    Y[rng.random((n, k)) < 0.2] = np.nan
    indptr = np.array([0, 0, 5, 6, 13])  # an empty set, and rows that stand in several
    return Y, indptr, rng.integers(0, n, 13), rng.random(13)


def test_each_set_counts_its_members_by_their_weights():
    Y, indptr, indices, weights = case()
    P, Q = np.ones((4, 4, 4)), np.ones((4, 4, 4))  # it adds to what is there
    _counts.add_pairs(Y, indptr, indices, weights, P, Q)
    for r, i, j in np.ndindex(4, 4, 4):
        members = range(indptr[r], indptr[r + 1])
        before = sum(weights[m] for m in members if Y[indices[m], i] < Y[indices[m], j])
        tied = sum(weights[m] for m in members if Y[indices[m], i] == Y[indices[m], j])
        np.testing.assert_allclose(P[r, i, j], 1 + before)
        if j < i:  # ties are counted below the diagonal
            np.testing.assert_allclose(Q[r, i, j], 1 + tied)


def test_shares_add_up_and_fall_back_to_the_prior():
    rng = np.random.default_rng(1)
    P, Q = rng.integers(0, 3, (2, 5, 3, 3)).astype(float)
    P[0], Q[0] = 0.0, 0.0
    prior_P, prior_Q = (
        np.array([[0, 0.5, 0.2], [0.3, 0, 0.1], [0.7, 0.8, 0]]),
        np.full((3, 3), 0.1),
    )
    prior_Q[0, 1] = prior_Q[1, 0] = 0.2
    counts_P, counts_Q = P.copy(), Q.copy()
    _counts.to_shares(P, Q, prior_P, prior_Q)
    for r, i, j in np.ndindex(P.shape):
        if i == j:
            assert (P[r, i, i], Q[r, i, i]) == (0, 1)
            continue
        below = counts_Q[r, max(i, j), min(i, j)]
        total = counts_P[r, i, j] + counts_P[r, j, i] + below
        expected = (counts_P[r, i, j] / total, below / total) if total else None
        expected = expected or (prior_P[i, j], prior_Q[max(i, j), min(i, j)])
        np.testing.assert_allclose((P[r, i, j], Q[r, i, j]), expected)
