"""Oblique features against scikit-learn's regressions and components."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from moreplr import RankingForest, oblique
from moreplr.oblique import ObliqueFeatures

NAN = float("nan")


def not_of_rankings(estimator):
    reason = "its y has one dimension, and it wants training rows transformed like new ones"
    checks = ["data_not_an_array", "general", "preserve_dtypes"]
    return {f"check_transformer_{name}": reason for name in checks}


@parametrize_with_checks([ObliqueFeatures(random_state=0)], expected_failed_checks=not_of_rankings)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def slanted():
    """Labels' values are sums of all features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    return X, rankdata(X @ rng.normal(size=(10, 4)), axis=1)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def widened(X, Y):
    transformer = ObliqueFeatures(random_state=0)
    return transformer.fit_transform(X, Y), transformer


def test_slopes_are_those_of_ridge_regression():
    rng = np.random.default_rng(0)
    Z, targets = rng.normal(size=(50, 4)), rng.normal(size=(50, 3))
    rows = rng.random(50) < 0.8
    slopes = oblique._ridge(Z, targets, rows)
    for penalty, own in zip(oblique._PENALTIES, slopes, strict=True):
        twin = Ridge(alpha=rows.sum() * penalty).fit(Z[rows], targets[rows])
        np.testing.assert_allclose(own, twin.coef_.T, atol=1e-8)


def test_training_rows_are_predicted_without_their_own_positions(slanted):
    X, Y = slanted
    Y[:295, 2] = NAN  # too few to learn from
    wide, _ = widened(X, Y)
    assert wide.shape == (300, 10 + 3)
    changed = Y.copy()
    changed[7, [0, 1, 3]] = changed[7, [3, 0, 1]]
    again, _ = widened(X, changed)
    same = np.isclose(again, wide, atol=1e-12).all(axis=1)
    # Its own fold knows the row only by the choice of the penalty, one of nine.
    assert same[7]
    assert same.sum() == 60  # its fold


def test_each_label_is_predicted_from_the_rows_that_rank_it(slanted):
    X, Y = slanted
    Y[::3, 1] = NAN
    _, transformer = widened(X, Y)
    Z, rows = standardised(X), ~np.isnan(Y[:, 1])
    candidates = [
        Ridge(alpha=rows.sum() * penalty).fit(Z[rows], Y[rows, 1]).coef_
        for penalty in oblique._PENALTIES
    ]
    weights = transformer.weights_
    found = [np.abs(weights - slope[:, None]).max(axis=0).min() for slope in candidates]
    assert min(found) < 1e-8


def test_rows_that_do_not_rank_a_label_are_predicted_as_new_ones(slanted):
    X, Y = slanted
    Y[::3, 1] = NAN
    wide, transformer = widened(X, Y)
    new = transformer.transform(X)
    np.testing.assert_allclose(wide[::3, -1], new[::3, -1])
    assert not np.allclose(wide[1::3, -1], new[1::3, -1])


@pytest.mark.parametrize("constant", [5.0, 0.1])  # the mean of the second one is not exact
def test_gaps_and_constant_features_add_nothing(constant):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 1] = constant
    X[::4, 2] = NAN
    X = np.hstack([X, np.full((60, 1), NAN)])
    wide, transformer = widened(X, rng.random((60, 3)))
    assert np.isfinite(wide[:, 4:]).all()
    assert (transformer.weights_[[1, 3]] == 0).all()
    new = np.array([[1.0, NAN, NAN, NAN], [1.0, 9.0, transformer.mean_[2], 1.0]])
    np.testing.assert_allclose(*transformer.transform(new)[:, 4:])
    flat, none = widened(np.full((60, 2), constant), rng.random((60, 3)))
    assert flat.shape == (60, 2)
    assert none.weights_.shape == (2, 0)


def test_a_single_feature_is_not_copied():
    rng = np.random.default_rng(0)
    assert widened(rng.random((60, 1)), rng.random((60, 3)))[0].shape == (60, 1)


def test_many_features_are_regressed_on_their_64_strongest_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 80)) * np.linspace(1, 3, 80)
    _, transformer = widened(X, rankdata(X @ rng.normal(size=(80, 4)), axis=1))
    axes = PCA(64).fit(standardised(X)).components_
    slopes = transformer.weights_
    np.testing.assert_allclose(axes.T @ (axes @ slopes), slopes, atol=1e-8)


def test_importances_of_combinations_are_divided_among_their_features():
    transformer = ObliqueFeatures()
    transformer.weights_ = np.array([[3.0, 0.0], [-1.0, 2.0]])
    np.testing.assert_allclose(transformer.attribute(np.array([0.1, 0.2, 0.4, 0.3])), [0.4, 0.6])


@pytest.mark.parametrize("factor", [1e-200, 1e200, 1e300])
def test_scale_does_not_matter(factor, slanted):
    X, Y = slanted
    plain, _ = widened(X, Y)
    scaled, transformer = widened(X * factor, Y)
    np.testing.assert_allclose(scaled[:, 10:], plain[:, 10:], atol=1e-6)
    assert np.isfinite(transformer.transform(np.full((1, 10), -1.7e308))).all()


def test_threads_of_linear_algebra_change_nothing(slanted):
    X, Y = np.tile(slanted[0], 30), slanted[1]
    X = X + np.random.default_rng(0).normal(size=X.shape)
    widths = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            widths.append(widened(X, Y)[0])
    np.testing.assert_array_equal(*widths)


def test_rows_of_features_and_rankings_must_agree():
    with pytest.raises(ValueError, match="X has 2 rows, but y has 1"):
        ObliqueFeatures().fit([[1.0], [2.0]], [[1, 2]])


class TestRankingForest:
    def test_it_learns_slantwise_borders_better(self, slanted):
        X, Y = slanted
        plain = RankingForest(50, oblique=False, random_state=0).fit(X[:200], Y[:200])
        ranker = RankingForest(50, random_state=0).fit(X[:200], Y[:200])
        assert plain.oblique_ is None
        assert ranker.score(X[200:], Y[200:]) > plain.score(X[200:], Y[200:]) + 0.05
        assert ranker.feature_importances_.shape == (10,)
        assert ranker.feature_importances_.sum() == pytest.approx(1)
        assert ranker.explain(X[200]).ranking == ranker.predict_text(X[200:201])[0]

    def test_gaps_in_rankings_and_features(self, slanted):
        X, Y = slanted
        rng = np.random.default_rng(1)
        X[rng.random(X.shape) < 0.1] = NAN
        Y[:, :3][rng.random((300, 3)) < 0.4] = NAN
        ranker = RankingForest(20, random_state=0).fit(X[:200], Y[:200])
        assert ranker.score(X[200:], Y[200:]) > 0.3

    def test_a_row_alone_is_ranked_as_among_others(self):
        levels = np.stack(np.meshgrid(*[np.arange(3.0)] * 4), axis=-1).reshape(-1, 4)
        Y = rankdata(levels[:, :3] @ [[1, 2, 0], [0, 1, 2], [2, 0, 1]] + levels[:, 3:], axis=1)
        ranker = RankingForest(30, random_state=0).fit(levels, Y)
        together = ranker.predict_pairs(levels).P
        alone = [ranker.predict_pairs(row[None]).P[0] for row in levels]
        np.testing.assert_allclose(together, alone, atol=1e-12)
