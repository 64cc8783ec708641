"""Many forests at once are the same as each of them alone."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moreplr.forest import ForestBatch, ForestRegressor


def problem(seed=0, n=80, values=6, missing_x=0.0, k=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, 4)).astype(float)
    Y = (rng.integers(1, 5, (n, k)) + (X[:, :1] > 2)).astype(float)
    X[rng.random(X.shape) < missing_x] = np.nan
    return X, Y


def gain_of(twin, y, w, left):
    return (
        twin.squared_error(y, w)
        - twin.squared_error(y[left], w[left])
        - twin.squared_error(y[~left], w[~left])
    )


def check_splits(twin, batch, forest, X, y, min_leaf):
    """Every split has the largest gain; `y` has NaN rows where a row takes no part."""
    codes, part = batch.binner_.transform(X), ~np.isnan(y).any(axis=1)
    trees = twin.trees_of(batch, forest, codes, part)
    weight = np.ones(len(y))
    for tree in range(trees.n_trees):
        for _, rows, leaf, left in twin.walk(trees, tree, codes, np.flatnonzero(part)):
            own, w = y[rows], weight[rows]
            best = twin.best_gain(codes[rows], own, w, min_leaf)
            if leaf:
                assert best is None or twin.squared_error(own, w) < 1e-8
            else:
                assert gain_of(twin, own, w, left) == pytest.approx(best, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("missing_x", [0.0, 0.2])
@pytest.mark.parametrize("min_leaf", [1, 3])
@pytest.mark.parametrize("kind", ["whole", "real"])
def test_single_targets_split_at_the_largest_gain(twin, missing_x, min_leaf, kind):
    X, Y = problem(missing_x=missing_x)
    if kind == "real":
        Y += np.random.default_rng(1).random(Y.shape)
    Y[np.random.default_rng(2).random(Y.shape) < 0.2] = np.nan
    batch = ForestBatch(2, bootstrap=False, min_samples_leaf=min_leaf, random_state=0).fit(X, Y)
    for forest in range(3):
        check_splits(twin, batch, forest, X, Y[:, [forest]], min_leaf)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing_x", [0.0, 0.2])
def test_classes_split_by_the_gini_index(twin, n_classes, missing_x):
    X, Y = problem(missing_x=missing_x)
    codes = (Y.astype(int) % (n_classes + 1)) - 1
    batch = ForestBatch(2, bootstrap=False, random_state=0).fit(X, codes, n_classes)
    for forest in range(3):
        indicators = np.eye(n_classes)[codes[:, forest]]
        indicators[codes[:, forest] < 0] = np.nan
        check_splits(twin, batch, forest, X, indicators, 1)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 1000), n=st.integers(1, 60), values=st.integers(1, 300))
def test_leaves_hold_the_mean_of_their_rows(twin, seed, n, values):
    X, Y = problem(seed, n=n, values=values)
    Y[np.random.default_rng(seed).random(Y.shape) < 0.3] = np.nan
    if np.isnan(Y).all():
        return
    batch = ForestBatch(3, max_features=2, random_state=seed).fit(X, Y)
    predicted, each = batch.predict(X), []
    codes = batch.binner_.transform(X)
    for forest in range(3):
        trees = twin.trees_of(batch, forest, codes, ~np.isnan(Y[:, forest]))
        for t in range(3):
            lo, hi = trees.perm_offsets[t : t + 2]
            perm, count = trees.perm[lo:hi], trees.perm_count[lo:hi].astype(float)
            nodes = slice(trees.offsets[t], trees.offsets[t + 1])
            start = np.append(trees.start[nodes], hi - lo)
            for node in np.flatnonzero(trees.right[nodes] < 0):
                rows = slice(start[node], start[node + 1])
                leaf = trees.leaf_offsets[t] - 1 - trees.right[nodes][node]
                value = trees.values[leaf, 0] + batch.low_[forest]
                if hi > lo:
                    mean = np.average(Y[perm[rows], forest], weights=count[rows])
                    assert value == pytest.approx(mean, rel=1e-5)
                each.append(value)
    seen = ~np.isnan(Y).all(axis=0)
    assert np.isfinite(predicted[:, seen]).all()
    assert np.isnan(predicted[:, ~seen]).all()


def test_it_predicts_like_a_forest_for_each_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    Y = X @ rng.normal(size=(5, 3)) + 0.1 * rng.normal(size=(500, 3))
    batch = ForestBatch(40, random_state=0).fit(X[:300], Y[:300])
    for j, predicted in enumerate(batch.predict(X[300:]).T):
        alone = ForestRegressor(40, random_state=0).fit(X[:300], Y[:300, j]).predict(X[300:])
        error, alone_error = (((p - Y[300:, j]) ** 2).mean() for p in (predicted, alone))
        assert error < 1.1 * alone_error


def test_large_offsets_do_not_blur_small_differences():
    X, Y = problem()
    near = ForestBatch(5, random_state=0).fit(X, Y).predict(X)
    far = ForestBatch(5, random_state=0).fit(X, Y + 2.0**40).predict(X)
    np.testing.assert_allclose(far - 2.0**40, near, atol=1e-3)


@pytest.mark.parametrize("classes", [False, True])
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(classes):
    X, Y = problem()
    y = Y.astype(int) % 3 if classes else Y
    batches = [
        ForestBatch(7, random_state=1, n_jobs=j).fit(X, y, 3 if classes else None)
        for j in (1, 2, 5)
    ]
    states = [b.words_.words.tobytes() + b.words_.values.tobytes() for b in batches]
    assert states[0] == states[1] == states[2]
    method = "predict_proba" if classes else "predict"
    answers = [getattr(b, method)(X).tobytes() for b in batches]
    assert answers[0] == answers[1] == answers[2]


def test_pairs_without_rows_or_with_one_class_are_honest():
    X, _ = problem()
    codes = np.full((80, 3), -1)
    codes[:, 1] = 2
    codes[5, 2] = 0
    shares = ForestBatch(5, random_state=0).fit(X, codes, 3).predict_proba(X)
    np.testing.assert_allclose(shares[:, 0], 1 / 3, rtol=1e-6)
    np.testing.assert_array_equal(shares[:, 1], np.tile([0.0, 0.0, 1.0], (80, 1)))
    np.testing.assert_array_equal(shares[:, 2], np.tile([1.0, 0.0, 0.0], (80, 1)))


def test_shares_add_up_where_rows_agree_in_features_but_not_in_class():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    codes = np.tile([0, 1], 20)[:, None]
    shares = ForestBatch(30, random_state=0).fit(X, codes, 2).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=2), 1.0, rtol=1e-6)
    assert ((shares > 0.3) & (shares < 0.7)).all()


def test_intervals_are_the_spread_over_trees(twin):
    X, Y = problem()
    batch = ForestBatch(6, random_state=0).fit(X, Y)
    mean, error = batch.predict_interval(X)
    np.testing.assert_allclose(mean, batch.predict(X), rtol=1e-6)
    trees = twin.trees_of(batch, 1, batch.binner_.transform(X), np.ones(len(X), bool))
    leaves = ForestRegressor(6, random_state=0)
    leaves.trees_, leaves.binner_, leaves.n_features_in_ = trees, batch.binner_, 4
    leaf = trees.leaf_offsets[:-1] - 1 - trees.right[leaves.apply(X) + trees.offsets[:-1]]
    each = trees.values[leaf, 0]
    np.testing.assert_allclose(error[:, 1], each.std(axis=1) / np.sqrt(6), rtol=1e-5, atol=1e-9)


def test_many_features_fit_into_words():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (1500, 5)).astype(float)
    Y = rng.normal(size=(1500, 2))
    wide = np.concatenate([np.zeros((1500, 3000)), X], axis=1)
    for features in (X, wide):
        batch = ForestBatch(2, random_state=0, bootstrap=False).fit(features, Y)
        np.testing.assert_allclose(batch.predict(features), Y, atol=1e-5)


@pytest.mark.parametrize(
    ("y", "n_classes", "message"),
    [
        (np.full((80, 2), 3), 3, "classes from 0 to 2"),
        (np.zeros((80, 2)), 4, "n_classes"),
        (np.zeros((5, 2)), 2, "shape"),
        (np.full((80, 2), np.inf), None, "infinity"),
    ],
)
def test_bad_targets_are_refused(y, n_classes, message):
    X, _ = problem()
    with pytest.raises(ValueError, match=message):
        ForestBatch(2).fit(X, y, n_classes)


def test_asking_for_the_wrong_kind_of_answer_says_so():
    X, Y = problem()
    with pytest.raises(ValueError, match="was fitted on numbers"):
        ForestBatch(2).fit(X, Y).predict_proba(X)
    with pytest.raises(ValueError, match="classes"):
        ForestBatch(2).fit(X, Y.astype(int) % 3, 3).predict(X)
