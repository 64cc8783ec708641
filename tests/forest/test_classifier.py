"""The classifier as a user sees it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from moreplr.forest import ForestClassifier


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def test_it_is_as_accurate_as_scikit_learn(iris):
    X, y = iris
    ours = ForestClassifier(50, random_state=0).fit(X[:100], y[:100]).score(X[100:], y[100:])
    theirs = RandomForestClassifier(50, random_state=0).fit(X[:100], y[:100])
    assert ours >= theirs.score(X[100:], y[100:]) - 0.04


def test_shares_add_up_and_follow_the_classes(iris):
    X, y = iris
    names = np.array(["b", "c", "a"])[y]
    forest = ForestClassifier(20, random_state=0).fit(X, names)
    shares = forest.predict_proba(X)
    assert forest.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[shares.argmax(axis=1)])


def test_out_of_bag_shares_estimate_the_accuracy_on_new_rows(iris):
    X, y = iris
    forest = ForestClassifier(60, random_state=0).fit(X, y)
    shares = forest.oob_decision_function_
    assert shares.shape == (150, 3)
    assert 0.88 < (shares.argmax(axis=1) == y).mean() < 0.99


def test_a_weight_can_outvote_the_majority():
    X = np.zeros((5, 1))
    y = np.array([0, 0, 0, 0, 1])
    plain = ForestClassifier(3, bootstrap=False).fit(X, y)
    weighted = ForestClassifier(3, bootstrap=False).fit(X, y, sample_weight=[1, 1, 1, 1, 9])
    assert plain.predict([[0]]) == 0
    assert weighted.predict([[0]]) == 1
    np.testing.assert_allclose(weighted.predict_proba([[0]]), [[4 / 13, 9 / 13]], rtol=1e-6)


def test_importances_find_the_feature_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    forest = ForestClassifier(20, random_state=0).fit(X, X[:, 2] > 0)
    assert forest.feature_importances_.argmax() == 2
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("classes", [[1, 2, 99], ["a", "b", "c"]])
def test_masked_classes_are_refused(classes):
    y = np.ma.array(classes, mask=[False, False, True])
    with pytest.raises(ValueError, match="masked"):
        ForestClassifier(2).fit([[1.0], [2.0], [3.0]], y)
