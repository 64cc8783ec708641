"""Which training rows share a leaf, or a larger node, with a given row."""

from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import MISSING


@jit
def ranges(
    codes, asked, offsets, feature, cut, missing_left, right, start, perm_offsets, min_samples,
    out,
):  # fmt: skip
    """Per row and tree the range of `perm` that the row's node covers, (n, n_trees, 2).

    The node is the lowest one on the row's path with at least `min_samples` rows. `asked`
    (n, n_trees) tells which trees may speak, all if it is empty; those that may not get an
    empty range. Gives the length of all ranges together.
    """
    total = 0
    for tree in range(len(offsets) - 1):  # a tree at a time stays in the cache
        first = offsets[tree]
        for row in range(len(codes)):
            node = first
            lo, hi = np.int64(0), perm_offsets[tree + 1] - perm_offsets[tree]
            if len(asked) > 0 and not asked[row, tree]:
                hi = lo
            while lo < hi and right[node] >= 0:
                c = codes[row, feature[node]]
                goes = c <= cut[node] or (c == MISSING and missing_left[node] != 0)
                other = first + right[node]
                middle = np.int64(start[other])
                if goes:
                    if middle - lo < min_samples:
                        break
                    node, hi = node + 1, middle
                else:
                    if hi - middle < min_samples:
                        break
                    node, lo = other, middle
            out[row, tree, 0] = perm_offsets[tree] + lo
            out[row, tree, 1] = perm_offsets[tree] + hi
            total += hi - lo
    return total


@jit
def collect(where, perm, perm_weight, dense, indptr, indices, weights):
    """Members of each row's ranges with weights that add up to 1; gives how many there are.

    Each tree with a range has the same say, shared among its rows by their weight. `dense`
    comes in and goes out as zeros.
    """
    filled = 0
    for row in range(len(where)):
        begin = filled
        trees = 0
        for tree in range(where.shape[1]):
            lo, hi = where[row, tree, 0], where[row, tree, 1]
            if hi <= lo:
                continue
            trees += 1
            mass = 0.0
            for i in range(lo, hi):
                mass += perm_weight[i]
            for i in range(lo, hi):
                member = perm[i]
                if dense[member] == 0.0:
                    indices[filled] = member
                    filled += 1
                dense[member] += perm_weight[i] / mass
        for i in range(begin, filled):
            weights[i] = dense[indices[i]] / trees
            dense[indices[i]] = 0.0
        indptr[row + 1] = filled
    return filled
