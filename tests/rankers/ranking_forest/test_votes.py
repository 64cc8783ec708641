"""Pair probabilities from counted pairs and from the labels' own positions."""

import tracemalloc

import numpy as np
import pytest

from moreplr import RankingForest
from moreplr.base import CHUNK_BYTES
from moreplr.checks import make_rankings
from moreplr.rankers.ranking_forest import _marginals, _votes
from moreplr.rankers.ranking_forest.votes import Leaves


def counted(leaves, label, members):
    """The votes of a row's members by comparing one pair of one member after the other."""
    k, n_places = len(leaves.places), leaves.places.max() + 1
    before, tied, after = np.zeros((3, k, k))
    positions = np.zeros((k, n_places))
    for number, weight in members:
        ranks, places = leaves.codes[number], leaves.places[:, number]
        for i in range(k) if label is None else [label]:
            if places[i] >= 0:
                positions[i, places[i]] += weight
            for j in range(i) if label is None else range(k):
                if min(ranks[i], ranks[j]) >= 0:
                    before[i, j] += weight * (ranks[i] < ranks[j])
                    tied[i, j] += weight * (ranks[i] == ranks[j])
                    after[i, j] += weight * (ranks[i] > ranks[j])
    return before, tied, after, positions


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("label", [None, 0, 17])
def test_votes_are_those_of_single_members(label, gaps):
    rng = np.random.default_rng(0)
    rankings = rng.integers(1, 9, (30, 18)).astype(float)
    rankings[rng.random(rankings.shape) < 0.4 * gaps] = np.nan
    places = np.where(np.isnan(rankings), -1, rankings - 1).astype(np.int16)
    leaves = Leaves.of([], rankings, places, None, (0, 0), 1)
    indptr = np.array([0, 7, 7, 12])
    indices, weights = rng.permutation(30)[:12].astype(np.int32), rng.random(12, np.float32) / 12
    counts = np.zeros((3, 3, 18, 18), np.uint32), np.zeros((3, 18, 8), np.uint32)
    part = (0, 18) if label is None else (label, label + 1)
    _votes.add_votes(
        leaves.codes,
        leaves.places,
        not gaps,
        *part,
        indptr,
        indices,
        weights,
        *counts[0],
        counts[1],
    )
    for row in range(3):
        mine = slice(indptr[row], indptr[row + 1])
        want = counted(leaves, label, list(zip(indices[mine], weights[mine], strict=True)))
        for given, twin in zip([*counts[0][:, row], counts[1][row]], want, strict=True):
            np.testing.assert_allclose(given / _votes.UNIT, twin, atol=1e-8)


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
    _marginals.mix(zero, zero, zero, 1.0, zero, prior_P, prior_Q, (1.0, 0.0), P, Q)
    assert (P[0, 0, 1], P[0, 1, 0], Q[0, 0, 1]) == (0.5, 0.2, 0.3)


def test_orders_and_the_prior_count_as_their_weights_say():
    P = np.array([[[0.0, 0.4], [0.1, 0.0]]])
    Q = np.array([[[0.0, 0.0], [0.3, 0.0]]])
    order = _marginals.orders(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    prior = np.full((2, 2), 1 / 3)
    mixed_P, mixed_Q = np.empty((2, 1, 2, 2))
    _marginals.mix(P, Q, np.zeros_like(P), 1.0, order, prior, prior, (0.2, 0.1), mixed_P, mixed_Q)
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
