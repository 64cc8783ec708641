"""Split nodes of many rows by histograms of all features, shared between parent and children.

The histogram of the larger child is the parent's less the smaller child's, so that only rows of
smaller children are visited. Histograms hold sums that are not centred; the node's mean is
taken off when a split is weighed.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest import _simd
from moreplr.forest._bits import peek, poke
from moreplr.forest._draw import choose, is_constant, set_constant
from moreplr.forest._layout import MISSING, N_FREE, TIE


@inlined
def obtain(free, state):
    """A slot that is free."""
    n_free = peek(state, N_FREE) - 1
    poke(state, N_FREE, n_free)
    return np.int64(peek(free, n_free))


@inlined
def release(free, state, slot):
    """Give a slot back."""
    n_free = peek(state, N_FREE)
    poke(free, n_free, np.int32(slot))
    poke(state, N_FREE, n_free + 1)


@inlined
def collect(rows, far, far_count, perm, lo, hi, chosen, n_chosen, slot):
    """Make the histograms of the chosen features in a slot from a range of rows."""
    steps = 2 * rows.steps if rows.masked else rows.steps
    width = 8 * steps
    base = slot * peek(rows.bins, rows.n_features)
    for j in range(n_chosen):
        f = np.int64(peek(chosen, j))
        begin, end = base + peek(rows.bins, f), base + peek(rows.bins, f + 1)
        _simd.fill(far, begin * width, np.float32(0.0), steps * (end - begin))
        for b in range(begin, end):
            poke(far_count, b, np.int32(0))
    for i in range(lo, hi):
        row = np.int64(peek(perm, i))
        for j in range(n_chosen):
            f = np.int64(peek(chosen, j))
            b = base + peek(rows.bins, f)
            b += np.int64(peek(rows.codes, row * rows.n_features + f))
            poke(far_count, b, np.int32(peek(far_count, b) + 1))
            _simd.add(far, b * width, rows.records, row * width, steps)


@inlined
def take_off(rows, far, far_count, chosen, n_chosen, slot, other):
    """Subtract the histograms of one slot from those of another."""
    steps = 2 * rows.steps if rows.masked else rows.steps
    width = 8 * steps
    n_bins = peek(rows.bins, rows.n_features)
    for j in range(n_chosen):
        f = np.int64(peek(chosen, j))
        for b in range(peek(rows.bins, f), peek(rows.bins, f + 1)):
            mine, its = slot * n_bins + b, other * n_bins + b
            if peek(far_count, its) > 0:
                poke(far_count, mine, np.int32(peek(far_count, mine) - peek(far_count, its)))
                _simd.subtract(far, mine * width, far, its * width, steps)


@inlined
def scan(rows, scratch, feature, slot, m, whole, min_leaf):
    """The best split of one feature: gain, last bin on the left, next bin, NaN left, constant."""
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    base = slot * peek(rows.bins, rows.n_features) + peek(rows.bins, feature)
    n_bins = peek(rows.bins, feature + 1) - peek(rows.bins, feature)
    lacking = 1 if n_bins == 256 and peek(scratch.far_count, base + 255) > 0 else 0
    best, best_bin, best_next, best_side = np.float32(-1.0), 0, 0, 0
    occupied = 0
    for side in range(1 + lacking):
        _simd.fill(scratch.running, 0, np.float32(0.0), width // 8)
        count, last = 0, -1
        if side == 1:  # a second pass with the rows that lack the feature on the left
            count = np.int64(peek(scratch.far_count, base + 255))
            _simd.add(scratch.running, 0, scratch.far, (base + 255) * width, width // 8)
        for b in range(n_bins):
            here = np.int64(peek(scratch.far_count, base + b))
            if here == 0:
                continue
            enough = last >= 0 and count >= min_leaf and m - count >= min_leaf
            if enough and (side == 0 or b < MISSING):
                if rows.masked:
                    gain = _simd.gain_away(
                        scratch.running, 0, scratch.running, lanes, scratch.total, lanes,
                        scratch.mean, 0, steps,
                    )  # fmt: skip
                else:
                    small = peek(scratch.running, rows.n_targets)
                    left = small * rows.per_unit
                    gain = _simd.squares_away(scratch.running, 0, scratch.mean, 0, left, steps)
                    gain = (gain - small * small) * (whole / (left * (whole - left)))
                if gain > best * TIE:
                    best, best_bin, best_next, best_side = gain, last, b, side
            last = b
            occupied += 1
            count += here
            _simd.add(scratch.running, 0, scratch.far, (base + b) * width, width // 8)
    return best, best_bin, best_next, best_side, occupied == 1


@jit
def split(rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng, constant, slot, made):
    """The best split: gain or -1, feature, last bin on the left, next bin, NaN left.

    `made` says that the slot has the histograms of all features that are not constant.
    """
    best, best_feature, best_bin, best_next, best_side = np.float32(-1.0), 0, 0, 0, 0
    found, drawn = False, 0
    while drawn < rows.n_features and not found:
        goal = max_features if drawn == 0 else drawn + 1
        n_chosen = choose(
            scratch.order, rows.n_features, scratch.chosen, rng, constant, drawn, goal
        )
        drawn = goal
        if not made:
            collect(
                rows, scratch.far, scratch.far_count, perm, lo, lo + m, scratch.chosen,
                n_chosen, slot,
            )  # fmt: skip
        for j in range(n_chosen):
            f = np.int64(peek(scratch.chosen, j))
            gain, last, following, side, same = scan(rows, scratch, f, slot, m, whole, min_leaf)
            if same:
                set_constant(constant, f)
                continue
            found = True
            if gain > best * TIE:
                best, best_feature, best_side = gain, f, side
                best_bin, best_next = last, following
    return best, best_feature, best_bin, best_next, best_side


@jit
def share(rows, scratch, perm, lo, middle, hi, constant, slot, state, large):
    """Slots for both children from the parent's: the larger child's is what is left of it."""
    # one slot stays free for nodes that come without
    if max(middle - lo, hi - middle) < large or peek(state, N_FREE) < 2:
        release(scratch.free, state, slot)
        return -1, -1
    n_chosen = 0
    for f in range(rows.n_features):
        if not is_constant(constant, f):
            poke(scratch.chosen, n_chosen, np.int32(f))
            n_chosen += 1
    other = obtain(scratch.free, state)
    left_is_small = middle - lo < hi - middle
    begin = lo if left_is_small else middle
    end = middle if left_is_small else hi
    collect(
        rows, scratch.far, scratch.far_count, perm, begin, end, scratch.chosen, n_chosen, other
    )
    take_off(rows, scratch.far, scratch.far_count, scratch.chosen, n_chosen, slot, other)
    if end - begin < large:
        release(scratch.free, state, other)
        other = -1
    return (other, slot) if left_is_small else (slot, other)
