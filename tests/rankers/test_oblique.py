"""Oblique features against scikit-learn's regressions and components."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from moreplr import RankingForest
from moreplr.checks import make_rankings
from moreplr.rankers import choosing, oblique
from moreplr.rankers.oblique import Oblique, widened

NAN = float("nan")


@pytest.fixture
def slanted():
    """Labels' values are sums of all features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    return X, rankdata(X @ rng.normal(size=(10, 4)), axis=1)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("shape", [(40, 5), (25, 60)])
def test_components_are_those_of_the_standardised_features(shape):
    X = np.random.default_rng(0).normal(size=shape) ** 3
    targets = np.full((shape[0], 2), NAN)
    wide, sums = widened(X, targets, 0)
    expected = PCA().fit_transform(standardised(X))[:, : min(shape[1], shape[0] - 1)]
    np.testing.assert_allclose(np.abs(wide[:, shape[1] :]), np.abs(expected), atol=1e-8)
    assert (sums.weights.max(axis=0) >= -sums.weights.min(axis=0)).all()
    np.testing.assert_allclose(sums.widen(X), wide)


def test_very_many_components_are_cut(monkeypatch):
    monkeypatch.setattr(oblique, "MOST_COMPONENTS", 3)
    X = np.random.default_rng(0).normal(size=(30, 6))
    assert widened(X, np.full((30, 2), NAN), 0)[0].shape == (30, 9)


@pytest.mark.parametrize("d", [4, 80])
def test_slopes_are_those_of_ridge_regression(d):
    rng = np.random.default_rng(0)
    Z, targets = rng.normal(size=(50, d)), rng.normal(size=(50, 3))
    slopes = oblique._ridge(Z, targets)
    for penalty, own in zip(oblique._PENALTIES, slopes, strict=True):
        twin = Ridge(alpha=50 * penalty).fit(Z, targets)
        np.testing.assert_allclose(own, twin.coef_.T, atol=1e-8)


def test_training_rows_are_predicted_without_their_own_positions(slanted):
    X, Y = slanted
    Y[::3, 1] = NAN
    Y[:285, 2] = NAN  # too few to learn from
    wide, _ = widened(X, Y, 0)
    assert wide.shape == (300, 10 + 10 + 3)
    changed = Y.copy()
    changed[7] = changed[7, ::-1]
    changed[7, 2] = NAN
    again, _ = widened(X, changed, 0)
    fold = np.random.default_rng(0).permutation(300) % 10
    same = fold == fold[7]
    # Only the choice of the penalty, one of nine, hears of the own fold.
    np.testing.assert_allclose(again[same], wide[same], atol=1e-9)
    assert not np.allclose(again[~same], wide[~same], atol=1e-9)


def test_each_label_is_predicted_from_the_rows_that_rank_it(slanted):
    X, Y = slanted
    Y[::3, 1] = NAN
    _, sums = widened(X, Y, 0)
    Z, rows = standardised(X), ~np.isnan(Y[:, 1])
    candidates = [
        Ridge(alpha=rows.sum() * penalty).fit(Z[rows], Y[rows, 1]).coef_
        for penalty in oblique._PENALTIES
    ]
    found = [np.abs(sums.weights - slope[:, None]).max(axis=0).min() for slope in candidates]
    assert min(found) < 1e-8


@pytest.mark.parametrize("constant", [5.0, 0.1])  # the mean of the second one is not exact
def test_gaps_and_constant_features_add_nothing(constant):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 1] = constant
    X[::4, 2] = NAN
    X = np.hstack([X, np.full((60, 1), NAN)])
    wide, sums = widened(X, rng.random((60, 3)), 0)
    assert np.isfinite(wide[:, 4:]).all()
    assert (sums.weights[[1, 3]] == 0).all()
    new = np.array([[1.0, NAN, NAN, NAN], [1.0, 9.0, sums.mean[2], 1.0]])
    np.testing.assert_allclose(*sums.widen(new)[:, 4:])
    flat, none = widened(np.full((60, 2), constant), rng.random((60, 3)), 0)
    assert flat.shape == (60, 2)
    assert none.weights.shape == (2, 0)


