"""Grow one regression tree on vector targets, in slices, so that a caller can stop in between.

The rows of a node are a contiguous range of `perm`, and a split reorders the range into left and
right. Nodes are numbered in preorder: the left child of node i is i + 1, and `right[i]` is the
right child, or -1 - leaf for a leaf.

Targets are centred on the node's means while a split is searched. The reduction in squared error
of a split then needs the sums S of one side only,

    sum over targets of S² N / (N_left N_right),

and single precision is enough. The sums are computed in one of three ways: by histograms in large
nodes, by sorting in medium ones, and by a table of all subsets in tiny ones.
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
    """Compute the totals and means of a node; return weight, squares, about squared deviations."""
    width = width_of(rows)
    whole, around = 0.0, 0.0
    # two running sums, since each addition waits for the one before
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
    """Compute the means from the totals of a node; return the squares that they explain."""
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
    # so that the lane of the weights becomes 0 when the mean is subtracted
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
    """The best split: gain or -1, feature, last, following, side, and the slot, -1 if none.

    Arguments are those of `layout`.
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
    # a random stream for each node: draws do not depend on the order of nodes
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
    """Put a node on the stack of pending nodes.

    Parameters
    ----------
    stack : pointer to the pending nodes
    top : int, the place on the stack
    lo, hi : int, the range of the node's rows
    depth : int
    parent : int, the parent's number
    is_right : 1 for a right child, else 0
    slot : int, the slot of the node's histograms, -1 if none
    """
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

    Return whether there is more to do; the next call then continues.

    Parameters
    ----------
    rows, nodes, scratch : Rows, Nodes, Scratch
    perm : int32 array, the rows of the tree
    limits, seed, rng, stack, state, large : see `layout`
    constant : uint64 array (pending nodes, words), the bit sets of the nodes on the stack
    importance : float64 array (n_features,), to which gains are added
    budget : int
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
        # The cut is in the middle of two occupied bins; if NaN alone goes right, beyond all bins.
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
