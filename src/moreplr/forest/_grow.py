"""Grow one regression tree on vector targets, in slices, so that a caller can stop in between.

Rows of a tree lie in `perm`; each node is a contiguous range of it, and a split reorders its
range into left and right. Nodes are numbered in preorder: the left child of node i is i + 1,
and `right[i]` is the other one, or -1 - leaf for a leaf.

Targets are centred on the node's means while its split is searched. The reduction in squared
error of a split then needs the sums of one side only,

    sum over targets of S² N / (N_left N_right),

and single precision is enough. Sums are collected per bin; a bit set remembers which bins
have rows, so that a node of few rows costs few steps, however many bins there are.
"""

from __future__ import annotations

import numpy as np

from moreplr.forest._bits import lowest_bit
from moreplr.forest._jit import jit
from moreplr.forest._random import below

MISSING = 255
# gains closer than this are ties: the feature drawn first wins, whatever the rounding was
TIE = 1.0 + 1e-6
# a node whose squared deviations are this small a part of its squares is constant
PURE = 1e-13

_ONE, _SIX, _LOW6 = np.uint64(1), np.uint64(6), np.uint64(63)

# columns of the stack: where a pending node's rows are, and who its parent is
START, END, DEPTH, PARENT, IS_RIGHT = 0, 1, 2, 3, 4
# cells of `state`
TOP, N_NODES, N_LEAVES = 0, 1, 2
# cells of `limits`
MAX_DEPTH, MIN_SPLIT, MIN_LEAF, MAX_FEATURES = 0, 1, 2, 3


@jit
def gather(perm, start, end, targets, seen, weight, complete, rest, part, share, total):
    """Copy a node's rows, centred and weighted; true if there is nothing left to learn."""
    m, k = end - start, targets.shape[1]
    total[:] = 0.0
    sums = np.zeros(k)
    whole = 0.0
    for i in range(m):
        row = perm[start + i]
        w = weight[row]
        share[i] = w
        whole += w
        for t in range(k):
            sums[t] += w * targets[row, t]
    for i in range(m):
        row = perm[start + i]
        if complete:
            break
        w = weight[row]
        for t in range(k):
            part[i, t] = w * seen[row, t]
            total[t] += part[i, t]
    for t in range(k):
        observed = whole if complete else np.float64(total[t])
        sums[t] = sums[t] / observed if observed > 0.0 else 0.0
    squares, spread = 0.0, 0.0
    for i in range(m):
        row = perm[start + i]
        for t in range(k):
            y = targets[row, t]
            mass = share[i] if complete else part[i, t]
            d = np.float32(y - sums[t])
            rest[i, t] = mass * d
            spread += mass * d * d
            squares += mass * y * y
    return whole, spread <= PURE * squares


@jit
def scan(column, m, rest, part, share, complete, total, whole, min_leaf, h, hw, hn, hp, acc, accp):
    """The best split of one feature: gain, last occupied bin on the left, next one, NaN left.

    A gain of -1 says that there is none. The histograms come in and go out as zeros.
    """
    k = rest.shape[1]
    bits = np.zeros(4, dtype=np.uint64)
    for i in range(m):
        b = np.int64(column[i])
        bits[b >> 6] |= _ONE << (np.uint64(b) & _LOW6)
        hw[b] += share[i]
        hn[b] += 1
        for t in range(k):
            h[b, t] += rest[i, t]
        if not complete:
            for t in range(k):
                hp[b, t] += part[i, t]
    best, best_bin, best_next, best_missing = -1.0, -1, -1, 0
    missing = hn[MISSING] > 0
    for side in range(2 if missing else 1):
        acc[:] = 0.0
        accp[:] = 0.0
        left, count, last = 0.0, np.int64(0), -1
        if side == 1:
            left, count = np.float64(hw[MISSING]), np.int64(hn[MISSING])
            acc[:] = h[MISSING]
            accp[:] = hp[MISSING]
        for word in range(4):
            rest_bits = bits[word]
            while rest_bits != 0:
                b = np.int64(lowest_bit(rest_bits)) + 64 * word
                rest_bits &= rest_bits - _ONE
                if last >= 0 and count >= min_leaf and m - count >= min_leaf and m > count:
                    if complete:
                        g = np.float32(0.0)
                        for t in range(k):
                            g += acc[t] * acc[t]
                        gain = g * whole / (left * (whole - left))
                    else:
                        gain = _masked_gain(acc, accp, total)
                    if gain > best * TIE or best < 0.0:
                        best, best_bin, best_next, best_missing = gain, last, b, side
                left += hw[b]
                count += hn[b]
                for t in range(k):
                    acc[t] += h[b, t]
                if not complete:
                    for t in range(k):
                        accp[t] += hp[b, t]
                last = b
    for word in range(4):
        rest_bits = bits[word]
        while rest_bits != 0:
            b = np.int64(lowest_bit(rest_bits)) + 64 * word
            rest_bits &= rest_bits - _ONE
            hw[b] = 0.0
            hn[b] = 0
            h[b, :] = 0.0
            if not complete:
                hp[b, :] = 0.0
    return best, best_bin, best_next, best_missing


