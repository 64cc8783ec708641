"""A slow, obvious tree to hold the kernels against."""

from __future__ import annotations

import numpy as np
import pytest

MISSING = 255


def squared_error(Y, w):
    """Sum over targets of weighted squared deviations from the mean of the observed values."""
    total = 0.0
    for t in range(Y.shape[1]):
        seen = ~np.isnan(Y[:, t])
        y, v = Y[seen, t], w[seen]
        if v.sum() > 0:
            total += (v * (y - (v * y).sum() / v.sum()) ** 2).sum()
    return total


def best_gain(codes, Y, w, min_leaf):
    """The largest reduction in squared error of any split on any feature, or None."""
    whole, best = squared_error(Y, w), None
    for f in range(codes.shape[1]):
        column = codes[:, f]
        for cut in np.unique(column)[:-1]:
            for missing_left in (False, True):
                left = (column <= cut) | ((column == MISSING) & missing_left)
                if min(left.sum(), (~left).sum()) < min_leaf:
                    continue
                gain = whole - squared_error(Y[left], w[left]) - squared_error(Y[~left], w[~left])
                best = gain if best is None else max(best, gain)
    return best


def walk(trees, tree, codes, rows):
    """Yield (node, rows in it, is leaf, rows going left) for every node of a tree."""
    first = trees.offsets[tree]
    pending = [(0, rows)]
    while pending:
        node, inside = pending.pop()
        at = first + node
        if trees.right[at] < 0:
            yield node, inside, True, None
            continue
        column = codes[inside, trees.feature[at]]
        left = (column <= trees.cut[at]) | ((column == MISSING) & bool(trees.missing_left[at]))
        yield node, inside, False, left
        pending += [(trees.right[at], inside[~left]), (node + 1, inside[left])]


@pytest.fixture
def twin():
    """The slow tree's functions."""

    class Twin:
        squared_error = staticmethod(squared_error)
        best_gain = staticmethod(best_gain)
        walk = staticmethod(walk)

    return Twin
