import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import DummyRanker, RankingTree
from moreplr.base import BaseRanker
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.rivals import BoostLR, LabelRankingTree
from moreplr.rivals.boosting import row_losses

SMALL = BoostLR(n_estimators=5, random_state=0)


@parametrize_with_checks([SMALL])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(check):
    check(SMALL)


class Scripted(BaseRanker):
    """Predicts what a list says, another array in each round, and keeps what it was fitted on."""

    script = ()
    seen = ()

    def fit(self, X, y):
        self._check_fit(X, y)
        self.seen.append(np.asarray(X)[:, 0])
        self.predicted_ = self.script[len(self.seen) - 1]
        return self

    def predict(self, X):
        return self.predicted_[np.asarray(X)[:, 0].astype(int)]


AB, BA = [1.0, 2.0], [2.0, 1.0]


def boost(script, rounds):
    """Boost over four rows a > b."""
    Scripted.script, Scripted.seen = [np.array(each) for each in script], []
    X, Y = np.arange(4.0)[:, None], np.array([AB] * 4)
    return BoostLR(Scripted(), n_estimators=rounds, random_state=0).fit(X, Y)


def test_rounds_by_hand():
    # Round 1 is wrong on row 3: L = ¼, β = ⅓, weights ⅓, ⅓, ⅓, 1, so shares ⅙, ⅙, ⅙, ½.
    # Round 2 is wrong on row 0: L = ⅙, β = ⅕.
    ranker = boost([[AB, AB, AB, BA], [BA, AB, AB, AB]], 2)
    np.testing.assert_allclose(ranker.losses_, [1 / 4, 1 / 6])
    np.testing.assert_allclose(ranker.estimator_weights_, [np.log(3), np.log(5)])
    # the second has the greater weight where they differ
    np.testing.assert_array_equal(ranker.predict(np.arange(4.0)[:, None]), [BA, AB, AB, AB])


def test_hard_rows_are_drawn_more_often():
    wrong_on_3 = [AB, AB, AB, BA]
    ranker = boost([wrong_on_3] * 40, 1)
    rng = np.random.default_rng(0)
    draws = []
    for seed in rng.integers(0, 2**31, 300):
        Scripted.seen = []
        ranker.set_params(n_estimators=2, random_state=int(seed))
        ranker.fit(np.arange(4.0)[:, None], np.array([AB] * 4))
        draws.append(np.mean(Scripted.seen[1] == 3))
    assert np.mean(draws) == pytest.approx(0.5, abs=0.06)


def test_a_round_that_is_no_better_than_chance_ends_it():
    ranker = boost([[AB, AB, AB, BA], [BA, BA, BA, BA], [AB] * 4], 3)
    np.testing.assert_allclose(ranker.losses_, [1 / 4])
    assert len(boost([[BA] * 4, [AB] * 4], 2).estimators_) == 1


def test_a_round_without_loss_predicts_alone():
    ranker = boost([[AB, AB, AB, BA], [AB] * 4, [BA] * 4], 3)
    assert ranker.losses_.tolist() == [0]
    np.testing.assert_array_equal(ranker.predict([[3.0]]), [AB])


def test_losses_count_ties_half_and_ranked_labels_only():
    Y = np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])
    np.testing.assert_allclose(row_losses(Y, np.array([[1.0, 1.0, 1.0]] * 2)), [0.5, 0.5])


def test_many_rounds_fit_better_than_one_tree():
    X, Y = make_rankings(n=120)
    Y = np.argsort(np.argsort(Y, axis=1), axis=1) + 1.0  # no ties: sums of votes have few
    assert BoostLR(n_estimators=20, random_state=0).fit(X, Y).score(X, Y) > (
        LabelRankingTree().fit(X, Y).score(X, Y) + 0.02
    )


def test_other_rankers_boost_too():
    X, Y = make_rankings(n=60)
    for weak in (RankingTree(max_depth=2), DummyRanker()):
        ranker = BoostLR(weak, n_estimators=3, random_state=0).fit(X, Y)
        assert ranker.predict(X).shape == Y.shape
        assert weak.random_state is None
