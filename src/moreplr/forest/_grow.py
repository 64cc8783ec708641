"""Grow one regression tree on vector targets, in slices, so that a caller can stop in between.

Rows of a tree lie in `perm`; each node is a contiguous range of it, and a split reorders its
range into left and right. Nodes are numbered in preorder: the left child of node i is i + 1,
and `right[i]` is the other one, or -1 - leaf for a leaf.

Targets are centred on the node's means while its split is searched. The reduction in squared
error of a split then needs the sums of one side only,

    sum over targets of S² N / (N_left N_right),

and single precision is enough. How the sums come about depends on the size of the node: large
nodes have histograms, medium ones an occupied-bin set, tiny ones a table of subsets.
"""

from __future__ import annotations

import numpy as np

from moreplr.forest import _large, _medium, _simd, _tiny
from moreplr.forest._bits import peek, poke
from moreplr.forest._jit import inlined, jit
from moreplr.forest._layout import (
    DEPTH,
    END,
    IS_RIGHT,
    MAX_DEPTH,
    MAX_FEATURES,
    MIN_LEAF,
    MIN_SPLIT,
    MISSING,
    N_FREE,
    N_LEAVES,
    N_NODES,
    PARENT,
    PURE,
    SLOT,
    START,
    TOP,
)
from moreplr.forest._random import stream


@jit
def prepare(codes, targets, seen, weight, rowids, rows):
    """Copy the in-bag rows into `rows`, numbered from 0, with weighted targets."""
    n_features, lanes = codes.shape[1], targets.shape[1]
    width = 2 * lanes if rows.masked else lanes
    records = rows.records
    for i in range(len(rowids)):
        row = rowids[i]
        w = weight[row]
        rows.weight[i] = w
        for f in range(n_features):
            rows.codes[i * n_features + f] = codes[row, f]
        for t in range(lanes):
            records[i * width + t] = w * targets[row, t]
        at = i * width
        if rows.masked:
            for t in range(lanes):
                records[at + lanes + t] = w * seen[row, t]
            rows.squares[i] = _simd.spread(records, at, records, at + lanes, rows.steps)
        else:
            rows.squares[i] = _simd.squares(records, at, rows.steps) / w
            records[at + rows.n_targets] = w * rows.unit


