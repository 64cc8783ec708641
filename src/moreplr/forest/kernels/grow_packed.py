"""Grow one tree on a single target or on two or three classes, in exact integer arithmetic.

A row is packed into one 64-bit number: its weight in the low bits and its weighted target above
them, or the counts of three classes in 21 bits each. So a row is added to a bin of a histogram by
one addition, and the total of a node follows from that of its parent.

Let N be the weight and S the sum of targets of a node. A split reduces the squared error, or the
Gini index, by D² / (N N_left N_right) with D = S_left N - S N_left.

A node is one 64-bit word, in preorder. A leaf has the top bit set and the number of its value in
the low half. A split has bit 62 set if NaN goes left, the cut in bits 54 to 61, the feature in
bits 32 to 53, and the distance to the right child in the low half.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import splitter_classes
from moreplr.forest.kernels.draw import choose, set_constant
from moreplr.forest.kernels.layout import (
    CLASS_BITS,
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
    START,
    TOP,
)
from moreplr.forest.kernels.llvm import peek, pointer, poke, poke_number, shift
from moreplr.forest.kernels.partition import partition
from moreplr.forest.kernels.random import stream
from moreplr.forest.kernels.splitter_packed import (
    TIE,
    collect,
    number_of,
    scan,
    weight_of,
)

LEAF = np.uint64(1) << np.uint64(63)
_CLASS = np.int64((1 << CLASS_BITS) - 1)
# the largest weight of a row with a class; no bootstrap draws a row that often
MOST_WEIGHT = 63
# with at most this many bins, all of them are visited, however few rows a node has
_FEW = 32


class Packed(NamedTuple):
    """The rows of a tree, and the arrays for its nodes and leaves."""

    cells: Any  # uint8, flat (n, stride): a row's bins, then its number
    words: Any  # uint64 (nodes,)
    totals: Any  # int64 (leaves,): the packed sums of leaves
    numbers: Any  # int64 (256,): the packed number of a byte of class (two low bits) and weight
    small_numbers: Any  # int32 (256,): the same with 10 bits for each class
    stride: int
    n_features: int
    n_bins: int  # the most bins of a feature
    n_classes: int  # 0: the target is a number
    weight_bits: int  # the bits of the weight if the target is a number


class PackedScratch(NamedTuple):
    """Arrays that the kernel writes to; histograms are zero between calls."""

    order: Any  # int32 (n_features,)
    chosen: Any  # int32 (n_features,)
    spare: Any  # int32 (n,)
    sums: Any  # int64, flat (n_features, ROOM)
    counts: Any  # int32, flat (n_features, ROOM)
    occupied: Any  # uint64, flat (n_features, 4)
    few: Any  # int32, flat (n_features, ROOM): histograms of nodes of little weight
    few_others: Any  # the same
    running: Any  # int32, flat (n_features, ROOM)
    gains: Any  # float32, flat (n_features, ROOM)
    largest: Any  # float32 (n_features,)


@inlined
def is_pure(tree, perm, lo, hi, total):
    """Whether all rows of a node have the same target."""
    if tree.n_classes > 0:
        a, b = total & _CLASS, (total >> CLASS_BITS) & _CLASS
        return (a != 0) + (b != 0) + ((total >> (2 * CLASS_BITS)) != 0) <= 1
    mask = (np.int64(1) << tree.weight_bits) - 1
    first = number_of(tree, np.int64(peek(perm, lo)) * tree.stride)
    for i in range(lo + 1, hi):
        other = number_of(tree, np.int64(peek(perm, i)) * tree.stride)
        # compares a / b with c / d without a division
        if (first >> tree.weight_bits) * (other & mask) != (other >> tree.weight_bits) * (
            first & mask
        ):
            return False
    return True


@inlined
def split_densely(tree, scratch, perm, lo, hi, total, whole, max_features, rng, constant):
    """`split` for nodes with so many rows that it is faster to visit all bins, empty or not.

    Arguments and results are those of `split`.
    """
    first, second = np.float32(total & _CLASS), np.float32((total >> CLASS_BITS) & _CLASS)
    gain, feature, last, following, left = np.float32(-1.0), 0, 0, 0, np.int32(0)
    drawn = 0
    while drawn < tree.n_features and gain < 0.0:
        goal = max_features if drawn == 0 else drawn + 1
        n_chosen = choose(
            scratch.order, tree.n_features, scratch.chosen, rng, constant, drawn, goal
        )
        drawn = goal
        splitter_classes.collect(
            tree, perm, lo, hi, scratch.chosen, n_chosen, tree.small_numbers, scratch.few,
            scratch.few_others,
        )  # fmt: skip
        gain, chosen, last, following, left = splitter_classes.best_of(
            tree, scratch, n_chosen, first, second, np.float32(whole)
        )
        feature = np.int64(peek(scratch.chosen, chosen))
        for j in range(n_chosen):
            if peek(scratch.largest, j) < 0.0:
                set_constant(constant, np.int64(peek(scratch.chosen, j)))
    return (
        np.float64(gain),
        feature,
        last,
        following,
        0,
        splitter_classes.unpacked(left, CLASS_BITS),
    )


@inlined
def split(tree, scratch, perm, lo, hi, total, whole, min_leaf, max_features, rng, constant):
    """The best split: gain or -1, feature, last, following, side, and the sum of the left side.

    Parameters
    ----------
    tree, scratch : Packed, PackedScratch
    total : int64, the packed sum of the node
    perm, lo, hi, whole, min_leaf, max_features, rng, constant : see `layout`
    """
    best, best_feature, best_bin, best_next, best_side = -1.0, 0, 0, 0, 0
    best_left = np.int64(0)
    found, drawn = False, 0
    while drawn < tree.n_features and not found:
        goal = max_features if drawn == 0 else drawn + 1
        n_chosen = choose(
            scratch.order, tree.n_features, scratch.chosen, rng, constant, drawn, goal
        )
        drawn = goal
        collect(tree, scratch, perm, lo, hi, n_chosen, min_leaf > 1)
        for j in range(n_chosen):
            gain, last, following, side, left, n_bins = scan(
                tree, scratch, j, hi - lo, total, whole, min_leaf
            )
            f = np.int64(peek(scratch.chosen, j))
            if n_bins == 1:
                set_constant(constant, f)
                continue
            found = True
            if gain > best * TIE:
                best, best_feature, best_side, best_left = gain, f, side, left
                best_bin, best_next = last, following
    return best, best_feature, best_bin, best_next, best_side, best_left


@inlined
def push(stack, sums, top, lo, hi, depth, parent, is_right, total):
    """Put a node on the stack of pending nodes.

    Parameters
    ----------
    stack, sums : pointers to the pending nodes and to their packed sums
    top : int, the place on the stack
    lo, hi : int, the range of the node's rows
    depth : int
    parent : int, the parent's number
    is_right : 1 for a right child, else 0
    total : int64, the packed sum of the node
    """
    at = N_COLUMNS * top
    poke(stack, at + START, np.int32(lo))
    poke(stack, at + END, np.int32(hi))
    poke(stack, at + DEPTH, np.int32(depth))
    poke(stack, at + PARENT, np.int32(parent))
    poke(stack, at + IS_RIGHT, np.int32(is_right))
    poke(sums, top, total)


@jit
def grow_at(
    tree, scratch, perm, limits, seed, rng, stack, sums, n_stack, constant, words, state, budget
):
    """`grow` on pointers.

    The arguments are those of `grow`, with the size of the stack, `n_stack`, and the number of
    words in a bit set of `constant`, `words`.
    """
    spent = 0
    min_leaf, max_features = peek(limits, MIN_LEAF), peek(limits, MAX_FEATURES)
    # 256 bins: some rows lack a feature
    dense = tree.n_classes > 0 and min_leaf == 1 and tree.n_bins < 256
    few = 0 if tree.n_bins <= _FEW else tree.n_bins // 4
    while peek(state, TOP) > 0:
        top = peek(state, TOP) - 1
        if spent > budget or top + 2 >= n_stack:
            return True
        poke(state, TOP, top)
        at = N_COLUMNS * top
        lo, hi = np.int64(peek(stack, at + START)), np.int64(peek(stack, at + END))
        depth, up = np.int64(peek(stack, at + DEPTH)), np.int64(peek(stack, at + PARENT))
        total = peek(sums, top)
        node = peek(state, N_NODES)
        poke(state, N_NODES, node + 1)
        if peek(stack, at + IS_RIGHT):
            poke(tree.words, up, peek(tree.words, up) | np.uint64(node - up))
        m = hi - lo
        best, feature, last, following, side = -1.0, 0, 0, 0, 0
        left = np.int64(0)
        known = shift(constant, words * top)
        enough = m >= peek(limits, MIN_SPLIT) and m >= 2 * min_leaf
        if enough and depth < peek(limits, MAX_DEPTH) and not is_pure(tree, perm, lo, hi, total):
            spent += m * max_features
            stream(seed, node, rng)
            for f in range(tree.n_features):
                poke(scratch.order, f, np.int32(f))
            if dense and m >= few and weight_of(tree, total) < splitter_classes.MOST:
                best, feature, last, following, side, left = split_densely(
                    tree, scratch, perm, lo, hi, total, weight_of(tree, total), max_features,
                    rng, known,
                )  # fmt: skip
            else:
                best, feature, last, following, side, left = split(
                    tree, scratch, perm, lo, hi, total, weight_of(tree, total), min_leaf,
                    max_features, rng, known,
                )  # fmt: skip
        if best < 0.0:
            leaf = peek(state, N_LEAVES)
            poke(state, N_LEAVES, leaf + 1)
            poke(tree.totals, leaf, total)
            poke(tree.words, node, LEAF | np.uint64(leaf))
            continue
        cut = 254 if following == MISSING else (last + following) >> 1
        middle, lacking = partition(
            tree.cells, tree.stride, perm, lo, hi, feature, cut, side, tree.n_bins == 256,
            scratch.spare,
        )  # fmt: skip
        to_left = side if lacking > 0 else np.int64(middle - lo >= hi - middle)
        word = (to_left << 62) | (cut << 54) | (feature << 32)
        poke(tree.words, node, np.uint64(word))
        for i in range(words):
            poke(known, words + i, peek(known, i))
        push(stack, sums, top, middle, hi, depth + 1, node, 1, total - left)
        push(stack, sums, top + 1, lo, middle, depth + 1, node, 0, left)
        poke(state, TOP, top + 2)
    return False


@jit
def grow(tree, scratch, perm, limits, seed, rng, stack, sums, constant, state, budget):
    """Grow until the tree is done or about `budget` (row, feature) visits are spent.

    Return whether there is more to do; the next call then continues.

    Parameters
    ----------
    tree, scratch : Packed, PackedScratch
    perm : int32 array, the rows of the tree
    limits, seed, rng, stack, state : see `layout`
    sums : int64 array, the packed sums of the nodes on the stack
    constant : uint64 array (pending nodes, words), the bit sets of the nodes on the stack
    budget : int
    """
    return grow_at(
        Packed(
            pointer(tree.cells), pointer(tree.words), pointer(tree.totals),
            pointer(tree.numbers), pointer(tree.small_numbers), tree.stride, tree.n_features,
            tree.n_bins, tree.n_classes, tree.weight_bits,
        ),
        PackedScratch(
            pointer(scratch.order), pointer(scratch.chosen), pointer(scratch.spare),
            pointer(scratch.sums), pointer(scratch.counts), pointer(scratch.occupied),
            pointer(scratch.few), pointer(scratch.few_others), pointer(scratch.running),
            pointer(scratch.gains), pointer(scratch.largest),
        ),
        pointer(perm), pointer(limits), seed, pointer(rng), pointer(stack), pointer(sums),
        len(stack), pointer(constant), constant.shape[1], pointer(state), budget,
    )  # fmt: skip


@jit
def take_rows(rows, targets, forest, weight, n_classes, weight_bits, cells, stride, perm):
    """Pack the in-bag rows of a forest; return how many there are, and their sum.

    Parameters
    ----------
    rows : int32 array, the in-bag rows of the tree
    targets : array (n_forests, n), classes or integers from 0; -1 leaves the row out
    forest : int
    weight : array (n,)
    n_classes, weight_bits, stride : as in `Packed`
    cells : uint8 array, to which the rows' numbers are written
    perm : int32 array, to which the places of the rows among `rows` are written
    """
    n, total = 0, np.int64(0)
    place = pointer(cells)
    for i in range(len(rows)):
        target = np.int64(targets[forest, rows[i]])
        if target < 0:
            continue
        w = np.int64(weight[rows[i]])
        if n_classes > 0:
            w = min(w, np.int64(MOST_WEIGHT))
        shifted = CLASS_BITS * target if n_classes > 0 else 0
        number = w << shifted if n_classes > 0 else ((w * target) << weight_bits) + w
        if n_classes > 0:
            poke(place, (i + 1) * stride - 1, np.uint8((w << 2) | target))
        else:
            poke_number(place, (i + 1) * stride - 8, number)
        perm[n] = i
        total += number
        n += 1
    return n, total


@jit
def copy_rows(codes, rows, out, stride):
    """Copy the codes of the in-bag rows to `out`."""
    for i in range(len(rows)):
        for f in range(codes.shape[1]):
            out[i * stride + f] = codes[rows[i], f]
