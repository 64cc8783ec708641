"""Trees of a batch as one word per node: finish them after growing, and walk down them.

A word of B bits is, from the top: leaf, NaN-goes-left, the cut (8 bits), the feature, and in
the low `offset_bits` the distance to the right child; of a leaf, the number of its value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import config

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import llvm
from moreplr.forest.kernels.grow_packed import LEAF
from moreplr.forest.kernels.layout import CLASS_BITS, MISSING

# What walks down trees that may come from a file; everything else with pointers grows trees.
CHECKED = bool(getattr(config, "BOUNDSCHECK", None))
peek: Any = llvm.checked_peek if CHECKED else llvm.peek
pointer: Any = llvm.checked_pointer if CHECKED else llvm.pointer
_HALF = np.uint64(0xFFFFFFFF)


@jit
def finish_classes(words, n_nodes, totals, n_classes, base, values):
    """Number the leaf values of a classifier: one class alone is its own number.

    Other leaves get a row of shares in `values`; gives how many there are. A leaf without rows
    has the shares `base`.
    """
    n_mixed = 0
    counts = np.empty(3)
    for node in range(n_nodes):
        if not words[node] & LEAF:
            continue
        total = totals[np.int64(words[node] & _HALF)]
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
    """The mean target of each leaf, above the target's least value."""
    mask = (np.int64(1) << weight_bits) - 1
    for leaf in range(n_leaves):
        mass = totals[leaf] & mask
        above = np.float64(totals[leaf] >> weight_bits)
        values[leaf, 0] = step * (above / mass) if mass > 0 else base


@jit
def pack(words, n_nodes, offset_bits, out, at):
    """Write 64-bit words into the words of a batch, which may have 32 bits."""
    top = np.uint64(8 * out.itemsize)
    for i in range(n_nodes):
        word = words[i]
        low = word & _HALF
        if word & LEAF:
            packed = (np.uint64(1) << (top - np.uint64(1))) | low
        else:
            feature = (word >> np.uint64(32)) & np.uint64(0x3FFFFF)
            upper = (word >> np.uint64(54)) & np.uint64(0x1FF)
            packed = (upper << (top - np.uint64(10))) | (feature << np.uint64(offset_bits)) | low
        out[at + i] = packed


@inlined
def descend(words, node, codes, row, leaf_bit, offset_bits):
    """The node of the leaf that a row reaches; `row` is where its codes begin."""
    cut_shift = leaf_bit - np.uint64(9)
    feature_mask = (np.uint64(1) << (cut_shift - offset_bits)) - np.uint64(1)
    offset_mask = (np.uint64(1) << offset_bits) - np.uint64(1)
    word = np.uint64(peek(words, node))
    while not (word >> leaf_bit) & np.uint64(1):
        feature = np.int64((word >> offset_bits) & feature_mask)
        code = np.uint64(peek(codes, row + feature))
        cut = (word >> cut_shift) & np.uint64(255)
        right = code > cut
        if code == np.uint64(MISSING):
            right = not (word >> (leaf_bit - np.uint64(1))) & np.uint64(1)
        node += np.int64(word & offset_mask) if right else 1
        word = np.uint64(peek(words, node))
    return node


@inlined
def descend_four(words, first, codes, row, stride, leaf_bit, offset_bits):
    """The nodes of the leaves that four rows reach, side by side: each step waits for memory."""
    a, b, c, d = first, first, first, first
    before = first - 1
    while before != a + b + c + d:
        before = a + b + c + d
        a += way(words, a, codes, row, leaf_bit, offset_bits)
        b += way(words, b, codes, row + stride, leaf_bit, offset_bits)
        c += way(words, c, codes, row + 2 * stride, leaf_bit, offset_bits)
        d += way(words, d, codes, row + 3 * stride, leaf_bit, offset_bits)
    return a, b, c, d


@inlined
def way(words, node, codes, row, leaf_bit, offset_bits):
    """How far the next node of a row is; 0 in a leaf."""
    one = np.uint64(1)
    cut_shift = leaf_bit - np.uint64(9)
    word = np.uint64(peek(words, node))
    inside = one - ((word >> leaf_bit) & one)
    feature = (word >> offset_bits) & ((one << (cut_shift - offset_bits)) - one)
    code = np.uint64(peek(codes, row + np.int64(feature * inside)))
    right = code > ((word >> cut_shift) & np.uint64(255))
    lacking_right = (word >> (leaf_bit - one)) & one == 0
    right = lacking_right if code == np.uint64(MISSING) else right
    far = word & ((one << offset_bits) - one)
    return np.int64((far if right else one) * inside)


