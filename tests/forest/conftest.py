"""A slow, obvious tree to hold the kernels against."""

from __future__ import annotations

import numpy as np
import pytest

from moreplr.forest.growing import counts_of
from moreplr.forest.trees import Trees, join

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


def trees_of(batch, forest, codes, part):
    """One forest of a batch as `Trees`: its words read bit by bit, its rows sent down again."""
    return join([_tree_of(batch, forest, t, codes, part) for t in range(batch.n_estimators)])


def _tree_of(batch, forest, tree, codes, part):
    draws = len(codes) if batch.bootstrap else None
    counts = counts_of(batch.seeds_[tree], len(codes), draws) * part
    number = tree * batch.n_forests_ + forest
    own = batch.words_
    words = own.words[own.offsets[number] : own.offsets[number + 1]]
    low, leaf = (words & 0xFFFFFFFF).astype(np.int64), words >> 63 == 1
    nodes = np.arange(len(words))
    values = own.values[own.value_offsets[number] : own.value_offsets[number + 1]]
    # Of a classifier, a leaf of one class has the number of this class.
    table = np.concatenate([np.eye(batch.n_classes_, values.shape[1]), values])
    trees = Trees(
        offsets=np.array([0, len(words)]),
        feature=np.where(leaf, 0, words >> 32 & 0x3FFFFF).astype(np.uint16),
        cut=np.where(leaf, 0, words >> 54 & 0xFF).astype(np.uint8),
        missing_left=np.where(leaf, 0, words >> 62 & 1).astype(np.uint8),
        right=np.where(leaf, -np.cumsum(leaf), nodes + low).astype(np.int32),
        start=np.zeros(len(words), np.int32),
        leaf_offsets=np.array([0, leaf.sum()]),
        values=table[low[leaf]].astype(np.float32),
        perm_offsets=np.array([0, (counts > 0).sum()]),
        perm=np.flatnonzero(counts).astype(np.int32),
        perm_count=np.empty(0, np.uint8),
        importance=np.zeros((1, codes.shape[1])),
    )
    inside = {node: rows for node, rows, _, _ in walk(trees, 0, codes, trees.perm)}
    trees.start[1:] = np.cumsum([len(inside[node]) if leaf[node] else 0 for node in nodes])[:-1]
    trees.perm = np.concatenate([inside[node] for node in np.flatnonzero(leaf)])
    trees.perm_count = counts[trees.perm].astype(np.uint8)
    return trees


@pytest.fixture
def twin():
    """The slow tree's functions."""

    class Twin:
        squared_error = staticmethod(squared_error)
        best_gain = staticmethod(best_gain)
        walk = staticmethod(walk)
        trees_of = staticmethod(trees_of)

    return Twin
