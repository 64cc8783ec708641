"""Sweeping a block of rows through a tree finds the leaves that walking finds."""

import numpy as np
import pytest

from moreplr.forest import BinnedMatrix
from moreplr.forest.gradient import GradientGrower, sum_of_trees
from moreplr.forest.kernels import traverse
from moreplr.forest.trees import join


def walked(trees, codes):
    out = np.zeros((len(codes), trees.values.shape[1]))
    traverse.add_up(codes, *trees.split_arrays, trees.leaf_offsets, trees.values, out)
    return out


@pytest.mark.parametrize("depth", [1, 3, 12])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sums_equal_those_of_walking(depth, missing):
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(700, 4))
    X[rng.random(X.shape) < missing] = np.nan
    binned = BinnedMatrix.of(X)
    grower = GradientGrower(binned, 3, max_depth=depth)
    gradients, hessians = rng.normal(size=(700, 3)), np.ones((700, 3))
    trees = join([grower.grow(gradients[rng.permutation(700)], hessians)[0] for _ in range(5)])
    if depth == 12:
        assert np.diff(trees.offsets).max() > 256, "a tree must be walked, not swept"
    new = binned.binner.transform(rng.normal(size=(300, 4)))
    for codes in (binned.codes, new, new[:1], new[:0]):
        np.testing.assert_array_equal(sum_of_trees(trees, codes), walked(trees, codes))
    parts = sum_of_trees(trees, new, 0, 2) + sum_of_trees(trees, new, 2)
    np.testing.assert_allclose(parts, walked(trees, new))