@jit
def apply(words, offset_bits, offsets, codes, n_forests, forest, out):
    """Leaf ids of one forest's trees, (n, n_trees)."""
    leaf_bit = np.uint64(8 * words.itemsize - 1)
    place, rows = pointer(words), pointer(codes)
    n, n_features = codes.shape
    for tree in range(out.shape[1]):
        first = offsets[tree * n_forests + forest]
        for i in range(n):
            node = descend(place, first, rows, i * n_features, leaf_bit, np.uint64(offset_bits))
            out[i, tree] = node - first


@jit
def add_up(
    words, offset_bits, offsets, values, value_offsets, n_shared, codes, n_forests, begin, out
):
    """Add the leaf values of the forests from `begin` on to `out` (forests, n, n_values)."""
    leaf_bit = np.uint64(8 * words.itemsize - 1)
    mask = (np.uint64(1) << leaf_bit) - np.uint64(1)
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
                    place, offsets[at], rows, i * n_features, n_features, leaf_bit,
                    np.uint64(offset_bits),
                )  # fmt: skip
                for r in range(4):
                    value = np.int64(np.uint64(peek(place, four[r])) & mask)
                    add_value(out[j, i + r], value, n_shared, values, extra)
            for i in range(whole, n):
                node = descend(
                    place, offsets[at], rows, i * n_features, leaf_bit, np.uint64(offset_bits)
                )
                value = np.int64(np.uint64(peek(place, node)) & mask)
                add_value(out[j, i], value, n_shared, values, extra)


@jit
def add_up_unseen(
    words, offset_bits, offsets, values, value_offsets, n_shared, codes, n_forests, begin, unseen,
    out,
):  # fmt: skip
    """Like `add_up`, of the trees only that `unseen` (n, n_trees) names for a row."""
    leaf_bit = np.uint64(8 * words.itemsize - 1)
    mask = (np.uint64(1) << leaf_bit) - np.uint64(1)
    place, rows = pointer(words), pointer(codes)
    n, n_features = codes.shape
    for j in range(out.shape[0]):
        for tree in range(unseen.shape[1]):
            at = tree * n_forests + begin + j
            extra = value_offsets[at] - n_shared
            for i in range(n):
                if unseen[i, tree]:
                    node = descend(
                        place, offsets[at], rows, i * n_features, leaf_bit, np.uint64(offset_bits)
                    )
                    value = np.int64(np.uint64(peek(place, node)) & mask)
                    add_value(out[j, i], value, n_shared, values, extra)


@inlined
def add_value(out, value, n_shared, values, extra):
    """Add the value of a leaf, which is one of the shared ones or the tree's own."""
    if value >= n_shared:
        for c in range(len(out)):
            out[c] += values[value + extra, c]
    else:
        out[value] += 1.0


@jit
def spread(
    words, offset_bits, offsets, values, value_offsets, codes, n_forests, begin, total, mean, sq
):
    """The sum over the trees, their mean and squared deviations from it, (forests, n).

    Of single targets; the sum is that of `add_up`, the mean is updated tree by tree.
    """
    leaf_bit = np.uint64(8 * words.itemsize - 1)
    mask = (np.uint64(1) << leaf_bit) - np.uint64(1)
    place, rows = pointer(words), pointer(codes)
    n, n_features = codes.shape
    n_trees = (len(offsets) - 1) // n_forests
    for j in range(mean.shape[0]):
        for tree in range(n_trees):
            at = tree * n_forests + begin + j
            for i in range(n):
                node = descend(
                    place, offsets[at], rows, i * n_features, leaf_bit, np.uint64(offset_bits)
                )
                leaf = np.int64(np.uint64(peek(place, node)) & mask)
                value = np.float64(values[value_offsets[at] + leaf, 0])
                total[j, i] += value
                away = value - mean[j, i]
                mean[j, i] += away / (tree + 1)
                sq[j, i] += away * (value - mean[j, i])


@jit
def unpack(words, begin, end, offset_bits, feature, cut, missing_left, right):
    """The words of one tree as the arrays of `Trees`."""
    top = np.uint64(8 * words.itemsize)
    offset = np.uint64(offset_bits)
    one = np.uint64(1)
    for i in range(end - begin):
        word = np.uint64(words[begin + i])
        feature[i], cut[i], missing_left[i] = 0, 0, 0
        if (word >> (top - one)) & one:
            right[i] = -1 - np.int64(word & ((one << (top - one)) - one))
            continue
        feature[i] = (word >> offset) & ((one << (top - np.uint64(10) - offset)) - one)
        cut[i] = (word >> (top - np.uint64(10))) & np.uint64(255)
        missing_left[i] = (word >> (top - np.uint64(2))) & one
        right[i] = i + np.int64(word & ((one << offset) - one))
