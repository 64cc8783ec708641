"""The regressor as a user sees it."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

from moreplr.forest import BinnedMatrix, ForestRegressor


def problem(seed=0, n=120, k=3, share=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    Y = X @ rng.normal(size=(5, k)) + 0.1 * rng.normal(size=(n, k))
    Y[rng.random(Y.shape) < share] = np.nan
    return X, Y


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(share):
    X, Y = problem(share=share)
    forests = [ForestRegressor(9, random_state=3, n_jobs=j).fit(X, Y) for j in (1, 2, 5)]
    states = [
        {name: array.tobytes() for name, array in f.trees_.to_dict().items()} for f in forests
    ]
    assert states[0] == states[1] == states[2]
    predictions = [f.predict(X).tobytes() for f in forests]
    assert predictions[0] == predictions[1] == predictions[2]
    assert (
        forests[0].predict(X).tobytes()
        != ForestRegressor(9, random_state=4).fit(X, Y).predict(X).tobytes()
    )


def test_it_predicts_as_well_as_scikit_learn():
    X, Y = problem(n=600)
    ours = ForestRegressor(50, random_state=0).fit(X[:400], Y[:400]).predict(X[400:])
    theirs = RandomForestRegressor(50, random_state=0).fit(X[:400], Y[:400]).predict(X[400:])
    errors = [((p - Y[400:]) ** 2).mean() for p in (ours, theirs)]
    assert errors[0] < 1.1 * errors[1]


def test_weights_are_repetitions():
    X, Y = problem(n=60, share=0.2)
    Y = np.round(Y * 4)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    options = {"bootstrap": False, "random_state": 0, "n_estimators": 5}
    weighted = ForestRegressor(**options).fit(X, Y, sample_weight=weight)
    repeated = ForestRegressor(**options).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_an_unseen_target_comes_from_the_nearest_ancestor():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    Y = np.array([[0.0, np.nan], [0.0, 4.0], [10.0, np.nan], [20.0, np.nan]])
    forest = ForestRegressor(1, bootstrap=False).fit(X, Y)
    np.testing.assert_array_equal(forest.predict(X)[:, 1], [4, 4, 4, 4])
    Y[3, 1] = 8.0
    forest = ForestRegressor(1, bootstrap=False).fit(X, Y)
    np.testing.assert_array_equal(forest.predict(X)[:, 1], [4, 4, 8, 8])


def test_a_target_without_any_value_is_predicted_as_nan():
    X, Y = problem()
    Y[:, 1] = np.nan
    predicted = ForestRegressor(3, random_state=0).fit(X, Y).predict(X)
    assert np.isnan(predicted[:, 1]).all()
    assert np.isfinite(predicted[:, [0, 2]]).all()


def test_large_offsets_do_not_blur_small_differences():
    X, Y = problem(k=1)
    Y = np.round(Y * 1024) / 1024  # so that adding the offset is exact
    near = ForestRegressor(5, random_state=0).fit(X, Y).predict(X)
    far = ForestRegressor(5, random_state=0).fit(X, Y + 2.0**30).predict(X)
    np.testing.assert_allclose(far - 2.0**30, near, atol=1e-5)


@pytest.mark.parametrize("k", [None, 4])
def test_trees_intervals_and_means_agree(k):
    X, Y = problem(k=k or 1)
    Y = Y if k else Y.ravel()
    forest = ForestRegressor(7, random_state=0).fit(X, Y)
    each = forest.predict_trees(X)
    mean, error = forest.predict_interval(X)
    assert each.shape == (7, *Y.shape)
    np.testing.assert_allclose(each.mean(axis=0), forest.predict(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(mean, forest.predict(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(error, each.std(axis=0) / np.sqrt(7), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("max_samples", [None, 20, 0.8])
def test_out_of_bag_predictions_use_only_trees_that_have_not_seen_the_row(max_samples):
    X, Y = problem(n=40)
    forest = ForestRegressor(3, max_samples=max_samples, random_state=0).fit(X, Y)
    trees, each = forest.trees_, forest.predict_trees(X)
    expected = np.full(Y.shape, np.nan)
    for row in range(40):
        unseen = [
            t
            for t in range(3)
            if row not in trees.perm[trees.perm_offsets[t] : trees.perm_offsets[t + 1]]
        ]
        if unseen:
            expected[row] = each[unseen, row].mean(axis=0)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(forest.oob_prediction_, expected, rtol=1e-6)
    with pytest.raises(AttributeError, match="bootstrap"):
        _ = ForestRegressor(2, bootstrap=False).fit(X, Y).oob_prediction_


@pytest.mark.parametrize(
    ("max_samples", "draws"),
    [(None, 40), (40, 40), (1000, 40), (7, 7), (1, 1), (0.25, 10), (1.0, 40)],
)
def test_each_tree_draws_so_many_rows(max_samples, draws):
    X, Y = problem(n=40)
    trees = ForestRegressor(5, max_samples=max_samples, random_state=0).fit(X, Y).trees_
    assert (np.add.reduceat(trees.perm_count, trees.perm_offsets[:-1]) == draws).all()


@pytest.mark.parametrize("max_samples", [0, -1, 0.0, 1.5, True, "all", np.nan])
def test_wrong_numbers_of_draws_are_refused(max_samples):
    X, Y = problem(n=40)
    with pytest.raises(ValueError, match="max_samples must be None, an integer of at least 1"):
        ForestRegressor(5, max_samples=max_samples).fit(X, Y)


def test_importances_add_up_and_find_the_feature_that_matters():
    X, _ = problem()
    forest = ForestRegressor(10, random_state=0).fit(X, X[:, 3])
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    assert forest.feature_importances_[3] > 0.95


# few targets with gaps have many splits of equal gain, among which rounding decides
@pytest.mark.parametrize(("k", "share"), [(3, 0.0), (20, 0.0), (20, 0.4), (40, 0.4)])
def test_small_whole_targets_are_fitted_like_any_others(k, share):
    X, Y = problem(n=300, k=k, share=share)
    Y = np.round(Y * 3)
    whole = ForestRegressor(5, random_state=0).fit(X, Y).predict(X)
    other = ForestRegressor(5, random_state=0).fit(X, Y * 0.3).predict(X)
    np.testing.assert_allclose(whole * 0.3, other, rtol=1e-4, atol=1e-4)


def test_a_pickled_forest_predicts_the_same():
    X, Y = problem(share=0.2)
    forest = ForestRegressor(3, random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(forest.predict(X), again.predict(X))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_features_are_refused(value):
    X, Y = problem()
    forest = ForestRegressor(2).fit(X, Y)
    X[3, 1] = value
    with pytest.raises(ValueError, match="infinity"):
        ForestRegressor(2).fit(X, Y)
    with pytest.raises(ValueError, match="infinity"):
        forest.predict(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("max_features", 0),
        ("max_features", 1.5),
        ("max_features", "all"),
        ("max_depth", 0),
        ("min_samples_leaf", 0),
        ("min_samples_split", 1),
        ("max_bins", 256),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, Y = problem()
    with pytest.raises(ValueError, match=name):
        ForestRegressor(**{name: value}).fit(X, Y)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 30),
    f=st.integers(1, 5),
    k=st.sampled_from([1, 2, 9, 300]),
    values=st.integers(1, 4),
    gaps=st.sampled_from([0.0, 0.5, 1.0]),
    empty=st.booleans(),
)
def test_odd_data_give_predictions_within_the_range_of_the_targets(
    seed, n, f, k, values, gaps, empty
):
    """Constant features, duplicate rows, one row, all-NaN columns, 300 labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, f)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    Y = rng.normal(size=(n, k))
    Y[rng.random(Y.shape) < gaps] = np.nan
    if empty:
        Y[:, 0] = np.nan
    if np.isnan(Y).all():
        with pytest.raises(ValueError, match="nothing to learn"):
            ForestRegressor(3).fit(X, Y)
        return
    predicted = ForestRegressor(3, random_state=seed).fit(X, Y).predict(X)
    seen = ~np.isnan(Y).all(axis=0)
    assert np.isnan(predicted[:, ~seen]).all()
    low, high = np.nanmin(Y[:, seen], axis=0), np.nanmax(Y[:, seen], axis=0)
    assert (predicted[:, seen] >= low - 1e-5).all()
    assert (predicted[:, seen] <= high + 1e-5).all()


