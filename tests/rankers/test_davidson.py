"""The kernels against finite differences, and against sums over all pairs."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from moreplr.rankers._davidson import add_gradients, information, probabilities, total_loss


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    n, k = 5, 4
    scores = rng.normal(size=(n, 2 * k)) * 2
    ranks = rng.integers(-1, 4, size=(n, k))
    return scores, ranks, rng.random(n) + 0.5


def three(scores, k, i, j):
    p = np.exp(
        [
            scores[i],
            scores[j],
            (scores[i] + scores[j]) / 2 + scores[k + i] + scores[k + j],
        ]
    )
    return p / p.sum()


def test_probabilities(data):
    scores, ranks, _ = data
    n, k = ranks.shape
    P, Q = np.empty((n, k, k)), np.empty((n, k, k))
    probabilities(scores, P, Q)
    for r in range(n):
        for i in range(k):
            for j in range(k):
                expected = three(scores[r], k, i, j) if i != j else (0, 0, 1)
                np.testing.assert_allclose((P[r, i, j], P[r, j, i], Q[r, i, j]), expected)


def test_loss_and_derivatives(data):
    scores, ranks, weights = data
    n, k = ranks.shape
    rows = np.arange(n)
    G, H = np.full((2, n, 2 * k), np.nan)
    add_gradients(rows, scores, ranks, weights, G, H)
    expected = 0.0
    for r in range(n):
        for i in range(k):
            for j in range(i):
                if min(ranks[r, i], ranks[r, j]) >= 0:
                    seen = 0 if ranks[r, i] < ranks[r, j] else 1
                    seen = 2 if ranks[r, i] == ranks[r, j] else seen
                    expected -= weights[r] * np.log(three(scores[r], k, i, j)[seen])
    assert total_loss(rows, scores, ranks, weights) == pytest.approx(expected)

    def loss(flat):
        return total_loss(rows, flat.reshape(scores.shape), ranks, weights)

    def slope(flat):
        out, unused = np.empty((2, n, 2 * k))
        add_gradients(rows, flat.reshape(scores.shape), ranks, weights, out, unused)
        return out.ravel()

    np.testing.assert_allclose(approx_fprime(scores.ravel(), loss, 1e-7), G.ravel(), atol=1e-5)
    full = approx_fprime(scores.ravel(), slope, 1e-6).reshape(n, 2 * k, n, 2 * k)
    for r in range(n):
        np.testing.assert_allclose(np.diag(full[r, :, r]), H[r], atol=1e-4)
    by_scores, by_ties, mixed = np.full((3, n, k, k), np.nan)
    information(scores, ranks, weights, by_scores, by_ties, mixed)
    for r in range(n):
        np.testing.assert_allclose(full[r, :k, r, :k], by_scores[r], atol=1e-4)
        np.testing.assert_allclose(full[r, k:, r, k:], by_ties[r], atol=1e-4)
        np.testing.assert_allclose(full[r, :k, r, k:], mixed[r], atol=1e-4)


def test_far_apart_scores_stay_finite():
    scores = np.array([[1e9, -1e9, 0.0, 1e9, -1e9, 0.0]])
    ranks = np.array([[1, 0, 2]])
    G, H = np.empty((2, 1, 6))
    add_gradients(np.arange(1), scores, ranks, np.ones(1), G, H)
    assert np.isfinite(G).all()
    assert np.isfinite(H).all()
    assert np.isfinite(total_loss(np.arange(1), scores, ranks, np.ones(1)))


def test_many_unlikely_pairs_do_not_overflow():
    k = 300
    scores = np.concatenate([np.linspace(0, 50, k), np.full(k, -20.0)])[None]
    ranks = np.arange(k)[None]
    P, Q = np.empty((2, 1, k, k))
    probabilities(scores, P, Q)
    expected = -np.log(P[0][np.triu_indices(k, 1)]).sum()
    assert total_loss(np.arange(1), scores, ranks, np.ones(1)) == pytest.approx(expected)
