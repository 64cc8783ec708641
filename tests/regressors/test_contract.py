"""What every multi-output regressor of the library keeps to."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr.base import CHUNK_BYTES
from moreplr.checks import make_rankings
from moreplr.regressors import (
    REGRESSORS,
    Chain,
    Conformal,
    GaussianProcess,
    MultiOutputSVR,
    Native,
    SingleTarget,
    Stacking,
    gives_intervals,
    predict_interval,
)

NAN = float("nan")
FOREST = RandomForestRegressor(5, random_state=0)
FIXED_KERNEL = RBF(1.0, "fixed") + WhiteKernel(0.1, "fixed")

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
BOOTSTRAP = "a bootstrap draws rows, so weights are not the same as repeated rows"
EXPECTED_FAILURES = {
    RandomForestRegressor: {WEIGHTS: BOOTSTRAP},
    MultiOutputSVR: {
        WEIGHTS: "support vectors are found to a tolerance, as in scikit-learn's SVR"
    },
}


def expected_failures(estimator):
    base = getattr(getattr(estimator, "regressor", estimator), "base", estimator)
    return EXPECTED_FAILURES.get(type(base), {})


@parametrize_with_checks(
    [
        SingleTarget(FOREST),
        SingleTarget(Ridge()),
        Chain(FOREST),
        Chain(Ridge(), order="published"),
        Stacking(FOREST, cv=2),
        Stacking(Ridge(), cv=2),
        Native(FOREST),
        Native(Ridge()),
        MultiOutputSVR(),
        GaussianProcess(FIXED_KERNEL),
        Conformal(SingleTarget(FOREST)),
        Conformal(SingleTarget(Ridge()), method="cross"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:too few rows:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


def linear_data(n=60, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = X @ rng.normal(size=(3, 4)) + 5
    Y[rng.random(Y.shape) < missing] = NAN
    return X, Y


LEARNERS = [
    SingleTarget(Ridge(1e-6)),
    Chain(Ridge(1e-6)),
    Chain(Ridge(1e-6), order="published"),
    Chain(Ridge(1e-6), order="random", random_state=1),
    Stacking(Ridge(1e-6)),
    MultiOutputSVR(C=100, epsilon=0.01, kernel="linear"),
    GaussianProcess(),
    Conformal(SingleTarget(Ridge(1e-6)), coverage=0.5),
]


@pytest.mark.parametrize("regressor", LEARNERS, ids=repr)
def test_missing_targets_do_not_hide_a_linear_law(regressor):
    X, Y = linear_data(missing=0.4)
    fitted = clone(regressor).fit(X, Y)
    fresh, truth = linear_data()[0], linear_data()[1]
    assert np.abs(fitted.predict(fresh) - truth).mean() < 0.05


@pytest.mark.parametrize("regressor", LEARNERS, ids=repr)
@pytest.mark.filterwarnings("ignore:too few rows:UserWarning")
def test_a_target_without_observed_rows_is_named_in_a_warning(regressor):
    X, Y = linear_data()
    Y[:, 2] = NAN
    with pytest.warns(UserWarning, match=r"ranks target 2 \(counted from 0\)"):
        predicted = clone(regressor).fit(X, Y).predict(X)
    np.testing.assert_allclose(predicted[:, 2], predicted[0, 2])
    assert abs(predicted[0, 2] - np.nanmean(Y)) < 0.2


@pytest.mark.parametrize("name", sorted(REGRESSORS))
def test_nothing_but_nan_is_refused(name):
    with pytest.raises(ValueError, match="NaN only"):
        REGRESSORS[name]().fit([[1.0], [2.0]], [[NAN, NAN], [NAN, NAN]])


@pytest.mark.parametrize(
    "weight", [[1.0], [1.0, -1.0, 1.0], [1.0, NAN, 1.0], [0.0, 0.0, 0.0]], ids=str
)
def test_bad_weights(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        SingleTarget(Ridge()).fit([[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]], weight)


def test_a_base_without_weights_says_so():
    X, Y = linear_data()
    base = make_pipeline(StandardScaler(), Ridge())
    with pytest.raises(TypeError, match="Pipeline does not take sample weights"):
        SingleTarget(base).fit(X, Y, np.ones(len(X)))


def test_a_base_must_be_a_regressor():
    with pytest.raises(TypeError, match="'forest'"):
        SingleTarget("forest").fit([[1.0]], [[1.0]])


class TestIntervals:
    @pytest.mark.parametrize("regressor", [SingleTarget, Chain, Native, Stacking])
    def test_forests_give_the_standard_error_over_trees(self, regressor):
        X, Y = linear_data()
        fitted = regressor(FOREST).fit(X, Y)
        mean, half = fitted.predict_interval(X)
        np.testing.assert_allclose(mean, fitted.predict(X))
        assert (half > 0).any()

    def test_standard_error_by_hand(self):
        X, Y = linear_data()
        fitted = Native(FOREST).fit(X, Y)
        trees = np.stack([tree.predict(X) for tree in fitted.estimator_.estimators_])
        mean, half = fitted.predict_interval(X)
        np.testing.assert_allclose(mean, trees.mean(axis=0))
        np.testing.assert_allclose(half, trees.std(axis=0) / np.sqrt(5), atol=1e-12)

    def test_regressors_that_know_their_standard_deviation(self):
        X, Y = linear_data()
        fitted = SingleTarget(BayesianRidge()).fit(X, Y)
        mean, std = fitted.estimators_[1].predict(X, return_std=True)
        np.testing.assert_array_equal(predict_interval(fitted, X)[0][:, 1], mean)
        np.testing.assert_array_equal(predict_interval(fitted, X)[1][:, 1], std)

    def test_pipelines_answer_for_their_last_step(self):
        X, Y = linear_data()
        piped = SingleTarget(make_pipeline(StandardScaler(), FOREST)).fit(X, Y)
        plain = SingleTarget(FOREST).fit(StandardScaler().fit_transform(X), Y)
        expected = plain.predict_interval(StandardScaler().fit_transform(X))
        np.testing.assert_allclose(piped.predict_interval(X), expected)

    @pytest.mark.parametrize("regressor", [SingleTarget, Chain, Native, Stacking])
    def test_others_have_none(self, regressor):
        assert not gives_intervals(regressor(Ridge()))
        assert not hasattr(regressor(Ridge()), "predict_interval")


def test_seed_reaches_the_base():
    X, Y = linear_data()
    first, second, other = (
        SingleTarget(RandomForestRegressor(3), random_state=seed).fit(X, Y).predict(X)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_jobs_change_nothing():
    X, Y = linear_data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = SingleTarget(FOREST).fit(X, Y).predict(X)
        two = SingleTarget(FOREST, n_jobs=2).fit(X, Y).predict(X)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("regressor", [MultiOutputSVR(), GaussianProcess()], ids=repr)
def test_kernels_of_many_rows_take_bounded_memory(regressor):
    """With all support vectors at once, the kernel would take half a gigabyte."""
    X, Y = make_rankings(n=300, k=3)
    regressor.fit(X, Y)
    rows = np.tile(X, (100, 1))
    tracemalloc.start()
    try:
        predicted = regressor.predict(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < CHUNK_BYTES + 4 * predicted.nbytes
    np.testing.assert_allclose(predicted[: len(X)], regressor.predict(X), atol=1e-9)
