import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.rivals import LabelRankingTree
from moreplr.rivals.mallows import distance, expected_distance, fit_centre
from moreplr.rivals.tree import best_split, node_spread

NAN = float("nan")


@parametrize_with_checks([LabelRankingTree()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(check):
    check(LabelRankingTree())


def brute_split(X, Y, weight):
    """The goodness of every cut, each side's model fitted anew."""
    found = []
    for feature in range(X.shape[1]):
        for value in np.unique(X[:, feature])[:-1]:
            left = X[:, feature] <= value
            goodness = 0.0
            for side in (left, ~left):
                centre = fit_centre(Y[side], weight[side]).ranks
                total = weight[side] @ distance(Y[side], centre)
                rows = weight[side].sum()
                goodness += rows * node_spread(total, rows, Y.shape[1])
            found.append((goodness / weight.sum(), feature, value))
    return max(found, key=lambda cut: cut[0])


@pytest.mark.parametrize("seed", range(5))
def test_the_best_split_is_that_of_all_cuts(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(25, 2)).astype(float)
    _, Y = make_rankings(n=25, seed=seed)
    weight = rng.integers(1, 4, size=25).astype(float)
    goodness, feature, value = brute_split(X, Y, weight)
    found = best_split(X, fit_centre(Y).completed, weight)
    assert found.goodness == pytest.approx(goodness)
    assert found.feature == feature
    above = X[:, feature][X[:, feature] > value].min()
    assert value <= found.threshold < above


def test_a_split_by_hand():
    """Four rows a > b, then four b > a, one of them the other way round.

    For two labels θ = log((1 − d)/d) where d is the share of rankings unlike the centre: of the
    left side d = ½ / 4, as no pair is discordant, of the right one ¼.
    """
    Y = np.array([[1.0, 2.0]] * 4 + [[2.0, 1.0]] * 3 + [[1.0, 2.0]])
    X = np.array([0.0] * 4 + [1.0] * 4)[:, None]
    found = best_split(X, Y, np.ones(8))
    assert found.threshold == 0.5
    assert found.goodness == pytest.approx((np.log(7) + np.log(3)) / 2, rel=1e-3)
    tree = LabelRankingTree().fit(X, Y).tree_
    assert tree.feature.tolist() == [0, -1, -1]
    np.testing.assert_array_equal(tree.centre, [[1, 2], [1, 2], [2, 1]])
    np.testing.assert_allclose(expected_distance(tree.spread, 2), [3 / 8, 1 / 8, 1 / 4])


def test_nodes_that_are_small_or_deep_or_pure_are_leaves():
    X, Y = make_rankings(n=60)
    root = LabelRankingTree(max_depth=0).fit(X, Y)
    assert len(root.tree_.feature) == 1
    np.testing.assert_array_equal(root.predict(X[:1]), fit_centre(Y).ranks[None])
    assert len(LabelRankingTree(min_samples_split=61).fit(X, Y).tree_.feature) == 1
    assert len(LabelRankingTree().fit(X, np.tile(Y[:1], (60, 1))).tree_.feature) == 1
    deep = LabelRankingTree(min_samples_split=2).fit(X, Y)
    assert deep.score(X, Y) > LabelRankingTree().fit(X, Y).score(X, Y) > root.score(X, Y)


def test_leaves_predict_the_models_of_their_own_rows():
    X, Y = make_rankings(n=60)
    Y[::4, 1] = NAN
    ranker = LabelRankingTree().fit(X, Y)
    leaf = ranker.apply(X)
    assert len(np.unique(leaf)) > 2
    for number in np.unique(leaf):
        centre = fit_centre(Y[leaf == number]).ranks
        np.testing.assert_array_equal(ranker.tree_.centre[number], centre)


def test_weights_decide_and_zero_is_absent():
    X, Y = make_rankings(n=40)
    weight = np.arange(40) % 3
    one_leaf = LabelRankingTree(max_depth=0).fit(X, Y, sample_weight=weight)
    centre = fit_centre(np.repeat(Y, weight, axis=0)).ranks
    np.testing.assert_array_equal(one_leaf.predict(X[:1]), centre[None])
    kept = (weight > 0).astype(float)
    some = LabelRankingTree().fit(X[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(
        LabelRankingTree().fit(X, Y, sample_weight=kept).predict(X), some.predict(X)
    )


@pytest.mark.parametrize("name", ["max_depth", "min_samples_split"])
def test_bad_parameters_are_named(name):
    with pytest.raises(ValueError, match=f"{name} must be an integer"):
        LabelRankingTree(**{name: -1}).fit([[0.0], [1.0]], [[1, 2], [2, 1]])