def test_importances_of_sums_are_divided_among_their_features():
    sums = Oblique(np.zeros(2), np.ones(2), np.array([[3.0, 0.0], [-1.0, 2.0]]))
    np.testing.assert_allclose(sums.told_by(np.array([0.1, 0.2, 0.4, 0.3])), [0.4, 0.6])


class TestRankingForest:
    def test_sums_are_learned_from_where_they_tell_more(self, slanted):
        X, Y = slanted
        plain = RankingForest(50, oblique=False, random_state=0).fit(X[:200], Y[:200])
        ranker = RankingForest(50, random_state=0).fit(X[:200], Y[:200])
        assert plain.oblique_ is None
        assert ranker.oblique_ is not None
        assert ranker.score(X[200:], Y[200:]) > plain.score(X[200:], Y[200:])
        assert ranker.feature_importances_.shape == (10,)
        assert ranker.feature_importances_.sum() == pytest.approx(1)
        assert ranker.explain(X[200]).ranking == ranker.predict_text(X[200:201])[0]

    def test_no_sums_of_one_feature_or_of_many_rows_unless_asked_for(self, monkeypatch):
        X, Y = make_rankings(n=60)
        single = RankingForest(5, random_state=0).fit(X[:, :1], Y)
        assert single.oblique_ is None
        monkeypatch.setattr(choosing, "PROBED_ROWS", 50)
        many = RankingForest(5, random_state=0)
        assert many.fit(X, Y).oblique_ is None
        assert many.set_params(oblique=True).fit(X, Y).oblique_ is not None
        assert many.predict(X).shape == Y.shape

    def test_gaps_in_rankings_and_features(self, slanted):
        X, Y = slanted
        rng = np.random.default_rng(1)
        X[rng.random(X.shape) < 0.1] = NAN
        Y[:, :3][rng.random((300, 3)) < 0.4] = NAN
        ranker = RankingForest(20, oblique=True, random_state=0).fit(X[:200], Y[:200])
        assert ranker.score(X[200:], Y[200:]) > 0.3

    def test_two_trees_in_three_look_at_the_features_alone(self, slanted):
        ranker = RankingForest(60, structure="per_label", random_state=0).fit(*slanted)
        for forest in (*ranker.forests_, ranker.pair_forests_):
            trees = forest.trees_of(0) if forest is ranker.pair_forests_ else forest.trees_
            inside = np.where(trees.right >= 0, trees.feature, 0)
            largest = np.maximum.reduceat(inside, trees.offsets[:-1])
            np.testing.assert_array_equal(largest >= 10, forest.seeds_ % 3 == 0)

    def test_a_row_alone_is_ranked_as_among_others(self):
        levels = np.stack(np.meshgrid(*[np.arange(3.0)] * 4), axis=-1).reshape(-1, 4)
        Y = rankdata(levels[:, :3] @ [[1, 2, 0], [0, 1, 2], [2, 0, 1]] + levels[:, 3:], axis=1)
        ranker = RankingForest(30, random_state=0).fit(levels, Y)
        together = ranker.predict_pairs(levels).P
        alone = [ranker.predict_pairs(row[None]).P[0] for row in levels]
        np.testing.assert_allclose(together, alone, atol=1e-12)

    def test_threads_of_linear_algebra_change_nothing(self, slanted):
        X, Y = np.tile(slanted[0], 30), slanted[1]
        X = X + np.random.default_rng(0).normal(size=X.shape)
        widths = []
        for threads in (1, 2):
            with threadpool_limits(threads, "blas"):
                widths.append(widened(X, Y, 0)[0])
        np.testing.assert_array_equal(*widths)

    def test_very_large_numbers_are_taken_as_they_are(self, slanted):
        X, Y = slanted
        ranker = RankingForest(5, oblique=True, random_state=0).fit(X, Y)
        assert ranker.predict(X * 1e300).shape == Y.shape
        assert RankingForest(5, oblique=True, random_state=0).fit(X * 1e200, Y).oblique_ is None

    def test_anything_else_is_refused(self):
        with pytest.raises(ValueError, match="oblique must be"):
            RankingForest(oblique="maybe").fit(*make_rankings(n=20))
