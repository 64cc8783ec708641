import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import save
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.metrics import tau_x_score
from moreplr.rivals import MallowsNeighborsRanker, PlackettLuceNeighborsRanker

BOTH = [MallowsNeighborsRanker, PlackettLuceNeighborsRanker]
RANKERS = [cls() for cls in BOTH]


@parametrize_with_checks(RANKERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check):
    check(ranker)


@pytest.mark.parametrize("cls", BOTH)
def test_three_neighbours_by_hand(cls):
    """Two say a > b > c, one c > a > b; the far one, which would tip it, is not a neighbour."""
    Y = [[1, 2, 3], [1, 2, 3], [2, 3, 1], [3, 2, 1]]
    ranker = cls(3).fit([[0.0], [0.1], [0.2], [9.0]], Y)
    # Borda: a 1 + 1 + 2 = 4, b 2 + 2 + 3 = 7, c 3 + 3 + 1 = 7
    expected = [1, 2, 2] if cls is MallowsNeighborsRanker else [1, 2, 3]
    np.testing.assert_array_equal(ranker.predict([[0.1]]), [expected])


@pytest.mark.parametrize("cls", BOTH)
def test_the_size_is_that_of_the_best_leave_one_out_score(cls):
    X, Y = make_rankings(n=18)
    ranker = cls().fit(X, Y)
    assert list(ranker.scores_) == [5, 10, 15]
    for size, score in ranker.scores_.items():
        taus = []
        for row in range(18):
            rest = np.arange(18) != row
            left = cls(size).fit(X[rest], Y[rest])
            taus.append(tau_x_score(Y[[row]], left.predict(X[[row]])))
        assert score == pytest.approx(np.mean(taus))
    assert ranker.scores_[ranker.n_neighbors_] == max(ranker.scores_.values())


@pytest.mark.parametrize("cls", BOTH)
def test_unanimous_neighbours_are_repeated_with_their_ties(cls):
    ranker = cls(5).fit(np.arange(5.0)[:, None], ["a ~ d > c > b"] * 5)
    assert ranker.predict_text([[1.0]]) == ["a ~ d > c > b"]


@pytest.mark.parametrize("cls", BOTH)
def test_weights_repeat_neighbours_and_zero_takes_them_away(cls):
    Y = [[1, 2, 3], [3, 1, 2], [2, 3, 1]]
    ranker = cls(2).fit(np.zeros((3, 1)), Y, sample_weight=[1, 5, 0])
    np.testing.assert_array_equal(ranker.predict([[0.0]]), [[3, 1, 2]])


def test_bad_parameters_are_named():
    X, Y = [[0.0], [1.0]], [[1, 2], [2, 1]]
    with pytest.raises(ValueError, match="n_neighbors must be an integer"):
        MallowsNeighborsRanker(0).fit(X, Y)
    with pytest.raises(ValueError, match="n_neighbors=3 is more than the 2 training rows"):
        PlackettLuceNeighborsRanker(3).fit(X, Y)
    with pytest.raises(ValueError, match="prior must be a finite number of at least 0"):
        PlackettLuceNeighborsRanker(1, prior=-1.0).fit(X, Y)


def test_saving_is_refused_by_name(tmp_path):
    ranker = MallowsNeighborsRanker(1).fit([[0.0], [1.0]], [[1, 2], [2, 1]])
    with pytest.raises(TypeError, match="MallowsNeighborsRanker, which can't be stored"):
        save(ranker, tmp_path / "model.moreplr")
