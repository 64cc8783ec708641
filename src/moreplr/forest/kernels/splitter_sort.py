"""Split nodes of some dozen rows: sort the rows by each feature and add them up in that order.

A row's place is the number of rows with a smaller bin, which is counted by vectors of bytes,
without branches. All arrays are small enough for the first-level cache.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import cuts, llvm
from moreplr.forest.kernels.draw import choose, set_constant
from moreplr.forest.kernels.layout import MISSING, TIE
from moreplr.forest.kernels.llvm import (
    below,
    count_bits,
    equal,
    peek,
    peek_number,
    poke,
    poke_number,
    shift,
)

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def fetch(rows, scratch, m, f):
    """Copy the bins of the node's rows in one feature to `local`."""
    for i in range(m):
        poke(scratch.local, i, peek(rows.cells, peek(scratch.offsets, i) + f))


@inlined
def first_bits(n):
    """A word with the n lowest bits set; all of them from 64 on."""
    return _ALL if n >= 64 else (_ONE << np.uint64(n)) - _ONE


@inlined
def arrange(scratch, m):
    """Sort the rows by `local` and return the number of bins.

    `ends` marks the last row of each bin.
    """
    n_bins = 0
    if m <= 64:
        valid = first_bits(m)
        for i in range(m):
            code = peek(scratch.local, i)
            same = equal(scratch.local, 0, code) & valid
            place = count_bits(below(scratch.local, 0, code) & valid)
            place += count_bits(same & first_bits(i))
            last = same >> np.uint64(i) == _ONE
            n_bins += last
            poke(scratch.sorted, place, np.uint8(i))
            poke(scratch.ends, place, np.uint8(last))
        return n_bins
    valid = first_bits(m - 64)
    for i in range(m):
        code = peek(scratch.local, i)
        same, more = equal(scratch.local, 0, code), equal(scratch.local, 64, code) & valid
        place = count_bits(below(scratch.local, 0, code))
        place += count_bits(below(scratch.local, 64, code) & valid)
        place += count_bits(same & first_bits(i))
        if i < 64:
            last = same >> np.uint64(i) == _ONE and more == 0
        else:
            place += count_bits(more & first_bits(i - 64))
            last = more >> np.uint64(i - 64) == _ONE
        n_bins += last
        poke(scratch.sorted, place, np.uint8(i))
        poke(scratch.ends, place, np.uint8(last))
    return n_bins


@jit
def add_up(rows, scratch, order, m):
    """Evaluate the cut after each row in the given order."""
    if rows.masked:
        llvm.shares(
            scratch.centred, order, m, 16 * rows.steps, scratch.left, scratch.mean,
            scratch.inverse, scratch.running, scratch.gains, rows.steps,
        )  # fmt: skip
        return
    llvm.centred(
        scratch.centred, order, m, 8 * rows.steps, scratch.left, scratch.mean, scratch.inverse,
        scratch.running, scratch.gains, rows.steps,
    )  # fmt: skip
    left = np.float32(0.0)
    for i in range(m):
        left += peek(scratch.masses, np.int64(peek(order, i)))
        poke(scratch.left, i, left)


@jit
def weigh(rows, scratch, m, whole, min_leaf, f, known):
    """The best cut of feature f: gain or -1, last, following, side, and the number of bins.

    Bins are valid only if the gain exceeds `known`. Arguments are those of `layout`.
    """
    fetch(rows, scratch, m, f)
    n_bins = arrange(scratch, m)
    if n_bins == 1:
        return np.float32(-1.0), 0, 0, 0, n_bins
    order, ends, side = scratch.sorted, shift(scratch.ends, 256), 0
    for i in range(0, m, 8):
        poke_number(ends, i, peek_number(scratch.ends, i))
    add_up(rows, scratch, order, m)
    best, at = cuts.pick(
        scratch.gains, scratch.left, scratch.count, ends, m - 1, m, whole, min_leaf, rows.masked,
        known,
    )  # fmt: skip
    if peek(scratch.local, np.int64(peek(order, m - 1))) == MISSING:
        gain, there = weigh_again(rows, scratch, m, whole, min_leaf, max(best, known))
        if gain > best * TIE:
            best, at, side = gain, there, 1
            order = shift(scratch.sorted, 256)
    last = peek(scratch.local, np.int64(peek(order, at)))
    following = peek(scratch.local, np.int64(peek(order, at + 1)))
    return best, np.int64(last), np.int64(following), side, n_bins


@inlined
def weigh_again(rows, scratch, m, whole, min_leaf, known):
    """The gain and number of the best cut if NaN, sorted last so far, goes left.

    Arguments are those of `layout`.
    """
    lacking = 0
    while peek(scratch.local, np.int64(peek(scratch.sorted, m - 1 - lacking))) == MISSING:
        lacking += 1
    order, ends = shift(scratch.sorted, 256), shift(scratch.ends, 256)
    for i in range(m):
        old = i - lacking if i >= lacking else m - lacking + i
        poke(order, i, peek(scratch.sorted, old))
        poke(ends, i, peek(scratch.ends, old) if i >= lacking else np.uint8(0))
    add_up(rows, scratch, order, m)
    return cuts.pick(
        scratch.gains, scratch.left, scratch.count, ends, m - 1, m, whole, min_leaf, rows.masked,
        known,
    )  # fmt: skip


@jit
def split(rows, scratch, m, whole, min_leaf, max_features, rng, constant):
    """The best split: gain or -1, feature, last, following, side; arguments as in `layout`."""
    best, best_feature, best_bin, best_next, best_side = np.float32(-1.0), 0, 0, 0, 0
    for i in range(m):
        poke(scratch.count, i, np.int32(i + 1))
    found, drawn = False, 0
    while drawn < rows.n_features and not found:
        goal = max_features if drawn == 0 else drawn + 1
        n_chosen = choose(
            scratch.order, rows.n_features, scratch.chosen, rng, constant, drawn, goal
        )
        drawn = goal
        for j in range(n_chosen):
            f = np.int64(peek(scratch.chosen, j))
            gain, last, following, side, n_bins = weigh(rows, scratch, m, whole, min_leaf, f, best)
            if n_bins == 1:
                set_constant(constant, f)
                continue
            found = True
            if gain > best * TIE:
                best, best_feature, best_side = gain, f, side
                best_bin, best_next = last, following
    return best, best_feature, best_bin, best_next, best_side
