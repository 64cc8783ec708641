"""Grow one tree of given depth on gradients and Hessians of many outputs.

Let G be the sum of negative gradients and H the sum of Hessians of an output. The worth of a node
is the sum of G² / (H + l2) over the outputs, the gain of a split is the worth of its two sides
minus that of the node, and the value of a leaf is G / (H + l2).

Gradients and Hessians are integers here, so that their sums are exact. The histogram of the
larger child is then exactly the parent's minus the smaller child's, empty bins hold zeros, and the
order of additions does not matter.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels.layout import MISSING
from moreplr.forest.kernels.llvm import pointer
from moreplr.forest.kernels.random import below, stream

# a gain is a rounding error if it is at most this share of the node's worth
_ROUNDING = np.float32(1e-6)


class Rows(NamedTuple):
    """The training rows of all trees, and the gradients and features of one tree."""

    codes: Any  # uint8 (n, n_features)
    bins: Any  # int64 (n_features + 1,): where a feature's bins begin in a histogram
    records: Any  # int32 (n, 2 * n_outputs): gradients, then Hessians
    features: Any  # int32: those that the tree may split on


class Limits(NamedTuple):
    """When to stop splitting, in the units of `Rows.records`."""

    depth: int
    rows: int  # least rows of a leaf
    mass: np.float32  # least sum of a leaf's Hessians over all outputs
    l2: np.float32
    n_drawn: int  # features that a split draws


class Nodes(NamedTuple):
    """The tree, in preorder: see `Trees`."""

    feature: Any
    cut: Any
    missing_left: Any
    right: Any


class Scratch(NamedTuple):
    """Arrays that the kernel writes to; they are reused for the next tree."""

    perm: Any  # int32 (n,): the rows of a node are a range of it
    spare: Any  # int32 (n,)
    order: Any  # int32 (n_features,)
    sums: Any  # int32 (slots, bins, 2 * n_outputs): histograms; zeros between calls
    counts: Any  # int32 (slots, bins): the rows in each bin; zeros between calls
    free: Any  # int64 (slots,)
    stack: Any  # int64 (pending nodes, 6)
    totals: Any  # int32 (pending nodes, 2 * n_outputs)
    running: Any  # int32 (2 * n_outputs,)


_LO, _HI, _DEPTH, _PARENT, _SLOT = 0, 1, 2, 3, 4
_NO_SLOT = -1


@jit
def grow(rows, n, limits, seed, nodes, scratch, sums_of_leaves, leaf_of, importance):
    """Grow a tree on the first n rows of `scratch.perm`; return the numbers of nodes and leaves.

    Nodes are split depth first, so that at most one histogram for each level is in use.

    Parameters
    ----------
    rows, limits, nodes, scratch : Rows, Limits, Nodes, Scratch
    n : int
    seed : uint64
        Decides which features each split draws.
    sums_of_leaves : int32 array, shape (leaves, 2 * n_outputs)
        Output: the sums of the records in each leaf.
    leaf_of : int32 array
        Output: the leaf of each row.
    importance : float64 array, shape (n_features,)
        Output: the gains of splits, in units of records, are added here.
    """
    stack, totals = scratch.stack, scratch.totals
    for slot in range(len(scratch.free)):
        scratch.free[slot] = slot
    n_free = len(scratch.free)
    n_nodes, n_leaves, top = 0, 0, 1
    stack[0, _LO], stack[0, _HI], stack[0, _DEPTH], stack[0, _PARENT] = 0, n, 0, -1
    stack[0, _SLOT] = _NO_SLOT
    totals[0, :] = 0
    for i in range(n):
        add(totals[0], rows.records[scratch.perm[i]])
    if limits.depth > 0 and n >= 2 * limits.rows:
        n_free -= 1
        stack[0, _SLOT] = scratch.free[n_free]
        collect(rows, scratch, 0, n, stack[0, _SLOT])
    while top > 0:
        top -= 1
        lo, hi, depth, slot = (
            stack[top, _LO],
            stack[top, _HI],
            stack[top, _DEPTH],
            stack[top, _SLOT],
        )
        node = n_nodes
        n_nodes += 1
        if stack[top, _PARENT] >= 0:
            nodes.right[stack[top, _PARENT]] = node
        gain, feature, last, following, side = np.float32(0.0), 0, 0, 0, 0
        if slot != _NO_SLOT:
            gain, feature, last, following, side = split(
                rows, scratch, totals[top], slot, hi - lo, limits, seed, node
            )
        if gain <= 0.0:
            nodes.feature[node], nodes.cut[node], nodes.missing_left[node] = 0, 0, 0
            nodes.right[node] = -1 - n_leaves
            sums_of_leaves[n_leaves] = totals[top]
            for i in range(lo, hi):
                leaf_of[scratch.perm[i]] = n_leaves
            n_leaves += 1
            if slot != _NO_SLOT:
                clear(rows, scratch, slot)
                scratch.free[n_free] = slot
                n_free += 1
            continue
        importance[feature] += gain
        cut = 254 if following == MISSING else (last + following) >> 1
        middle, lacking = partition(rows.codes, scratch, lo, hi, feature, cut, side)
        nodes.feature[node], nodes.cut[node] = feature, cut
        nodes.missing_left[node] = side if lacking > 0 else middle - lo >= hi - middle
        # the right child is below the left one on the stack
        add_up_to(rows, scratch, slot, feature, last, side, totals[top + 1])
        for t in range(totals.shape[1]):
            totals[top, t] -= totals[top + 1, t]
        left_slot, right_slot, n_free = share(
            rows, scratch, lo, middle, hi, slot, depth + 1 < limits.depth, limits.rows, n_free
        )
        stack[top, _LO], stack[top, _HI], stack[top, _SLOT] = middle, hi, right_slot
        stack[top + 1, _LO], stack[top + 1, _HI], stack[top + 1, _SLOT] = lo, middle, left_slot
        stack[top, _DEPTH], stack[top + 1, _DEPTH] = depth + 1, depth + 1
        stack[top, _PARENT], stack[top + 1, _PARENT] = node, -1
        top += 2
    return n_nodes, n_leaves


@inlined
def add(sums, record):
    """Add a record."""
    for t in range(len(sums)):
        sums[t] += record[t]


@jit
def collect(rows, scratch, lo, hi, slot):
    """Add a range of rows to the histograms of a slot."""
    sums, counts = scratch.sums[slot], scratch.counts[slot]
    for i in range(lo, hi):
        row = scratch.perm[i]
        record = rows.records[row]
        for f in rows.features:
            b = rows.bins[f] + rows.codes[row, f]
            counts[b] += 1
            add(sums[b], record)


@jit
def take_off(rows, scratch, slot, other):
    """Subtract the histograms of one slot from those of another."""
    for f in rows.features:
        for b in range(rows.bins[f], rows.bins[f + 1]):
            if scratch.counts[other, b] > 0:
                scratch.counts[slot, b] -= scratch.counts[other, b]
                mine, its = scratch.sums[slot, b], scratch.sums[other, b]
                for t in range(len(mine)):
                    mine[t] -= its[t]


@jit
def clear(rows, scratch, slot):
    """Set the histograms of a slot back to zero."""
    for f in rows.features:
        for b in range(rows.bins[f], rows.bins[f + 1]):
            if scratch.counts[slot, b] > 0:
                scratch.counts[slot, b] = 0
                scratch.sums[slot, b, :] = 0


@jit
def share(rows, scratch, lo, middle, hi, slot, deeper, least, n_free):
    """Make the histograms of those children that may be split, from the parent's slot.

    Only the rows of the smaller child are visited. Return the slots of the left and the right
    child, and the number of free slots.

    Parameters
    ----------
    rows, scratch : Rows, Scratch
    lo, middle, hi, slot : see `layout`
    deeper : bool, whether the children's depth allows splits
    least : int, the fewest rows of a leaf
    n_free : int, the number of free slots
    """
    left_is_small = middle - lo < hi - middle
    begin, end = (lo, middle) if left_is_small else (middle, hi)
    if not deeper or hi - lo - (end - begin) < 2 * least:
        clear(rows, scratch, slot)
        scratch.free[n_free] = slot
        return _NO_SLOT, _NO_SLOT, n_free + 1
    n_free -= 1
    other = scratch.free[n_free]
    collect(rows, scratch, begin, end, other)
    take_off(rows, scratch, slot, other)
    if end - begin < 2 * least:
        clear(rows, scratch, other)
        scratch.free[n_free] = other
        n_free += 1
        other = _NO_SLOT
    if left_is_small:
        return other, slot, n_free
    return slot, other, n_free


@jit
def split(rows, scratch, total, slot, m, limits, seed, node):
    """The best split: gain or 0, feature, last, following, side.

    Parameters
    ----------
    rows, scratch, limits : Rows, Scratch, Limits
    total : int32 array (2 * n_outputs,), the sums of the node's records
    slot, m, seed, node : see `layout`
    """
    best, feature, last, following, side = np.float32(0.0), 0, 0, 0, 0
    rng = np.empty(1, np.uint64)
    stream(seed, node, pointer(rng))
    n_features = len(rows.features)
    scratch.order[:n_features] = rows.features
    worth_now = worth(total, limits.l2)
    for j in range(limits.n_drawn):
        at = j + below(pointer(rng), n_features - j)
        f = scratch.order[at]
        scratch.order[at], scratch.order[j] = scratch.order[j], f
        lacking = rows.bins[f + 1] - rows.bins[f] == MISSING + 1
        lacking = lacking and scratch.counts[slot, rows.bins[f] + MISSING] > 0
        for to_left in range(1 + lacking):
            gain, its_last, its_following = scan(
                rows, scratch, total, slot, f, m, limits, to_left, worth_now
            )
            if gain > best:
                best, feature, side = gain, f, to_left
                last, following = its_last, its_following
    return best, feature, last, following, side


@inlined
def worth(sums, l2):
    """The worth of a node with these sums."""
    k, out = len(sums) // 2, np.float32(0.0)
    for t in range(k):
        g = np.float32(sums[t])
        out += g * g / (np.float32(sums[k + t]) + l2)
    return out


@jit(fastmath={"reassoc", "nsz", "contract", "arcp"})
def worth_of_both(left, total, l2):
    """The worth of both sides of a split together, and the sum of Hessians of each."""
    k = len(total) // 2
    out, mass, other = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for t in range(k):
        g, h = np.float32(left[t]), np.float32(left[k + t])
        its_g, its_h = np.float32(total[t] - left[t]), np.float32(total[k + t] - left[k + t])
        out += g * g / (h + l2) + its_g * its_g / (its_h + l2)
        mass += h
        other += its_h
    return out, mass, other


@jit
def scan(rows, scratch, total, slot, feature, m, limits, to_left, worth_now):
    """The best cut of one feature, with NaN on one side: gain or 0, last, following.

    Parameters
    ----------
    rows, scratch, limits : Rows, Scratch, Limits
    total : int32 array (2 * n_outputs,), the sums of the node's records
    slot, feature, m : see `layout`
    to_left : whether NaN goes left
    worth_now : float32, the worth of the node
    """
    first, end = rows.bins[feature], rows.bins[feature + 1]
    sums, counts, running = scratch.sums[slot], scratch.counts[slot], scratch.running
    best, best_last, best_next = np.float32(0.0), 0, 0
    running[:] = 0
    count, last = 0, -1
    if to_left:
        end = first + MISSING
        count = counts[end]
        running[:] = sums[end]
    for b in range(first, end):
        if counts[b] == 0:
            continue
        if last >= 0 and count >= limits.rows and m - count >= limits.rows:
            both, mass, other = worth_of_both(running, total, limits.l2)
            gain = both - worth_now
            enough = min(mass, other) >= limits.mass and gain > _ROUNDING * worth_now
            if enough and gain > best:
                best, best_last, best_next = gain, last, b - first
        last = b - first
        count += counts[b]
        add(running, sums[b])
    return best, best_last, best_next


@inlined
def add_up_to(rows, scratch, slot, feature, last, side, out):
    """Write the sums of the rows on the left of a split to `out`; see `layout` for the others."""
    first = rows.bins[feature]
    out[:] = 0
    if side == 1:
        add(out, scratch.sums[slot, first + MISSING])
    for b in range(first, first + last + 1):
        add(out, scratch.sums[slot, b])


@inlined
def partition(codes, scratch, lo, hi, feature, cut, side):
    """Move the rows that go left to the front of their range; both sides keep their order.

    Return where the right side begins and how many rows lack the feature. `codes` are the bins
    (n, n_features) of all rows; the other arguments are those of `layout`.
    """
    left, right, lacking = lo, 0, 0
    for i in range(lo, hi):
        row = scratch.perm[i]
        code = codes[row, feature]
        lacks = code == MISSING
        goes = (code <= cut) | (lacks & (side != 0))
        scratch.perm[left] = row
        scratch.spare[right] = row
        left += goes
        right += not goes
        lacking += lacks
    for i in range(right):
        scratch.perm[left + i] = scratch.spare[i]
    return left, lacking


@jit
def round_records(gradients, hessians, counts, per_unit, out):
    """Round gradients and Hessians, times the count of each row, to integers.

    `per_unit` has the factors of gradients and of Hessians; records are written to `out`.
    """
    k = gradients.shape[1]
    for i in range(len(gradients)):
        w, its_w = counts[i] * per_unit[0], counts[i] * per_unit[1]
        for t in range(k):
            out[i, t] = np.int32(np.rint(gradients[i, t] * w))
            out[i, k + t] = np.int32(np.rint(hessians[i, t] * its_w))
