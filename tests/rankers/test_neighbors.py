import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import NearestNeighborsRanker
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.datasets import load
from moreplr.metrics import tau_x_score
from moreplr.rankers import _counts

NAN = float("nan")
RANKERS = [
    NearestNeighborsRanker(),
    NearestNeighborsRanker(5, weights="uniform", objective="l1"),
    NearestNeighborsRanker(3, metric="nan_euclidean", aggregation="local"),
]


@parametrize_with_checks(RANKERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check):
    check(ranker)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5))
def test_counting_kernel_equals_its_twin(seed, k):
    rng = np.random.default_rng(seed)
    Y = rng.integers(1, 4, size=(6, k)).astype(float)
    Y[rng.random(Y.shape) < 0.3] = NAN
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 5, size=3))])
    indices = rng.integers(0, 6, size=indptr[-1])
    weights = rng.random(indptr[-1])
    P, Q = np.zeros((3, k, k)), np.zeros((3, k, k))
    _counts.add_pairs(Y, indptr, indices, weights, P, Q)
    prior = np.full((k, k), 0.25)
    _counts.to_shares(P, Q, prior, 2 * prior)
    for r in range(3):
        part = slice(indptr[r], indptr[r + 1])
        members, w = Y[indices[part]], weights[part]
        for i, j in np.ndindex(k, k):
            before = w[members[:, i] < members[:, j]].sum()
            tied = w[members[:, i] == members[:, j]].sum()
            total = before + tied + w[members[:, i] > members[:, j]].sum()
            expected = (before / total, tied / total) if total else (0.25, 0.5)
            if i == j:
                expected = (0, 1)
            np.testing.assert_allclose((P[r, i, j], Q[r, i, j]), expected, atol=1e-12)


def brute_pairs(X, Y, x, size, by_distance):
    """Shares of the three relations over the nearest rows that rank both labels."""
    distance = np.sqrt(((X - x) ** 2).sum(axis=1))
    near = np.argsort(distance)[:size]
    weight = 1 / distance[near] if by_distance else np.ones(size)
    sign = np.sign(Y[near][:, :, None] - Y[near][:, None, :])
    total = (weight[:, None, None] * ~np.isnan(sign)).sum(axis=0)
    return [(weight[:, None, None] * (sign == s)).sum(axis=0) / total for s in (-1, 0)]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_pairs_are_those_of_the_neighbours(weights):
    X, Y = make_rankings(n=40)
    Y[::5, 1] = NAN
    ranker = NearestNeighborsRanker(7, weights=weights).fit(X, Y)
    new = make_rankings(n=10, seed=1)[0]
    P, Q = ranker.predict_pairs(new)
    for row, x in enumerate(new):
        before, tied = brute_pairs(X, Y, x, 7, weights == "distance")
        np.testing.assert_allclose(P[row], before, atol=1e-12)
        np.testing.assert_allclose(Q[row], tied, atol=1e-12)


def test_a_neighbour_at_distance_zero_decides_alone():
    ranker = NearestNeighborsRanker(3).fit([[0.0], [1.0], [1.1]], ["a > b", "b > a", "b > a"])
    assert ranker.predict_text([[0.0], [0.001], [0.9]]) == ["a > b", "a > b", "b > a"]


def test_pairs_that_no_neighbour_holds_come_from_all_rows():
    Y = [[1, 2, NAN], [1, 2, NAN], [2, NAN, 1], [NAN, 1, 2], [NAN, 1, 1]]
    ranker = NearestNeighborsRanker(1).fit([[0.0], [0.1], [5.0], [6.0], [7.0]], Y)
    P, Q = ranker.predict_pairs([[0.0]])
    assert (P[0, 0, 1], P[0, 2, 0]) == (1, 1)
    assert (P[0, 1, 2], P[0, 2, 1], Q[0, 1, 2]) == (0.5, 0, 0.5)


def test_rows_that_compare_nothing_are_no_neighbours():
    Y = [[NAN, 1.0], [1.0, 2.0], [2.0, 1.0]]
    ranker = NearestNeighborsRanker(1).fit([[0.0], [1.0], [9.0]], Y)
    np.testing.assert_array_equal(ranker.predict([[0.0]]), [[1, 2]])


def test_weights_are_shares_and_zero_is_absent():
    X, Y = np.zeros((3, 1)), [[1, 2], [2, 1], [1, 1]]
    ranker = NearestNeighborsRanker(2, weights="uniform").fit(X, Y, sample_weight=[1, 3, 0])
    P, Q = ranker.predict_pairs([[0.0]])
    assert (P[0, 0, 1], P[0, 1, 0], Q[0, 0, 1]) == (0.25, 0.75, 0)


class TestSize:
    @pytest.mark.parametrize("weights", ["uniform", "distance"])
    def test_scores_are_those_of_leaving_rows_out_one_by_one(self, weights):
        X, Y = make_rankings(n=30)
        ranker = NearestNeighborsRanker(weights=weights).fit(X, Y)
        assert list(ranker.scores_) == [1, 2, 3, 5, 8, 12, 18, 27]
        for size in (1, 5, 27):
            scores = []
            for row in range(30):
                rest = np.arange(30) != row
                left = NearestNeighborsRanker(size, weights=weights).fit(X[rest], Y[rest])
                scores.append(tau_x_score(Y[[row]], left.predict(X[[row]])))
            assert ranker.scores_[size] == pytest.approx(np.mean(scores))
        assert ranker.scores_[ranker.n_neighbors_] == max(ranker.scores_.values())

    def test_duplicates_are_not_the_row_itself(self):
        X = np.zeros((40, 1))
        Y = np.tile([[1.0, 2.0], [2.0, 1.0]], (20, 1))
        ranker = NearestNeighborsRanker().fit(X, Y)
        assert max(ranker.scores_.values()) < 0.5

    def test_noise_asks_for_more_neighbours_than_order(self):
        X, Y = make_rankings(n=200, k=3)
        clear = NearestNeighborsRanker().fit(X, Y).n_neighbors_
        noisy = np.random.default_rng(0).permuted(Y, axis=0)
        assert NearestNeighborsRanker().fit(X, noisy).n_neighbors_ > clear

    @pytest.mark.parametrize("size", [0, -1, 1.5, "5", True], ids=repr)
    def test_bad_sizes_are_named(self, size):
        with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1"):
            NearestNeighborsRanker(size).fit([[0.0], [1.0]], [[1, 2], [2, 1]])

    def test_more_than_there_are_rows(self):
        with pytest.raises(ValueError, match="n_neighbors=3 is more than the 2 training rows"):
            NearestNeighborsRanker(3).fit([[0.0], [1.0]], [[1, 2], [2, 1]])


@pytest.mark.parametrize("weights", ["near", None])
def test_bad_weights_are_named(weights):
    with pytest.raises(ValueError, match="weights must be one of"):
        NearestNeighborsRanker(weights=weights).fit([[0.0], [1.0]], [[1, 2], [2, 1]])


def test_a_metric_says_whether_features_may_be_missing():
    X, Y = make_rankings()
    X[::3, 0] = NAN
    assert NearestNeighborsRanker(metric="nan_euclidean").fit(X, Y).score(X, Y) > 0.5
    with pytest.raises(ValueError, match="NaN"):
        NearestNeighborsRanker().fit(X, Y)


def test_better_than_the_consensus_on_wine():
    X, Y = load("wine")
    X = ((X - X.mean()) / X.std()).to_numpy()
    ranker = NearestNeighborsRanker().fit(X[::2], Y[::2])
    assert ranker.score(X[1::2], Y[1::2]) > 0.75
