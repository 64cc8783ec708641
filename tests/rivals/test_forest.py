import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.forest.growing import counts_of
from moreplr.rankings import dense_ranks
from moreplr.rivals import LabelRankingForest
from moreplr.rivals.borda import consensus, expected_positions
from moreplr.rivals.forest import top_shares

NAN = float("nan")
SMALL = LabelRankingForest(10, random_state=0)


@parametrize_with_checks([SMALL])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(check):
    check(SMALL)


def test_two_steps_of_aggregation_by_brute_force():
    X, Y = make_rankings(n=50)
    Y[::3, 1] = NAN
    ranker = LabelRankingForest(5, min_samples_leaf=4, random_state=0).fit(X, Y)
    new = make_rankings(n=20, seed=1)[0]
    forest = ranker.forest_
    drawn = [np.repeat(np.arange(50), counts_of(seed, 50, 50)) for seed in forest.seeds_]
    leaves, reached = forest.apply(X), forest.apply(new)
    for row in range(20):
        votes = []
        for tree in range(5):
            members = drawn[tree][leaves[drawn[tree], tree] == reached[row, tree]]
            votes.append(consensus(expected_positions(Y[members])))
        expected = consensus(expected_positions(np.array(votes)))
        np.testing.assert_array_equal(ranker.predict(new[[row]])[0], expected)


def test_a_single_leaf_by_hand():
    """Without splits every tree holds its bootstrap's Borda ranking of all rows."""
    X = np.zeros((3, 1))
    Y = np.array([[1.0, 2.0, 3.0]] * 3)
    ranker = LabelRankingForest(4, random_state=0).fit(X, Y)
    for positions in ranker.positions_:
        np.testing.assert_array_equal(positions, [[1, 2, 3]])
    # weights: the second ranking counts for all
    Y = np.array([[1.0, 2.0, 3.0], [3.0, NAN, 1.0], [1.0, 2.0, 3.0]])
    weighted = LabelRankingForest(4, random_state=0).fit(X, Y, sample_weight=[0, 1, 0])
    np.testing.assert_array_equal(weighted.predict(X[:1]), [[3, 2, 1]])


def test_leaves_are_those_of_the_top_labels():
    """Rankings below the top play no part in the splits."""
    X, Y = make_rankings(n=80)
    Y = np.array([np.argsort(np.argsort(row)) + 1.0 for row in Y])
    top = Y == 1
    shuffled = np.where(top, 1.0, 6 - Y)
    one, other = (LabelRankingForest(3, random_state=0).fit(X, each) for each in (Y, shuffled))
    np.testing.assert_array_equal(one.forest_.apply(X), other.forest_.apply(X))
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_the_impurity_is_ginis():
    X, Y = make_rankings(n=80)
    Y = np.array([np.argsort(np.argsort(row)) + 1.0 for row in Y])
    ours = LabelRankingForest(1, max_depth=2, max_features=None, random_state=0).fit(X, Y)
    theirs = RandomForestClassifier(1, max_depth=1, max_features=None, bootstrap=False)
    forest = ours.forest_.set_params(bootstrap=False, max_depth=1).fit(X, top_shares(Y))
    tree = theirs.fit(X, Y.argmin(axis=1)).estimators_[0].tree_
    same = forest.apply(X)[:, 0] == forest.apply(X)[0, 0]
    left = X[:, tree.feature[0]] <= tree.threshold[0]
    np.testing.assert_array_equal(same, left == left[0])


def test_tied_top_labels_share_a_row():
    shares = top_shares(np.array([[1.0, 1.0, NAN], [NAN, 5.0, 3.0]]))
    np.testing.assert_array_equal(shares, [[0.5, 0.5, 0], [0, 0, 1]])
    ties = dense_ranks(np.ones((12, 3)))
    ranker = LabelRankingForest(3, random_state=0).fit(np.arange(12.0)[:, None], ties)
    np.testing.assert_array_equal(ranker.predict([[5.0]]), [[1, 1, 1]])