@jit
def measure(rows, scratch, perm, lo, hi):
    """Totals and means of a node; gives its weight, squares, and about its squared deviations."""
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    whole, around = 0.0, 0.0
    # two running sums: each addition waits for the one before
    _simd.fill(scratch.total, 0, np.float32(0.0), width // 8)
    _simd.fill(scratch.running, 0, np.float32(0.0), width // 8)
    for i in range(lo, hi - 1, 2):
        row, other = np.int64(peek(perm, i)), np.int64(peek(perm, i + 1))
        whole += peek(rows.weight, row) + peek(rows.weight, other)
        around += peek(rows.squares, row) + peek(rows.squares, other)
        _simd.add(scratch.total, 0, rows.records, row * width, width // 8)
        _simd.add(scratch.running, 0, rows.records, other * width, width // 8)
    if (hi - lo) & 1:
        row = np.int64(peek(perm, hi - 1))
        whole += peek(rows.weight, row)
        around += peek(rows.squares, row)
        _simd.add(scratch.total, 0, rows.records, row * width, width // 8)
    _simd.add(scratch.total, 0, scratch.running, 0, width // 8)
    if rows.masked:
        for t in range(lanes):
            mass = scratch.total[lanes + t]
            scratch.mean[t] = scratch.total[t] / mass if mass > 0.0 else np.float32(0.0)
        inside = _simd.spread(scratch.total, 0, scratch.total, lanes, steps)
    else:
        scratch.total[rows.n_targets] = 0.0
        _simd.scaled(scratch.mean, 0, scratch.total, 0, np.float32(1.0 / whole), steps)
        inside = _simd.squares(scratch.total, 0, steps) / whole
    return np.float32(whole), around, around - inside


@jit
def deviate(rows, scratch, perm, lo, hi, keep):
    """The squared deviations of a node; with `keep`, its rows centred go to `centred`."""
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    spread = 0.0
    for i in range(lo, hi):
        row = np.int64(peek(perm, i))
        at = (i - lo) * lanes if keep else 0
        record = row * width
        if rows.masked:
            _simd.away_each(
                scratch.centred, at, rows.records, record, rows.records, record + lanes,
                scratch.mean, 0, steps,
            )  # fmt: skip
            spread += _simd.spread(scratch.centred, at, rows.records, record + lanes, steps)
        else:
            w = peek(rows.weight, row)
            _simd.away(scratch.centred, at, rows.records, record, scratch.mean, 0, w, steps)
            poke(scratch.centred, at + rows.n_targets, np.float32(0.0))
            spread += _simd.squares(scratch.centred, at, steps) / w
    return spread


@inlined
def partition(rows, perm, lo, hi, feature, cut, missing_left, spare):
    """Move the rows that go left to the front of their range, both sides in their old order."""
    left, right, lacking = lo, 0, 0
    for i in range(lo, hi):
        row = peek(perm, i)
        code = peek(rows.codes, np.int64(row) * rows.n_features + feature)
        lacks = code == MISSING
        goes = (code <= cut) | (lacks & (missing_left != 0))
        poke(perm, left, row)
        poke(spare, right, row)
        left += goes
        right += not goes
        lacking += lacks
    for i in range(right):
        perm[left + i] = spare[i]
    return left, lacking


@jit
def grow(
    rows,
    nodes,
    scratch,
    perm,
    limits,
    seed,
    rng,
    stack,
    constant,
    state,
    importance,
    large,
    budget,
):
    """Grow until the tree is done or about `budget` (row, feature) visits are spent.

    Everything lives in the arrays, so that the next call goes on where this one stopped.
    Nodes of `large` rows or more have histograms. Gives True while there is more to do.
    """
    spent = 0
    min_leaf = limits[MIN_LEAF]
    max_features = limits[MAX_FEATURES]
    all_features = max_features == rows.n_features
    while state[TOP] > 0:
        if spent > budget or state[TOP] + 2 > len(stack):
            return True
        top = state[TOP] - 1
        state[TOP] = top
        lo, hi = np.int64(stack[top, START]), np.int64(stack[top, END])
        depth, up, slot = stack[top, DEPTH], stack[top, PARENT], np.int64(stack[top, SLOT])
        node = state[N_NODES]
        state[N_NODES] += 1
        if stack[top, IS_RIGHT]:
            nodes.right[up] = node
        nodes.parent[node], nodes.start[node] = up, lo
        m = hi - lo
        best, feature, last, following, side = np.float32(-1.0), 0, 0, 0, 0
        if depth < limits[MAX_DEPTH] and m >= limits[MIN_SPLIT] and m >= 2 * min_leaf:
            spent += m * max_features
            whole, around, spread = measure(rows, scratch, perm, lo, hi)
            if m <= _tiny.MOST or spread < 1e-4 * around:
                spread = deviate(rows, scratch, perm, lo, hi, m <= _tiny.MOST)
            if spread > PURE * around:
                # the node's own stream and order: what other nodes drew does not matter
                stream(seed, node, rng)
                for f in range(rows.n_features):
                    scratch.order[f] = f
                if m <= _tiny.MOST:
                    best, feature, last, following, side = _tiny.split(
                        rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng,
                        constant, top,
                    )  # fmt: skip
                elif m < large:
                    best, feature, last, following, side = _medium.split(
                        rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng,
                        constant, top,
                    )  # fmt: skip
                else:
                    made = slot >= 0
                    if not made:
                        state[N_FREE] -= 1
                        slot = np.int64(scratch.free[state[N_FREE]])
                    best, feature, last, following, side = _large.split(
                        rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng,
                        constant, top, slot, made,
                    )  # fmt: skip
        if best < 0.0:
            nodes.feature[node], nodes.cut[node], nodes.missing_left[node] = 0, 0, 0
            nodes.right[node] = -1 - state[N_LEAVES]
            state[N_LEAVES] += 1
            if slot >= 0:
                scratch.free[state[N_FREE]] = slot
                state[N_FREE] += 1
            continue
        # between two occupied bins the cut is in the middle; NaN alone leaves every value left
        cut = 254 if following == MISSING else (last + following) >> 1
        middle, lacking = partition(rows, perm, lo, hi, feature, cut, side, scratch.spare)
        nodes.feature[node], nodes.cut[node] = feature, cut
        nodes.missing_left[node] = side if lacking else middle - lo >= hi - middle
        importance[feature] += best
        constant[top + 1] = constant[top]
        left_slot, right_slot = np.int64(-1), np.int64(-1)
        if slot >= 0:
            if all_features:
                left_slot, right_slot = _large.share(
                    rows, scratch, perm, lo, middle, hi, constant, top, slot, state, large
                )
            else:
                scratch.free[state[N_FREE]] = slot
                state[N_FREE] += 1
        stack[top, START], stack[top, END], stack[top, SLOT] = middle, hi, right_slot
        stack[top, DEPTH], stack[top, PARENT], stack[top, IS_RIGHT] = depth + 1, node, 1
        stack[top + 1, START], stack[top + 1, END], stack[top + 1, SLOT] = lo, middle, left_slot
        stack[top + 1, DEPTH], stack[top + 1, PARENT] = depth + 1, node
        stack[top + 1, IS_RIGHT] = 0
        state[TOP] = top + 2
    return False
