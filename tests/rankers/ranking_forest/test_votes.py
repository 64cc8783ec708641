"""Pair probabilities from counted pairs and from the labels' own positions."""

import tracemalloc

import numpy as np
import pytest

from moreplr import RankingForest
from moreplr.base import CHUNK_BYTES
from moreplr.checks import make_rankings
from moreplr.rankers.ranking_forest import _marginals


def test_orders_are_those_of_independent_positions():
    rng = np.random.default_rng(0)
    positions = rng.random((2, 3, 5))
    positions[0, 2] = 0
    P = _marginals.orders(positions)
    for row in range(2):
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                a, b = positions[row, i], positions[row, j]
                joint = np.outer(a, b)
                expected = np.triu(joint, 1).sum() / joint.sum() if joint.any() else 0.0
                assert P[row, i, j] == pytest.approx(expected)


@pytest.mark.parametrize("positions", ["observed", "given"])
def test_a_gap_is_no_position_of_zero(positions):
    X = np.zeros((3, 1))
    Y = np.array([[0, 1, np.nan], [np.nan, 1, 0], [1, 0, 2]])
    ranker = RankingForest(5, positions=positions, random_state=0)
    from_zero, from_one = (ranker.fit(X, ranks).predict_pairs(X[:1]) for ranks in (Y, Y + 1))
    np.testing.assert_allclose(from_zero.P, from_one.P)
    assert 0 < from_one.P[0, 0, 1] < 1


def test_a_pair_without_any_word_gets_the_prior():
    zero = np.zeros((1, 2, 2))
    prior_P, prior_Q = np.array([[0.0, 0.5], [0.2, 0.0]]), np.full((2, 2), 0.3)
    P, Q = np.empty((2, 1, 2, 2))
    _marginals.mix(zero, zero, zero, prior_P, prior_Q, (1.0, 0.0), P, Q)
    assert (P[0, 0, 1], P[0, 1, 0], Q[0, 0, 1]) == (0.5, 0.2, 0.3)


def test_orders_and_the_prior_count_as_their_weights_say():
    P = np.array([[[0.0, 0.4], [0.1, 0.0]]])
    Q = np.array([[[0.0, 0.0], [0.3, 0.0]]])
    order = _marginals.orders(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    prior = np.full((2, 2), 1 / 3)
    mixed_P, mixed_Q = np.empty((2, 1, 2, 2))
    _marginals.mix(P, Q, order, prior, prior, (0.2, 0.1), mixed_P, mixed_Q)
    ties = (0.3 + 0.1 / 3) / 0.9
    assert mixed_P[0, 0, 1] == pytest.approx((0.4 + 0.2 * (1 - ties) + 0.1 / 3) / 1.1)
    assert mixed_Q[0, 0, 1] == pytest.approx(ties)


def test_positions_leave_the_share_of_ties_as_it_is():
    """Two labels that always tie have the same positions, at which independent ones seldom tie."""
    X, Y = np.zeros((40, 1)), np.repeat(np.arange(1.0, 5), 10)[:, None] + [0, 0, 0.5]
    for weight in (0.0, 100.0):
        forest = RankingForest(10, positions="given", marginal_weight=weight, random_state=0)
        assert forest.fit(X, Y).predict_pairs(X[:1]).Q[0, 0, 1] == pytest.approx(1.0)


def test_large_leaves_take_bounded_memory_however_many_rows_there_are():
    X, Y = make_rankings(n=1000, k=6)
    forest = RankingForest(10, min_samples=500, random_state=0).fit(X, Y)
    forest.predict(X[:10])  # loads the kernels
    rows = np.tile(X, (12, 1))
    wide = forest.oblique_.transform(X[:10])
    _, members, _ = forest.forests_[0].leaf_members(wide, min_samples=500)
    assert len(members) / 10 * len(rows) * 8 > CHUNK_BYTES  # those of all rows at once
    for predict in (forest.predict, chunk_by_chunk(forest)):
        tracemalloc.start()
        try:
            given = predict(rows)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < CHUNK_BYTES + (0 if given is None else given.nbytes)


def chunk_by_chunk(ranker):
    def predict(X):
        for _ in ranker.predict_pairs(X, chunks=True):
            pass

    return predict
