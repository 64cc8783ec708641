"""Finish the trees of a batch after growing, and send rows down them.

A node is one word, as in `grow_packed`. The low half of a leaf's word is the number of its value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import config

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import llvm
from moreplr.forest.kernels.grow_packed import LEAF
from moreplr.forest.kernels.layout import CLASS_BITS, MISSING

# Trees may come from a file, so bounds are checked here if numba is told to check them.
CHECKED = bool(getattr(config, "BOUNDSCHECK", None))
peek: Any = llvm.checked_peek if CHECKED else llvm.peek
pointer: Any = llvm.checked_pointer if CHECKED else llvm.pointer
_ONE = np.uint64(1)
_LEAF_BIT, _MISSING_BIT, _CUT_BIT = np.uint64(63), np.uint64(62), np.uint64(54)
_FEATURE_BIT = np.uint64(32)
_CUTS, _FEATURES, LOW = np.uint64(0xFF), np.uint64(0x3FFFFF), np.uint64(0xFFFFFFFF)


@jit
def finish_classes(words, n_nodes, totals, n_classes, base, values):
    """Number the leaf values of a classifier, and return how many leaves have several classes.

    A leaf with one class gets the number of the class. Other leaves get a row of `values`, with
    the shares of the classes.

    Parameters
    ----------
    words : uint64 array, the nodes
    n_nodes, n_classes : int
    totals : int64 array, the packed sums of the leaves
    base : array (n_classes,), the shares of a leaf without rows
    values : array, to which shares are written
    """
    n_mixed = 0
    counts = np.empty(3)
    for node in range(n_nodes):
        if not words[node] & LEAF:
            continue
        total = totals[np.int64(words[node] & LOW)]
        whole, only, classes = 0.0, 0, 0
        for c in range(3):
            counts[c] = (total >> (CLASS_BITS * c)) & ((1 << CLASS_BITS) - 1)
            whole += counts[c]
            if counts[c] > 0:
                only = c
                classes += 1
        if classes == 1:
            words[node] = LEAF | np.uint64(only)
            continue
        words[node] = LEAF | np.uint64(n_classes + n_mixed)
        for c in range(n_classes):
            values[n_mixed, c] = counts[c] / whole if whole > 0.0 else base[c]
        n_mixed += 1
    return n_mixed


@jit
def finish_target(totals, n_leaves, weight_bits, step, base, values):
    """Write the mean target of each leaf, minus the least target, to `values`.

    Parameters
    ----------
    totals : int64 array, the packed sums of the leaves
    n_leaves, weight_bits : int
    step : float, the unit of the target
    base : float, the value of a leaf without rows
    values : array (n_leaves, 1)
    """
    mask = (np.int64(1) << weight_bits) - 1
    for leaf in range(n_leaves):
        mass = totals[leaf] & mask
        above = np.float64(totals[leaf] >> weight_bits)
        values[leaf, 0] = step * (above / mass) if mass > 0 else base


@inlined
def descend(words, node, codes, row):
    """The node of the leaf that a row reaches; `row` is where its codes begin."""
    far = way(words, node, codes, row)
    while far != 0:
        node += far
        far = way(words, node, codes, row)
    return node


@inlined
def descend_four(words, first, codes, row, stride):
    """The nodes of the leaves that four rows reach, side by side to overlap memory accesses."""
    a, b, c, d = first, first, first, first
    before = first - 1
    while before != a + b + c + d:
        before = a + b + c + d
        a += way(words, a, codes, row)
        b += way(words, b, codes, row + stride)
        c += way(words, c, codes, row + 2 * stride)
        d += way(words, d, codes, row + 3 * stride)
    return a, b, c, d


@inlined
def way(words, node, codes, row):
    """The distance to the next node of a row, 0 in a leaf."""
    word = peek(words, node)
    inside = _ONE - (word >> _LEAF_BIT)
    feature = ((word >> _FEATURE_BIT) & _FEATURES) * inside
    code = np.uint64(peek(codes, row + np.int64(feature)))
    right = code > ((word >> _CUT_BIT) & _CUTS)
    lacking_right = (word >> _MISSING_BIT) & _ONE == 0
    right = lacking_right if code == np.uint64(MISSING) else right
    return np.int64(((word & LOW) if right else _ONE) * inside)


@jit
def add_up(words, offsets, values, value_offsets, n_shared, codes, n_forests, begin, out):
    """Add the leaf values of the forests from `begin` on to `out` (forests, n, n_values).

    Parameters
    ----------
    words, offsets, values, value_offsets : as in `Words`
    n_shared : int, the number of classes, which are the values below it
    codes : uint8 array (n, n_features)
    n_forests : int, of the batch
    begin : int, the first forest
    out : float64 array
    """
    place, rows = pointer(words), pointer(codes)
    n, n_features = codes.shape
    n_trees = (len(offsets) - 1) // n_forests
    for j in range(out.shape[0]):
        for tree in range(n_trees):
            at = tree * n_forests + begin + j
            extra = value_offsets[at] - n_shared
            whole = n - n % 4
            for i in range(0, whole, 4):
                four = descend_four(
                    place, offsets[at], rows, i * n_features, n_features)  # fmt: skip
                for r in range(4):
                    value = np.int64(peek(place, four[r]) & LOW)
                    add_value(out[j, i + r], value, n_shared, values, extra)
            for i in range(whole, n):
                node = descend(place, offsets[at], rows, i * n_features)
                value = np.int64(peek(place, node) & LOW)
                add_value(out[j, i], value, n_shared, values, extra)


@inlined
def add_value(out, value, n_shared, values, extra):
    """Add the value of a leaf: a single class, or one of the tree's own values."""
    if value >= n_shared:
        for c in range(len(out)):
            out[c] += values[value + extra, c]
    else:
        out[value] += 1.0


@jit
def spread(words, offsets, values, value_offsets, codes, n_forests, begin, total, mean, sq):
    """Write the sum over the trees, their mean and squared deviations from it, for regression.

    Arguments are those of `add_up`; `total`, `mean` and `sq` are (forests, n) and zero before.
    The mean is updated tree by tree.
    """
    place, rows = pointer(words), pointer(codes)
    n, n_features = codes.shape
    n_trees = (len(offsets) - 1) // n_forests
    for j in range(mean.shape[0]):
        for tree in range(n_trees):
            at = tree * n_forests + begin + j
            for i in range(n):
                node = descend(place, offsets[at], rows, i * n_features)
                leaf = np.int64(peek(place, node) & LOW)
                value = np.float64(values[value_offsets[at] + leaf, 0])
                total[j, i] += value
                away = value - mean[j, i]
                mean[j, i] += away / (tree + 1)
                sq[j, i] += away * (value - mean[j, i])