@jit
def _masked_gain(acc, accp, total):
    gain = np.float32(0.0)
    for t in range(len(acc)):
        product = accp[t] * (total[t] - accp[t])
        if product > 0.0:
            gain += acc[t] * acc[t] * total[t] / product
    return np.float64(gain)


@jit
def partition(perm, start, end, codes, feature, cut, missing_left, spare):
    """Move the rows that go left to the front of their range, both sides in their old order."""
    left, right = start, 0
    for i in range(start, end):
        row = perm[i]
        c = codes[row, feature]
        goes = c <= cut or (c == MISSING and missing_left)
        perm[left] = row
        spare[right] = row
        left += goes
        right += not goes
    for i in range(right):
        perm[left + i] = spare[i]
    return left


@jit
def grow(
    codes, targets, seen, weight, complete, perm, limits, rng, stack, constant, state,
    feature, cut, missing_left, right, start, parent, importance,
    order, rest, part, share, total, column, spare, h, hw, hn, hp, acc, accp, budget,
):  # fmt: skip
    """Grow until the tree is done or about `budget` (row, feature) visits are spent.

    Everything lives in the arrays, so that the next call goes on where this one stopped.
    Gives True while there is more to do.
    """
    n_features = codes.shape[1]
    spent = 0
    while state[TOP] > 0:
        if spent > budget or state[TOP] + 2 > len(stack):
            return True
        top = state[TOP] - 1
        state[TOP] = top
        lo, hi, depth = stack[top, START], stack[top, END], stack[top, DEPTH]
        node, up = state[N_NODES], stack[top, PARENT]
        state[N_NODES] += 1
        if stack[top, IS_RIGHT]:
            right[up] = node
        parent[node], start[node] = up, lo
        m = hi - lo
        best, best_feature, best_bin, best_missing = -1.0, 0, 0, 0
        if depth < limits[MAX_DEPTH] and m >= limits[MIN_SPLIT] and m >= 2 * limits[MIN_LEAF]:
            whole, pure = gather(
                perm, lo, hi, targets, seen, weight, complete, rest, part, share, total
            )
            if not pure:
                tried, found = 0, False
                for j in range(n_features):
                    if tried >= limits[MAX_FEATURES] and found:
                        break
                    i = j + below(rng, n_features - j)
                    order[i], order[j] = order[j], order[i]
                    f = order[j]
                    tried += 1
                    bit = _ONE << (np.uint64(f) & _LOW6)
                    if constant[top, f >> 6] & bit:
                        continue
                    first = codes[perm[lo], f]
                    same = True
                    for i in range(m):
                        column[i] = codes[perm[lo + i], f]
                        same &= column[i] == first
                    spent += m
                    if same:
                        constant[top, f >> 6] |= bit
                        continue
                    found = True
                    gain, last, following, missing = scan(
                        column, m, rest, part, share, complete, total, whole,
                        limits[MIN_LEAF], h, hw, hn, hp, acc, accp,
                    )  # fmt: skip
                    if gain >= 0.0 and (gain > best * TIE or best < 0.0):
                        best, best_feature, best_missing = gain, f, missing
                        best_bin = 254 if following == MISSING else (last + following) >> 1
        if best < 0.0:
            feature[node], cut[node], missing_left[node] = 0, 0, 0
            right[node] = -1 - state[N_LEAVES]
            state[N_LEAVES] += 1
            continue
        middle = partition(perm, lo, hi, codes, best_feature, best_bin, best_missing, spare)
        feature[node], cut[node] = best_feature, best_bin
        if constant_missing(codes, perm, lo, hi, best_feature):
            best_missing = middle - lo >= hi - middle
        missing_left[node] = best_missing
        importance[best_feature] += best
        constant[top + 1] = constant[top]
        stack[top, START], stack[top, END] = middle, hi
        stack[top, DEPTH], stack[top, PARENT], stack[top, IS_RIGHT] = depth + 1, node, 1
        stack[top + 1, START], stack[top + 1, END] = lo, middle
        stack[top + 1, DEPTH], stack[top + 1, PARENT] = depth + 1, node
        stack[top + 1, IS_RIGHT] = 0
        state[TOP] = top + 2
    return False


@jit
def constant_missing(codes, perm, lo, hi, feature):
    """Whether no row of the node lacks the feature."""
    lacking = 0
    for i in range(lo, hi):
        lacking += codes[perm[i], feature] == MISSING
    return lacking == 0
