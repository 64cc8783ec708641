from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import DummyRanker, RankingTree
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.incomplete import remove_labels
from moreplr.rankers.tree import signs_and_ties

NAN = float("nan")
RANKERS = [
    RankingTree(),
    RankingTree(max_depth=4, min_samples_leaf=1, objective="l1"),
    RankingTree(10, max_features="sqrt", aggregation="local", random_state=0),
]


@parametrize_with_checks(RANKERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check):
    check(ranker)


def disagreement(Y):
    """Kemeny–Snell distance of two rows drawn at random, over the pairs that both rank."""
    total = 0.0
    for i, j in combinations(range(Y.shape[1]), 2):
        sign = np.sign(Y[:, i] - Y[:, j])
        sign = sign[~np.isnan(sign)]
        if len(sign):
            total += np.abs(sign[:, None] - sign).mean()
    return total


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_squared_error_of_the_targets_is_the_disagreement(seed):
    rng = np.random.default_rng(seed)
    Y = rng.integers(1, 4, size=(6, 4)).astype(float)
    Y[1:][rng.random((5, 4)) < 0.3] = NAN
    assert np.nanvar(signs_and_ties(Y), axis=0).sum() == pytest.approx(disagreement(Y))


def test_the_first_split_leaves_the_least_disagreement():
    X, Y = make_rankings(n=40)
    tree = RankingTree(max_depth=1, min_samples_leaf=1).fit(X, Y)
    left = tree.forest_.apply(X)[:, 0] == tree.forest_.apply(X).min()

    def weighted(side):
        return side.sum() * disagreement(Y[side]) + (~side).sum() * disagreement(Y[~side])

    splits = [x <= cut for x in X.T for cut in np.sort(x)[:-1]]
    assert weighted(left) == pytest.approx(min(map(weighted, splits)), rel=1e-5)


@pytest.mark.parametrize("missing", [0, 0.3])
def test_leaves_hold_the_shares_of_their_rankings(missing):
    X, Y = make_rankings(n=80)
    Y = remove_labels(Y, missing, random_state=1)
    keep = ~np.isnan(Y).all(axis=1)
    X, Y = X[keep], Y[keep]
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    tree = RankingTree(max_depth=2, min_samples_leaf=15).fit(X, Y, weight)
    P, Q = tree.predict_pairs(X)
    leaves = tree.forest_.apply(X)[:, 0]
    assert len(np.unique(leaves)) > 2
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        expected = DummyRanker().fit(X[rows], Y[rows], weight[rows]).predict_pairs(X[rows])
        np.testing.assert_allclose(P[rows], expected.P, atol=1e-6)
        np.testing.assert_allclose(Q[rows], expected.Q, atol=1e-6)


def test_an_ancestor_answers_for_a_pair_that_a_leaf_lacks():
    X = np.arange(12.0)[:, None]
    Y = np.tile([1.0, 2.0, 3.0], (12, 1))
    Y[6:] = [3.0, NAN, 1.0]
    P, _ = RankingTree(min_samples_leaf=3).fit(X, Y).predict_pairs([[11.0]])
    assert P[0, 2, 0] == 1
    assert P[0, 0, 1] == 1


def test_bagging_averages_the_shares_of_its_trees():
    X, Y = make_rankings(n=60)
    bagged = RankingTree(20, random_state=0).fit(X, Y)
    assert bagged.forest_.trees_.n_trees == 20
    P, _ = bagged.predict_pairs(X)
    assert len(np.unique(P.round(4))) > 10
    single, _ = RankingTree(min_samples_leaf=1).fit(X, Y).predict_pairs(X)
    assert set(np.unique(single)) <= {0.0, 0.5, 1.0}


def test_bagging_generalises_better_than_a_tree():
    X, Y = make_rankings(n=400)
    tree = RankingTree().fit(X[:200], Y[:200]).score(X[200:], Y[200:])
    bagged = RankingTree(30, random_state=0).fit(X[:200], Y[:200]).score(X[200:], Y[200:])
    assert bagged > tree > 0.5


def test_threads_change_nothing():
    X, Y = make_rankings()
    one, two = (RankingTree(8, n_jobs=jobs, random_state=0).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.predict_pairs(X).P, two.predict_pairs(X).P)


def test_zero_weight_is_absent_and_weight_moves_the_prediction():
    X = np.zeros((10, 1))
    Y = np.tile([[1.0, 2.0], [2.0, 1.0]], (5, 1))
    for favoured, expected in ((0, [[1, 2]]), (1, [[2, 1]])):
        for others in (0.0, 1.0):
            weight = np.where(np.arange(10) % 2 == favoured, 9.0, others)
            tree = RankingTree().fit(X, Y, sample_weight=weight)
            np.testing.assert_array_equal(tree.predict(X[:1]), expected)


def test_missing_features_find_their_side():
    X, Y = make_rankings(n=200)
    X[:, 1:] = 0
    X[X[:, 0] > 0.8] = NAN
    assert RankingTree().fit(X, Y).score(X, Y) > DummyRanker().fit(X, Y).score(X, Y) + 0.1


def test_importances_find_the_feature_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Y = np.where(X[:, 1:2] > 0, [[1.0, 2.0, 2.0]], [[2.0, 1.0, 1.0]])
    np.testing.assert_allclose(RankingTree().fit(X, Y).feature_importances_, [0, 1, 0])


@pytest.mark.parametrize(
    "bad",
    [{"n_estimators": 0}, {"max_depth": 0}, {"min_samples_leaf": 0}, {"max_features": "all"}],
    ids=str,
)
def test_bad_parameters_are_named(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        RankingTree(**bad).fit([[0.0], [1.0]], [[1, 2], [2, 1]])
