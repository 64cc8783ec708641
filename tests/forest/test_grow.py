"""Trees split where a slow NumPy tree finds the largest gain."""

import numpy as np
import pytest

from moreplr.forest import ForestRegressor


def data(seed, missing_y=0.0, missing_x=0.0, n=40, k=3, values=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, 4)).astype(float)
    Y = rng.integers(1, 5, (n, k)) + (X[:, :1] > 2)
    Y = Y.astype(float)
    Y[rng.random(Y.shape) < missing_y] = np.nan
    X[rng.random(X.shape) < missing_x] = np.nan
    return X, Y


@pytest.mark.parametrize("missing_y", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("missing_x", [0.0, 0.2])
@pytest.mark.parametrize("min_leaf", [1, 3])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_every_split_has_the_largest_gain(twin, missing_y, missing_x, min_leaf, k):
    for seed in range(3):
        X, Y = data(seed, missing_y, missing_x, k=k)
        weight = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
        forest = ForestRegressor(
            2, bootstrap=False, min_samples_leaf=min_leaf, random_state=seed
        ).fit(X, Y, sample_weight=weight)
        observed = np.flatnonzero(~np.isnan(Y).all(axis=1))
        for tree in range(2):
            for _, rows, leaf, left in twin.walk(forest.trees_, tree, forest.codes_, observed):
                y, w, codes = Y[rows], weight[rows], forest.codes_[rows]
                best = twin.best_gain(codes, y, w, min_leaf)
                whole = twin.squared_error(y, w)
                if leaf:
                    assert best is None or whole < 1e-8
                else:
                    gain = (
                        whole
                        - twin.squared_error(y[left], w[left])
                        - twin.squared_error(y[~left], w[~left])
                    )
                    assert gain == pytest.approx(best, rel=1e-4, abs=1e-5)


def test_missing_features_without_any_in_training_follow_the_larger_child():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    forest = ForestRegressor(1, bootstrap=False).fit(X, [0.0, 0.0, 0.0, 5.0])
    assert forest.predict([[np.nan]]) == 0.0


def test_missing_features_can_be_told_apart_from_all_values():
    X = np.array([[0.0], [1.0], [2.0], [np.nan], [np.nan]])
    y = np.array([0.0, 0.0, 0.0, 7.0, 7.0])
    forest = ForestRegressor(1, bootstrap=False).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X), y)
    assert forest.predict([[99.0]]) == 0.0


def test_only_as_many_features_as_asked_for_are_looked_at():
    rng = np.random.default_rng(0)
    X = rng.random((200, 20))
    y = X[:, 0] * 10
    roots = [
        ForestRegressor(50, max_features=share, max_depth=1, random_state=0).fit(X, y)
        for share in (1.0, 1)
    ]
    best, drawn = (np.unique(r.trees_.feature[r.trees_.offsets[:-1]]) for r in roots)
    assert best.tolist() == [0]
    assert len(drawn) > 10


def test_depth_and_node_size_are_limited():
    X, Y = data(0, n=200, values=50)
    forest = ForestRegressor(3, max_depth=2, random_state=0).fit(X, Y)
    assert (np.diff(forest.trees_.offsets) <= 7).all()
    forest = ForestRegressor(3, min_samples_split=50, bootstrap=False, random_state=0).fit(X, Y)
    inner = forest.trees_.right >= 0
    ends = []
    for tree in range(3):
        nodes = slice(forest.trees_.offsets[tree], forest.trees_.offsets[tree + 1])
        right, start = forest.trees_.right[nodes], forest.trees_.start[nodes]
        leaf_starts = start[right < 0]
        ends += [np.diff(np.append(leaf_starts, 200)).sum()]
    assert ends == [200, 200, 200]
    assert inner.any()
