"""What the package shap says of our trees is what the trees say."""

import numpy as np
import pytest

from moreplr import RankingBoost, RankingTree
from moreplr.checks import make_rankings
from moreplr.explaining import to_shap
from moreplr.forest import ForestRegressor


@pytest.fixture(scope="module")
def rows():
    X, Y = make_rankings(120)
    X = X.round(2)
    X[::9, 0] = np.nan
    return X, Y


def walk(tree, x):
    """The value of the leaf that a row reaches, by the arrays that shap gets."""
    node = 0
    while tree["children_left"][node] >= 0:
        value = x[tree["feature"][node]]
        if np.isnan(value):
            node = tree["children_default"][node]
        else:
            left = value <= tree["threshold"][node]
            node = tree["children_left" if left else "children_right"][node]
    return tree["value"][node]


def models(X, Y):
    boost = RankingBoost(30, random_state=0).fit(X, Y)
    forest = ForestRegressor(7, random_state=0).fit(X, np.nan_to_num(Y))
    return (boost, boost.predict_scores), (forest, forest.predict)


def test_the_trees_say_what_the_model_predicts(rows):
    X, Y = rows
    for model, predict in models(X, Y):
        given = to_shap(model, X)
        sums = [given["base_offset"] + sum(walk(tree, x) for tree in given["trees"]) for x in X]
        np.testing.assert_allclose(sums, predict(X), atol=1e-6)


def test_as_many_rows_come_by_a_node_as_by_its_children(rows):
    X, Y = rows
    for tree in to_shap(models(X, Y)[0][0], X)["trees"]:
        count, left = tree["node_sample_weight"], tree["children_left"]
        inner = left >= 0
        assert count[0] == len(X)
        children = count[left[inner]] + count[tree["children_right"][inner]]
        np.testing.assert_allclose(count[inner], children, atol=1e-4)


def test_contributions_of_shap_add_up_to_the_prediction(rows):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, Y = rows
    for model, predict in models(X, Y):
        for data in (X[:50], None):
            mode = "tree_path_dependent" if data is None else "interventional"
            explainer = shap.TreeExplainer(to_shap(model, X), data, feature_perturbation=mode)
            found = explainer.shap_values(X, check_additivity=False)
            total = found.sum(axis=1) + explainer.expected_value
            np.testing.assert_allclose(total, predict(X), atol=1e-5)


def test_other_models_say_what_to_do(rows):
    tree = RankingTree().fit(*rows)
    with pytest.raises(TypeError, match=r"got RankingTree; explain others by reasons\(\)"):
        to_shap(tree, rows[0])
