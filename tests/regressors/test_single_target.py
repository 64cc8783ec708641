import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from moreplr.forest import ForestRegressor
from moreplr.regressors import SingleTarget

NAN = float("nan")


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 4))
    Y = np.column_stack([X[:, 0] + X[:, 1], np.sin(3 * X[:, 2]), X[:, 3] ** 2])
    return X, Y + rng.normal(size=Y.shape) * 0.1


def test_each_label_learns_from_the_rows_that_rank_it():
    X, Y = data()
    Y[::2, 0] = Y[1::3, 2] = NAN
    fitted = SingleTarget(RandomForestRegressor(5, random_state=0)).fit(X, Y)
    for label, model in enumerate(fitted.estimators_):
        rows = ~np.isnan(Y[:, label])
        alone = RandomForestRegressor(5, random_state=0).fit(X[rows], Y[rows, label])
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_own_forests_fitted_at_once_are_as_good_as_one_after_the_other(missing):
    X, Y = data()
    X_new, truth = data(seed=1)
    Y[np.random.default_rng(2).random(Y.shape) < missing] = NAN
    at_once = SingleTarget(random_state=0).fit(X, Y).predict(X_new)
    errors = [np.mean((at_once - truth) ** 2, axis=0)]
    alone = [
        ForestRegressor(random_state=0).fit(X[rows], y[rows]).predict(X_new)
        for y in Y.T
        if (rows := ~np.isnan(y)) is not None
    ]
    errors.append(np.mean((np.column_stack(alone) - truth) ** 2, axis=0))
    np.testing.assert_allclose(*errors, rtol=0.15)


def test_own_forests_with_weights_heed_them():
    X, Y = data()
    weight = np.where(X[:, 0] > 0, 1.0, 0.0)
    weighted = SingleTarget(random_state=0).fit(X, Y, weight).predict(X)
    kept = SingleTarget(random_state=0).fit(X[weight > 0], Y[weight > 0]).predict(X)
    plain = SingleTarget(random_state=0).fit(X, Y).predict(X)
    assert np.abs(weighted - kept).mean() < np.abs(weighted - plain).mean() / 2


def test_own_forests_give_intervals():
    X, Y = data()
    fitted = SingleTarget(random_state=0).fit(X, Y)
    mean, half = fitted.predict_interval(X)
    np.testing.assert_allclose(mean, fitted.predict(X), atol=1e-6)
    assert half.shape == Y.shape
    assert (half >= 0).all()


def test_refitting_with_another_base_forgets_the_first():
    X, Y = data()
    model = SingleTarget(random_state=0).fit(X, Y)
    model.set_params(base=RandomForestRegressor(2, random_state=0)).fit(X, Y)
    np.testing.assert_array_equal(
        model.predict(X),
        SingleTarget(RandomForestRegressor(2, random_state=0)).fit(X, Y).predict(X),
    )
