"""How base models of all regressors are made and fitted."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from moreplr.forest import ForestRegressor
from moreplr.regressors._fitting import (
    base_or_forest,
    column_means,
    fit_target,
    fit_weighted,
    folds,
    labels_named,
    show_labels,
    warn_unobserved,
)

NAN = np.nan
X = np.arange(6.0)[:, None]
WEIGHT = np.array([1.0, 2, 3, 1, 2, 3])


def test_without_a_base_there_is_a_forest():
    forest = base_or_forest(None, random_state=3, n_jobs=2)
    assert isinstance(forest, ForestRegressor)
    assert (forest.random_state, forest.n_jobs, forest.n_estimators) == (3, 2, 100)


def test_a_base_is_copied_and_gets_the_seed_if_it_takes_one():
    tree, line = DecisionTreeRegressor(max_depth=2), LinearRegression()
    mine = base_or_forest(tree, random_state=3)
    assert (mine.max_depth, mine.random_state, tree.random_state) == (2, 3, None)
    assert base_or_forest(line, random_state=3) is not line
    kept = base_or_forest(DecisionTreeRegressor(random_state=7), random_state=None)
    assert kept.random_state == 7


def test_only_rows_with_the_target_are_learned_from():
    y = np.array([0.0, 1, NAN, 3, NAN, 5])
    seen = ~np.isnan(y)
    alone = Ridge().fit(X[seen], y[seen], WEIGHT[seen])
    np.testing.assert_allclose(fit_target(Ridge(), X, y, WEIGHT, 9.0).predict(X), alone.predict(X))


def test_a_target_that_no_row_has_is_the_default():
    model = fit_target(Ridge(), X, np.full(6, NAN), WEIGHT, 4.5)
    assert isinstance(model, DummyRegressor)
    assert (model.predict(X) == 4.5).all()


def test_weights_that_a_base_does_not_take_are_refused():
    with pytest.raises(TypeError, match="KNeighborsRegressor does not take sample weights"):
        fit_weighted(KNeighborsRegressor(1), X, X[:, 0], WEIGHT)
    fit_weighted(KNeighborsRegressor(1), X, X[:, 0], None)


@pytest.mark.parametrize("base", [SVR(), make_pipeline(StandardScaler(), SVR())])
def test_what_can_be_interrupted_fits_the_same(base):
    expected = base.fit(X, X[:, 0]).predict(X)
    np.testing.assert_array_equal(fit_weighted(base, X, X[:, 0], None).predict(X), expected)


def test_labels_that_no_row_ranks_are_named_as_the_user_does():
    Y = np.array([[1.0, NAN, NAN], [2.0, NAN, NAN]])
    with pytest.warns(UserWarning, match="no training row ranks target 1, 2 "):
        assert warn_unobserved(Y) == 1.5
    with labels_named(["tea", "milk", "oil"]):
        with pytest.warns(UserWarning, match="no training row ranks 'milk', 'oil';"):
            warn_unobserved(Y)
        with labels_named(["a", "b"]):
            assert show_labels([1]) == "'b'"
        assert show_labels([1]) == "'milk'"
    assert show_labels([1]) == "target 1 (counted from 0)"


def test_folds_hold_out_each_row_once_and_shuffle():
    for cv, n in ((3, 3), (100, 6), (np.int64(2), 2)):
        parts = folds(cv, X, 0)
        assert len(parts) == n
        held_out = np.concatenate([test for _, test in parts])
        assert sorted(held_out) == list(range(6))
    assert any(np.diff(test).max() > 1 for _, test in folds(2, X, 0))
    assert [t.tolist() for _, t in folds(KFold(2), X, 0)] == [[0, 1, 2], [3, 4, 5]]


def test_one_fold_is_none():
    with pytest.raises(ValueError, match="cv must be at least 2, got 1"):
        folds(1, X, 0)
    with pytest.raises(ValueError, match="groups"):
        folds(GroupKFold(2), X, 0)


def test_means_are_over_the_rows_that_have_a_target():
    Y = np.array([[1.0, NAN, NAN], [3.0, 5.0, NAN]])
    np.testing.assert_allclose(column_means(Y), [2, 5, 3])
    np.testing.assert_allclose(column_means(Y, np.array([3.0, 1.0])), [1.5, 5, 3])