def test_features_can_be_binned_beforehand():
    rng = np.random.default_rng(0)
    X, Y = rng.random((80, 3)), rng.random((80, 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    binned = BinnedMatrix.of(X)
    usual, shared = (ForestRegressor(5, random_state=0).fit(given, Y) for given in (X, binned))
    expected = usual.predict(X)
    np.testing.assert_array_equal(shared.predict(X), expected)
    np.testing.assert_array_equal(shared.predict(binned.take([3, 1])), expected[[3, 1]])
    with pytest.raises(ValueError, match="2 features"):
        shared.predict(BinnedMatrix.of(X[:, :2]))


@pytest.mark.parametrize("features", [[5], [-1], []])
def test_features_that_are_not_there_are_refused(features):
    X, Y = problem(n=20)
    with pytest.raises(ValueError, match="features must be from 0 to 4"):
        ForestRegressor(2).fit(X, Y, features=features)


def test_trees_that_may_split_on_some_features_are_those_of_these_features_alone():
    X, Y = problem(n=80, share=0.2)
    some = np.array([0, 3, 4])
    options = {"max_features": 2, "random_state": 0}
    of_all = ForestRegressor(10, **options).fit(X, Y, features=some)
    alone = ForestRegressor(10, **options).fit(X[:, some], Y)
    np.testing.assert_array_equal(of_all.predict(X), alone.predict(X[:, some]))
    expected = np.zeros(5)
    expected[some] = alone.feature_importances_
    np.testing.assert_array_equal(of_all.feature_importances_, expected)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e20, 1e300])
