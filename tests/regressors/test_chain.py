import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from moreplr.regressors import Chain

NAN = float("nan")


class Recorder(LinearRegression):
    """Remembers the inputs that it was trained on and asked about."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X.copy()
        return super().fit(X, y, sample_weight)


def test_order_starts_with_the_label_most_correlated_with_all_others():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = -a + rng.normal(size=500)
    c = a + rng.normal(size=500)
    d = rng.normal(size=500)
    Y = np.column_stack([d, c, a, b])
    strength = np.abs(np.corrcoef(Y.T)) - np.eye(4)
    expected, rest = [], [0, 1, 2, 3]
    while rest:
        best = max(rest, key=lambda i: sum(strength[i, j] for j in rest))
        expected.append(best)
        rest.remove(best)
    assert expected[0] == 2
    # The last two have equal sums, each with the other.
    assert Chain(LinearRegression()).fit(d[:, None], Y).order_.tolist()[:2] == expected[:2]


def test_published_order_looks_at_features_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    unrelated, follows_x = rng.normal(size=300), X[:, 0] ** 3
    follows_that = follows_x + rng.normal(size=300) * 5
    Y = np.column_stack([unrelated, follows_that, follows_x])
    assert Chain(LinearRegression(), order="published").fit(X, Y).order_.tolist() == [2, 1, 0]


def test_links_train_on_true_earlier_targets():
    X, Y = np.arange(6.0)[:, None], np.column_stack([np.arange(6.0) ** 2, np.ones(6)])
    chain = Chain(Recorder(), order=[0, 1]).fit(X, Y)
    np.testing.assert_array_equal(chain.estimators_[1].seen_, np.column_stack([X, Y[:, 0]]))


def test_missing_earlier_targets_are_filled_with_the_chains_own_predictions():
    X = np.arange(6.0)[:, None]
    Y = np.column_stack([X[:, 0] ** 2, X[:, 0]])
    Y[2, 0] = NAN
    chain = Chain(Recorder(), order=[0, 1]).fit(X, Y)
    seen = chain.estimators_[1].seen_
    assert len(seen) == 6
    np.testing.assert_allclose(seen[2, 1], chain.estimators_[0].predict(X[2:3])[0])


def test_links_predict_from_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    Y = rng.normal(size=(50, 2))
    chain = Chain(LinearRegression(), order=[1, 0]).fit(X, Y)
    first = chain.estimators_[0].predict(X)
    second = chain.estimators_[1].predict(np.column_stack([X, first]))
    np.testing.assert_allclose(chain.predict(X), np.column_stack([second, first]))


def test_constant_and_rarely_seen_targets_have_a_place_in_every_order():
    X = np.arange(6.0)[:, None]
    Y = np.column_stack([np.ones(6), X[:, 0], [NAN] * 5 + [1.0]])
    for order in ("correlation", "published"):
        assert sorted(Chain(LinearRegression(), order=order).fit(X, Y).order_) == [0, 1, 2]


@pytest.mark.parametrize("order", ["backwards", [0, 0], [0, 1, 2]])
def test_bad_order(order):
    with pytest.raises(ValueError, match="permutation of the 2 columns"):
        Chain(LinearRegression(), order=order).fit([[1.0], [2.0]], [[1.0, 2.0], [2.0, 1.0]])


def test_published_order_with_a_constant_feature_is_that_of_the_columns():
    """The authors' correlation is NaN then, and argmax takes the first of the remaining."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    Y = np.column_stack([rng.normal(size=50), X[:, 0] + rng.normal(size=50), X[:, 0]])

    def order_of(X):
        return Chain(LinearRegression(), order="published").fit(X, Y).order_.tolist()

    assert order_of(X)[0] == 2
    assert order_of(np.column_stack([X, np.full(50, 7.0)])) == [0, 1, 2]
    constant_label = Y * [1, 0, 1]
    chain = Chain(LinearRegression(), order="published").fit(X, constant_label)
    assert chain.order_[0] == 1
