"""Send rows down the trees of a forest and add up the values of their leaves.

Arguments of these names mean the same in all functions:

codes
    The binned rows, a uint8 array (n, n_features).
offsets, feature, cut, missing_left, right, leaf_offsets, values
    The arrays of `Trees`.
rows
    The numbers of the rows to be sent down.
out
    The array to which results are written, or added.
"""

from __future__ import annotations

from moreplr._jit import jit
from moreplr.forest.kernels.layout import MISSING


@jit
def descend(codes, row, feature, cut, missing_left, right, first):
    """The leaf that a row reaches, as a node number within the tree whose root is `first`.

    The other arguments are described in the module's docstring.
    """
    node = first
    while right[node] >= 0:
        c = codes[row, feature[node]]
        goes = c <= cut[node] or (c == MISSING and missing_left[node] != 0)
        node = node + 1 if goes else first + right[node]
    return node - first


@jit
def apply(codes, offsets, feature, cut, missing_left, right, out):
    """Write the node number of each row's leaf in each tree to `out` (n, n_trees).

    Arguments are described in the module's docstring.
    """
    for tree in range(len(offsets) - 1):
        first = offsets[tree]
        for row in range(len(codes)):
            out[row, tree] = descend(codes, row, feature, cut, missing_left, right, first)


@jit
def add_up(codes, offsets, feature, cut, missing_left, right, leaf_offsets, values, out):
    """Add each tree's leaf values to `out` (n, k).

    Arguments are described in the module's docstring.
    """
    for tree in range(len(offsets) - 1):
        first = offsets[tree]
        for row in range(len(codes)):
            node = first + descend(codes, row, feature, cut, missing_left, right, first)
            leaf = leaf_offsets[tree] - 1 - right[node]
            for t in range(values.shape[1]):
                out[row, t] += values[leaf, t]


@jit
def spread(
    codes, offsets, feature, cut, missing_left, right, leaf_offsets, values, total, mean, square
):
    """Write the sum over the trees, as in `add_up`, their mean, and squared deviations from it.

    `total`, `mean` and `square` are (n, k) and zero before; the other arguments are described in
    the module's docstring. The mean is updated tree by tree, so that it is rounded differently.
    """
    for tree in range(len(offsets) - 1):
        first = offsets[tree]
        for row in range(len(codes)):
            node = first + descend(codes, row, feature, cut, missing_left, right, first)
            leaf = leaf_offsets[tree] - 1 - right[node]
            for t in range(values.shape[1]):
                total[row, t] += values[leaf, t]
                away = values[leaf, t] - mean[row, t]
                mean[row, t] += away / (tree + 1)
                square[row, t] += away * (values[leaf, t] - mean[row, t])


@jit
def out_of_bag(
    codes, rows, tree, offsets, feature, cut, missing_left, right, leaf_offsets, values, out, count
):
    """Add the leaf values of `tree` to `out` for rows that it did not draw, and 1 to `count`.

    The other arguments are described in the module's docstring.
    """
    first = offsets[tree]
    for row in rows:
        node = first + descend(codes, row, feature, cut, missing_left, right, first)
        leaf = leaf_offsets[tree] - 1 - right[node]
        count[row] += 1
        for t in range(values.shape[1]):
            out[row, t] += values[leaf, t]


@jit
def leaves(codes, rows, offsets, feature, cut, missing_left, right, out):
    """Write the number of the leaf of each given row, in the first tree, to `out`.

    Arguments are described in the module's docstring.
    """
    for row in rows:
        node = offsets[0] + descend(codes, row, feature, cut, missing_left, right, offsets[0])
        out[row] = -1 - right[node]
