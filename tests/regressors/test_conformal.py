import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from moreplr.regressors import Conformal, SingleTarget

NAN = float("nan")


def noisy(n, seed, missing=0.0):
    """Two labels with noise of different size: the truth about coverage is known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Y = X @ [[1.0, 2.0], [0.0, -1.0]] + rng.normal(size=(n, 2)) * [0.5, 2.0]
    Y[rng.random(Y.shape) < missing] = NAN
    return X, Y


def linear(**kwargs):
    return Conformal(SingleTarget(LinearRegression()), random_state=0, **kwargs)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("coverage", [0.6, 0.9])
@pytest.mark.parametrize("method", ["split", "cross"])
def test_coverage(method, coverage, missing):
    covered = []
    for seed in range(60):
        X, Y = noisy(160, seed, missing)
        X_new, Y_new = noisy(100, seed + 1000)
        center, half = linear(method=method, coverage=coverage).fit(X, Y).predict_interval(X_new)
        covered.append((np.abs(Y_new - center) <= half).mean(axis=0))
    # Six standard errors of the mean over 60 trials leave a false alarm out of the question.
    slack = 6 * np.std(covered, axis=0) / np.sqrt(60)
    assert (np.mean(covered, axis=0) > coverage - slack).all()
    assert (np.mean(covered, axis=0) < coverage + 0.06).all()


def test_half_widths_follow_each_labels_noise():
    model = linear().fit(*noisy(400, 0))
    assert 2.5 < model.half_widths_[1] / model.half_widths_[0] < 6


def test_split_quantile_by_hand():
    X, Y = noisy(40, 1)
    model = linear(coverage=0.8).fit(X, Y)
    errors = np.sort(model.residuals_[~np.isnan(model.residuals_[:, 0]), 0])
    assert len(errors) == 10
    assert model.half_widths_[0] == errors[8]  # ⌈11 · 0.8⌉ = 9th smallest


def test_cross_bounds_by_brute_force():
    X, Y = noisy(30, 2, missing=0.2)
    model = linear(method="cross", coverage=0.8, cv=3).fit(X, Y)
    center, half = model.predict_interval(X[:4])
    for row in range(4):
        for label in range(2):
            low, high = [], []
            for i in np.flatnonzero(~np.isnan(Y[:, label])):
                predicted = model.regressors_[model.fold_[i]].predict(X[row : row + 1])[0, label]
                low.append(predicted - model.residuals_[i, label])
                high.append(predicted + model.residuals_[i, label])
            n = len(low)
            upper = sorted(high)[int(np.ceil((n + 1) * 0.8)) - 1]
            lower = sorted(low)[int(np.floor((n + 1) * 0.2)) - 1]
            assert center[row, label] - half[row, label] == pytest.approx(lower)
            assert center[row, label] + half[row, label] == pytest.approx(upper)


@pytest.mark.parametrize("method", ["split", "cross"])
def test_too_few_rows_for_the_coverage_are_unbounded_and_said_so(method):
    X, Y = noisy(30, 0)
    with pytest.warns(UserWarning, match="of target 0, 1 .* unbounded"):
        model = linear(method=method, coverage=0.99).fit(X, Y)
    center, half = model.predict_interval(X)
    assert np.isinf(half).all()
    assert np.isfinite(center).all()


@pytest.mark.parametrize(
    "bad", [{"method": "jackknife"}, {"coverage": 1.0}, {"calibration_size": 0}], ids=str
)
def test_bad_parameters_are_named(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        linear(**bad).fit(*noisy(20, 0))
