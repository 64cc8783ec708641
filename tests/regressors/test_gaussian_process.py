import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from moreplr.regressors import GaussianProcess, SingleTarget

NAN = float("nan")
KERNEL = 1.0 * RBF(0.7) + WhiteKernel(0.1)


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 1))
    signal = np.sin(2 * X[:, 0])
    Y = np.column_stack([signal, -signal, X[:, 0]]) + rng.normal(size=(n, 3)) * 0.2
    return X, Y


def test_complete_targets_are_scikit_learns_gaussian_process():
    X, Y = data()
    Z = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    plain = GaussianProcessRegressor(KERNEL, alpha=1e-8).fit(X, Z)
    mean, std = plain.predict(X, return_std=True)
    ours, our_std = GaussianProcess(KERNEL).fit(X, Y).predict_interval(X)
    np.testing.assert_allclose(ours, mean * Y.std(axis=0) + Y.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(our_std, std * Y.std(axis=0), atol=1e-3)


def test_missing_targets_condition_on_the_observed_cells():
    X, Y = data(n=6)
    Y[0, 0] = Y[3, 1] = Y[3, 2] = NAN
    fixed = WhiteKernel(0.1, "fixed") + RBF(0.7, "fixed")
    model = GaussianProcess(fixed).fit(X, Y)
    query = np.array([[0.3]])
    B = model.correlation_
    covariance = np.kron(fixed(X), B)
    cross = np.kron(fixed(query, X), B)
    seen = ~np.isnan(Y).ravel()
    Z = ((Y - model.mean_) / model.scale_).ravel()
    solved = np.linalg.solve(covariance[np.ix_(seen, seen)], np.c_[Z[seen], cross[:, seen].T])
    mean = cross[:, seen] @ solved[:, 0]
    variance = np.kron(fixed(query), B) - cross[:, seen] @ solved[:, 1:]
    positions, std = model.predict_interval(query)
    np.testing.assert_allclose(positions[0], mean * model.scale_ + model.mean_, atol=1e-5)
    np.testing.assert_allclose(std[0], np.sqrt(np.diag(variance)) * model.scale_, atol=1e-5)


def test_an_observed_label_speaks_for_a_missing_one():
    X, Y = data(n=60)
    sparse = Y.copy()
    sparse[8:, 1] = NAN
    truth = -np.sin(2 * X[:, 0])
    joint = GaussianProcess().fit(X, sparse).predict(X)[:, 1]
    alone = SingleTarget(GaussianProcessRegressor(KERNEL, normalize_y=True)).fit(X, sparse)
    assert np.abs(joint - truth).mean() < np.abs(alone.predict(X)[:, 1] - truth).mean()


def test_kernel_maximises_the_sum_of_the_labels_likelihoods():
    X, Y = data(n=25)
    Y[:5, 0] = NAN
    model = GaussianProcess(KERNEL).fit(X, Y)
    Z = (Y - model.mean_) / model.scale_

    def total(kernel):
        value = 0.0
        for z in Z.T:
            seen = ~np.isnan(z)
            covariance = kernel(X[seen]) + 1e-8 * np.eye(seen.sum())
            value += multivariate_normal(np.zeros(seen.sum()), covariance).logpdf(z[seen])
        return value

    best = total(model.kernel_)
    for step in np.vstack([np.eye(3), -np.eye(3)]) * 0.2:
        assert total(model.kernel_.clone_with_theta(model.kernel_.theta + step)) < best


def test_spread_grows_away_from_the_data():
    X, Y = data()
    _, std = GaussianProcess().fit(X, Y).predict_interval([[0.0], [30.0]])
    assert (std[1] > std[0]).all()


def test_size_guard():
    with pytest.raises(ValueError, match="30,000 × 30,000"):
        GaussianProcess().fit(np.zeros((30_000, 1)), np.ones((30_000, 2)))
