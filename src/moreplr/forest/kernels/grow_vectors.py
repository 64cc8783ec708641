"""Grow one regression tree on vector targets, in slices, so that a caller can stop in between.

Rows of a tree lie in `perm`; each node is a contiguous range of it, and a split reorders its
range into left and right. Nodes are numbered in preorder: the left child of node i is i + 1,
and `right[i]` is the other one, or -1 - leaf for a leaf.

Targets are centred on the node's means while its split is searched. The reduction in squared
error of a split then needs the sums of one side only,

    sum over targets of S² N / (N_left N_right),

and single precision is enough. How the sums come about depends on the size of the node: large
nodes have histograms, medium ones are sorted, tiny ones have a table of subsets.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import splitter_histogram, splitter_sort, splitter_subset, vectors
from moreplr.forest.kernels.layout import (
    DEPTH,
    END,
    IS_RIGHT,
    MAX_DEPTH,
    MAX_FEATURES,
    MIN_LEAF,
    MIN_SPLIT,
    MISSING,
    N_COLUMNS,
    N_LEAVES,
    N_NODES,
    PARENT,
    PURE,
    SLOT,
    START,
    TOP,
    Nodes,
)
from moreplr.forest.kernels.llvm import peek, pointer, poke, shift
from moreplr.forest.kernels.partition import partition
from moreplr.forest.kernels.random import stream
from moreplr.forest.kernels.records import (
    centre,
    centre_row,
    rows_at,
    scratch_at,
    squares_of,
    width_of,
)


@jit
def measure(rows, scratch, perm, lo, hi):
    """Totals and means of a node; gives its weight, squares, and about its squared deviations."""
    width = width_of(rows)
    whole, around = 0.0, 0.0
    # two running sums: each addition waits for the one before
    vectors.fill(scratch.total, 0, np.float32(0.0), width // 8)
    vectors.fill(scratch.running, 0, np.float32(0.0), width // 8)
    for i in range(lo, hi - 1, 2):
        row, other = np.int64(peek(perm, i)), np.int64(peek(perm, i + 1))
        whole += peek(rows.weight, row) + peek(rows.weight, other)
        around += peek(rows.squares, row) + peek(rows.squares, other)
        vectors.add(scratch.total, 0, rows.records, row * width, width // 8)
        vectors.add(scratch.running, 0, rows.records, other * width, width // 8)
    if (hi - lo) & 1:
        row = np.int64(peek(perm, hi - 1))
        whole += peek(rows.weight, row)
        around += peek(rows.squares, row)
        vectors.add(scratch.total, 0, rows.records, row * width, width // 8)
    vectors.add(scratch.total, 0, scratch.running, 0, width // 8)
    return np.float32(whole), around, around - average(rows, scratch, whole)


@inlined
def average(rows, scratch, whole):
    """Means from the totals of a node; gives the squares that they account for."""
    steps = rows.steps
    lanes = 8 * steps
    if rows.masked:
        vectors.means(
            scratch.mean, scratch.inverse, scratch.root, scratch.total, scratch.total, lanes,
            steps,
        )  # fmt: skip
        return np.float64(vectors.spread(scratch.total, 0, scratch.total, lanes, steps))
    poke(scratch.total, rows.n_targets, np.float32(0.0))
    vectors.scaled(scratch.mean, 0, scratch.total, 0, np.float32(1.0 / whole), steps)
    # so that nothing is left of the weights when the mean is taken off
    poke(scratch.mean, rows.n_targets, rows.unit)
    return vectors.squares(scratch.total, 0, steps) / whole


@jit
def deviate(rows, scratch, perm, lo, hi):
    """The squared deviations of a node of any size."""
    spread = 0.0
    for i in range(lo, hi):
        row = np.int64(peek(perm, i))
        centre_row(rows, scratch, row, 0)
        spread += squares_of(rows, scratch, row, 0)
    return spread


@inlined
def split(rows, scratch, perm, lo, m, limits, seed, node, rng, constant, slot, state, large):
    """The best split of a node of m rows: gain or -1, feature, bins around the cut, NaN left.

    The last answer is the slot of its histograms, if any.
    """
    min_leaf = peek(limits, MIN_LEAF)
    max_features = peek(limits, MAX_FEATURES)
    best, feature, last, following, side = np.float32(-1.0), 0, 0, 0, 0
    whole, around, spread = measure(rows, scratch, perm, lo, lo + m)
    if m < large:
        spread = centre(rows, scratch, perm, lo, m)
    elif spread < 1e-4 * around:
        spread = deviate(rows, scratch, perm, lo, lo + m)
    if spread <= PURE * around:
        return best, feature, last, following, side, slot
    # the node's own stream and order: what other nodes drew does not matter
    stream(seed, node, rng)
    for f in range(rows.n_features):
        poke(scratch.order, f, np.int32(f))
    if m <= splitter_subset.MOST:
        best, feature, last, following, side = splitter_subset.split(
            rows, scratch, m, whole, min_leaf, max_features, rng, constant
        )
    elif m < large:
        best, feature, last, following, side = splitter_sort.split(
            rows, scratch, m, whole, min_leaf, max_features, rng, constant
        )
    else:
        made = slot >= 0
        if not made:
            slot = splitter_histogram.obtain(scratch.free, state)
        best, feature, last, following, side = splitter_histogram.split(
            rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng, constant, slot, made
        )
    return best, feature, last, following, side, slot


@inlined
def push(stack, top, lo, hi, depth, parent, is_right, slot):
    """Put a node on the stack of those that are to be grown."""
    at = N_COLUMNS * top
    poke(stack, at + START, np.int32(lo))
    poke(stack, at + END, np.int32(hi))
    poke(stack, at + DEPTH, np.int32(depth))
    poke(stack, at + PARENT, np.int32(parent))
    poke(stack, at + IS_RIGHT, np.int32(is_right))
    poke(stack, at + SLOT, np.int32(slot))


@inlined
def leaf(nodes, node, state):
    """Make a node a leaf."""
    poke(nodes.feature, node, np.uint16(0))
    poke(nodes.cut, node, np.uint8(0))
    poke(nodes.missing_left, node, np.uint8(0))
    n_leaves = peek(state, N_LEAVES)
    poke(nodes.right, node, np.int32(-1 - n_leaves))
    poke(state, N_LEAVES, n_leaves + 1)


@jit
def grow(
    rows, nodes, scratch, perm, limits, seed, rng, stack, constant, state, importance, large,
    budget,
):  # fmt: skip
    """Grow until the tree is done or about `budget` (row, feature) visits are spent.

    Everything lives in the arrays, so that the next call goes on where this one stopped.
    Nodes of `large` rows or more have histograms. Gives True while there is more to do.
    """
    n_stack, words = len(stack), constant.shape[1]
    rows, scratch = rows_at(rows), scratch_at(scratch)
    nodes = Nodes(
        pointer(nodes.feature), pointer(nodes.cut), pointer(nodes.missing_left),
        pointer(nodes.right), pointer(nodes.start),
    )  # fmt: skip
    perm, limits, rng, state = pointer(perm), pointer(limits), pointer(rng), pointer(state)
    stack, constant, importance = pointer(stack), pointer(constant), pointer(importance)
    spent = 0
    all_features = peek(limits, MAX_FEATURES) == rows.n_features
    while peek(state, TOP) > 0:
        top = peek(state, TOP) - 1
        if spent > budget or top + 2 >= n_stack:
            return True
        poke(state, TOP, top)
        at = N_COLUMNS * top
        lo, hi = np.int64(peek(stack, at + START)), np.int64(peek(stack, at + END))
        depth, up = np.int64(peek(stack, at + DEPTH)), np.int64(peek(stack, at + PARENT))
        slot = np.int64(peek(stack, at + SLOT))
        node = peek(state, N_NODES)
        poke(state, N_NODES, node + 1)
        if peek(stack, at + IS_RIGHT):
            poke(nodes.right, up, np.int32(node))
        poke(nodes.start, node, np.int32(lo))
        m = hi - lo
        best, feature, last, following, side = np.float32(-1.0), 0, 0, 0, 0
        known = shift(constant, words * top)
        enough = m >= peek(limits, MIN_SPLIT) and m >= 2 * peek(limits, MIN_LEAF)
        if enough and depth < peek(limits, MAX_DEPTH):
            spent += m * peek(limits, MAX_FEATURES)
            best, feature, last, following, side, slot = split(
                rows, scratch, perm, lo, m, limits, seed, node, rng, known, slot, state, large
            )
        if best < 0.0:
            leaf(nodes, node, state)
            if slot >= 0:
                splitter_histogram.release(scratch.free, state, slot)
            continue
        # between two occupied bins the cut is in the middle; NaN alone leaves every value left
        cut = 254 if following == MISSING else (last + following) >> 1
        middle, lacking = partition(
            rows.cells, rows.n_features, perm, lo, hi, feature, cut, side,
            peek(rows.bins, feature + 1) - peek(rows.bins, feature) == 256, scratch.spare,
        )  # fmt: skip
        poke(nodes.feature, node, np.uint16(feature))
        poke(nodes.cut, node, np.uint8(cut))
        to_left = side if lacking > 0 else np.int64(middle - lo >= hi - middle)
        poke(nodes.missing_left, node, np.uint8(to_left))
        poke(importance, feature, peek(importance, feature) + best)
        for word in range(words):
            poke(known, words + word, peek(known, word))
        left_slot, right_slot = np.int64(-1), np.int64(-1)
        if slot >= 0 and all_features:
            left_slot, right_slot = splitter_histogram.share(
                rows, scratch, perm, lo, middle, hi, known, slot, state, large
            )
        elif slot >= 0:
            splitter_histogram.release(scratch.free, state, slot)
        push(stack, top, middle, hi, depth + 1, node, 1, right_slot)
        push(stack, top + 1, lo, middle, depth + 1, node, 0, left_slot)
        poke(state, TOP, top + 2)
    return False