def test_the_scale_of_weights_does_not_matter(scale):
    rng = np.random.default_rng(0)
    X, Y, weight = rng.random((80, 3)), rng.random((80, 2)), rng.integers(1, 5, 80) / 4
    usual, scaled = (
        ForestRegressor(5, random_state=0).fit(X, Y, sample_weight=w).predict(X)
        for w in (weight, weight * scale)
    )
    np.testing.assert_allclose(scaled, usual, rtol=1e-6)


def test_equal_weights_are_no_weights():
    rng = np.random.default_rng(0)
    X, Y = rng.random((80, 3)), rng.random((80, 2))
    usual, weighted = (
        ForestRegressor(5, random_state=0).fit(X, Y, sample_weight=w).predict(X)
        for w in (None, np.full(80, 0.3))
    )
    np.testing.assert_allclose(weighted, usual, rtol=1e-6)


def test_masked_cells_are_missing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    hidden = rng.random((40, 3)) < 0.2
    usual = ForestRegressor(5, random_state=0)
    usual.fit(np.where(hidden, np.nan, X), np.where(hidden[:, :2], np.nan, Y))
    masked = ForestRegressor(5, random_state=0)
    under = np.ma.array(np.where(hidden, 99.0, X), mask=hidden)
    masked.fit(under, np.ma.array(np.where(hidden[:, :2], 77.0, Y), mask=hidden[:, :2]))
    np.testing.assert_array_equal(masked.predict(under), usual.predict(under.filled(np.nan)))


def test_masked_weights_are_refused():
    weight = np.ma.array([1.0, 2.0, 99.0], mask=[False, False, True])
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        ForestRegressor(2).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], weight)
