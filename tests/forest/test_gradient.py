"""Trees on gradients split where a slow search finds the largest gain."""

import numpy as np
import pytest

from moreplr.forest import BinnedMatrix
from moreplr.forest.gradient import GradientGrower, sum_of_trees
from moreplr.forest.trees import join


def problem(seed, n=60, k=3, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (n, 4)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    gradients = rng.normal(size=(n, k)) + np.nan_to_num(X[:, :1] > 3)
    hessians = rng.random((n, k))
    absent = rng.random((n, k)) < 0.2
    gradients[absent], hessians[absent] = 0, 0
    return BinnedMatrix.of(X), gradients, hessians


def worth(gradients, hessians, l2):
    return (gradients.sum(axis=0) ** 2 / (hessians.sum(axis=0) + l2)).sum()


def best_gain(codes, gradients, hessians, l2, least, mass=0.0):
    best = 0.0
    for column in codes.T:
        for cut in np.unique(column)[:-1]:
            for missing_left in (False, True):
                left = (column <= cut) | ((column == 255) & missing_left)
                sides = left, ~left
                if min(side.sum() for side in sides) < least:
                    continue
                if min(hessians[side].sum() for side in sides) < mass:
                    continue
                gain = sum(worth(gradients[side], hessians[side], l2) for side in sides)
                best = max(best, gain - worth(gradients, hessians, l2))
    return best


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("least", "mass"), [(1, 0.0), (4, 0.0), (1, 12.0)])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_splits_gain_most_and_leaves_answer_for_their_rows(twin, missing, least, mass, k):
    for seed in range(3):
        binned, gradients, hessians = problem(seed, k=k, missing=missing)
        counts = np.random.default_rng(seed).integers(0, 3, len(binned)).astype(np.int32)
        inside = np.flatnonzero(counts)
        grower = GradientGrower(
            binned, k, max_depth=3, min_samples_leaf=least, min_hessian=mass, l2=0.5
        )
        trees, leaf = grower.grow(gradients, hessians, counts, seed=seed)
        np.testing.assert_array_equal(
            sum_of_trees(trees, binned.codes), trees.values[leaf].astype(float)
        )
        G, H = gradients * counts[:, None], hessians * counts[:, None]
        levels = np.zeros(len(trees.right), int)
        for node, rows, is_leaf, left in twin.walk(trees, 0, binned.codes, inside):
            best = best_gain(binned.codes[rows], G[rows], H[rows], 0.5, least, mass)
            if is_leaf:
                number = -1 - trees.right[node]
                assert (leaf[rows] == number).all()
                expected = G[rows].sum(axis=0) / (H[rows].sum(axis=0) + 0.5)
                np.testing.assert_allclose(trees.values[number], expected, rtol=1e-5, atol=1e-6)
                assert levels[node] == 3 or best < 1e-4
            else:
                levels[[node + 1, trees.right[node]]] = levels[node] + 1
                gain = worth(G[rows[left]], H[rows[left]], 0.5)
                gain += worth(G[rows[~left]], H[rows[~left]], 0.5)
                gain -= worth(G[rows], H[rows], 0.5)
                assert gain == pytest.approx(best, rel=1e-4, abs=1e-5)


def test_a_grower_forgets_the_trees_before():
    binned, gradients, hessians = problem(0, n=300)
    grower = GradientGrower(binned, 3, max_features=2)
    first = [grower.grow(gradients, hessians, seed=seed)[0] for seed in range(3)]
    grower.grow(-3 * gradients, hessians, features=[1])
    for seed in (2, 0, 1):
        again = grower.grow(gradients, hessians, seed=seed)[0]
        np.testing.assert_array_equal(again.feature, first[seed].feature)
        np.testing.assert_array_equal(again.values, first[seed].values)
    assert len({len(tree.feature) for tree in first}) > 1


def test_a_tree_splits_on_its_features_only():
    binned, gradients, hessians = problem(1, n=300)
    trees, _ = GradientGrower(binned, 3).grow(gradients, hessians, features=[1, 3])
    assert set(trees.feature[trees.right >= 0]) <= {1, 3}
    assert (trees.importance[0, [1, 3]] > 0).all()
    assert (trees.importance[0, [0, 2]] == 0).all()


def test_sums_of_many_trees_are_sums():
    binned, gradients, hessians = problem(2)
    grower = GradientGrower(binned, 3, max_depth=2)
    each = [grower.grow(gradients * rate, hessians)[0] for rate in (1.0, 2.0)]
    expected = sum(sum_of_trees(tree, binned.codes) for tree in each)
    np.testing.assert_allclose(sum_of_trees(join(each), binned.codes), expected)


def test_an_output_without_rows_answers_zero():
    binned, gradients, hessians = problem(3)
    gradients[:, 1], hessians[:, 1] = 0, 0
    trees, _ = GradientGrower(binned, 3, l2=0.0).grow(gradients, hessians)
    assert (trees.values[:, 1] == 0).all()
    assert np.isfinite(trees.values).all()
