import numpy as np
import pytest
from sklearn.svm import SVR

from moreplr.regressors import MultiOutputSVR

NAN = float("nan")


def data(n=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.column_stack([np.sin(X[:, 0] * (j + 1)) + X[:, 1] for j in range(k)])


@pytest.mark.parametrize("coupling", [0.0, 0.5])
def test_the_kernel_is_that_of_the_stated_feature_map(coupling):
    X, Y = data(n=25, k=2)
    model = MultiOutputSVR(kernel="linear", coupling=coupling, C=10, epsilon=0.01).fit(X, Y)
    one = np.ones((len(X), 1))
    blocks = []
    for j in range(2):
        own = [np.hstack([X, one]) * (i == j) for i in range(2)]
        blocks.append(np.hstack([np.sqrt(coupling) * X, *own]))
    centered = Y - Y.mean(axis=0)
    plain = SVR(kernel="linear", C=10, epsilon=0.01).fit(np.vstack(blocks), centered.T.ravel())
    for j, block in enumerate(blocks):
        expected = plain.predict(block) + Y[:, j].mean()
        np.testing.assert_allclose(model.predict(X)[:, j], expected, atol=0.02)


def test_coupling_carries_over_to_a_rarely_ranked_label():
    X, _ = data(n=80)
    Y = np.column_stack([X[:, 0] * 3, X[:, 0] * 3])
    sparse = Y.copy()
    sparse[4:, 1] = NAN
    truth = Y[:, 1] - Y[:, 1].mean()

    def error(coupling):
        predicted = MultiOutputSVR(coupling=coupling).fit(X, sparse).predict(X)[:, 1]
        return np.abs(predicted - predicted.mean() - truth).mean()

    assert error(coupling=5) < error(coupling=0) / 2


def test_size_guard_speaks_before_memory_runs_out():
    X, Y = np.zeros((50_000, 1)), np.ones((50_000, 20))
    with pytest.raises(ValueError, match=r"1,000,000 × 1,000,000 \(8,000\.0 GB\)"):
        MultiOutputSVR().fit(X, Y)


def test_a_tube_wide_enough_for_everything_predicts_constants():
    X, Y = data()
    predicted = MultiOutputSVR(epsilon=100).fit(X, Y).predict(X)
    assert np.ptp(predicted, axis=0).max() == 0
    np.testing.assert_allclose(np.diff(predicted[0]), np.diff(Y.mean(axis=0)))


def test_negative_coupling():
    with pytest.raises(ValueError, match="coupling"):
        MultiOutputSVR(coupling=-1).fit([[1.0]], [[1.0]])
