"""Split nodes of some dozen rows: sums per bin, and a set of the bins that have rows.

The set makes a node cost as many steps as it has rows, however many bins there are, and
nothing is sorted. Rows are visited once for all features, so that neighbouring additions go to
different places in memory and need not wait for each other.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest import _simd
from moreplr.forest._bits import highest_bit, lowest_bit, peek, poke
from moreplr.forest._draw import choose, set_constant
from moreplr.forest._layout import MISSING, TIE

_ONE, _LOW6 = np.uint64(1), np.uint64(63)


@inlined
def collect(rows, scratch, perm, lo, m, n_chosen):
    """Add the node's rows, centred, to `near`."""
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    for i in range(m):
        row = np.int64(peek(perm, lo + i))
        record = row * width
        if rows.masked:
            _simd.away_each(
                scratch.running, 0, rows.records, record, rows.records, record + lanes,
                scratch.mean, 0, steps,
            )  # fmt: skip
            _simd.copy(scratch.running, lanes, rows.records, record + lanes, steps)
        else:
            _simd.away(
                scratch.running, 0, rows.records, record, scratch.mean, 0,
                peek(rows.weight, row), steps,
            )  # fmt: skip
        for j in range(n_chosen):
            f = np.int64(peek(scratch.chosen, j))
            b = np.int64(peek(rows.codes, row * rows.n_features + f))
            word = 4 * j + (b >> 6)
            bit = _ONE << (np.uint64(b) & _LOW6)
            poke(scratch.occupied, word, peek(scratch.occupied, word) | bit)
            b += peek(rows.bins, f)
            _simd.add(scratch.near, b * width, scratch.running, 0, width // 8)
            if rows.counted:
                poke(scratch.near_count, b, np.int32(peek(scratch.near_count, b) + 1))


@inlined
def scan(rows, scratch, j, feature, m, whole, min_leaf):
    """The best split of the j-th chosen feature, whose bins it empties.

    Gain or -1, last bin on the left, next bin, NaN left, and how many bins there were.
    """
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    first = peek(rows.bins, feature)
    n_words = (peek(rows.bins, feature + 1) - first + 63) >> 6
    final = 0
    for word in range(n_words):
        if peek(scratch.occupied, 4 * j + word) != 0:
            final = np.int64(highest_bit(peek(scratch.occupied, 4 * j + word))) + 64 * word
    best, best_bin, count, n_bins = np.float32(-1.0), 0, 0, 0
    _simd.fill(scratch.running, 0, np.float32(0.0), width // 8)
    for word in range(n_words):
        bits = peek(scratch.occupied, 4 * j + word)
        while bits != 0:
            b = np.int64(lowest_bit(bits)) + 64 * word
            bits &= bits - _ONE
            n_bins += 1
            if rows.masked:
                _simd.pour(scratch.running, 0, scratch.near, (first + b) * width, width // 8)
                gain = _simd.gain(
                    scratch.running, 0, scratch.running, lanes, scratch.total, lanes, steps
                )
            else:
                squares = _simd.drain(scratch.running, 0, scratch.near, (first + b) * width, steps)
                small = peek(scratch.running, rows.n_targets)
                left = small * rows.per_unit
                gain = (squares - small * small) * (whole / (left * (whole - left)))
            fits = b != final
            if rows.counted:
                count += np.int64(peek(scratch.near_count, first + b))
                poke(scratch.near_count, first + b, np.int32(0))
                fits &= count >= min_leaf and m - count >= min_leaf
            fits &= gain > best * TIE
            best = gain if fits else best
            best_bin = b if fits else best_bin
    following = best_bin + 1
    while following < final and not (
        peek(scratch.occupied, 4 * j + (following >> 6)) >> (np.uint64(following) & _LOW6) & _ONE
    ):
        following += 1
    for word in range(n_words):
        poke(scratch.occupied, 4 * j + word, np.uint64(0))
    return best, best_bin, following, 0, n_bins


@inlined
def scan_twice(rows, scratch, j, feature, m, whole, min_leaf):
    """`scan` of a feature that some rows lack: once with them on either side."""
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    first = peek(rows.bins, feature)
    best, best_bin, best_next, best_side = np.float32(-1.0), 0, 0, 0
    n_bins = 0
    for side in range(2):
        _simd.fill(scratch.running, 0, np.float32(0.0), width // 8)
        count, last = 0, -1
        if side == 1:  # a second pass with the rows that lack the feature on the left
            count = np.int64(peek(scratch.near_count, first + 255))
            _simd.add(scratch.running, 0, scratch.near, (first + 255) * width, width // 8)
        for word in range(4):
            bits = peek(scratch.occupied, 4 * j + word)
            while bits != 0:
                b = np.int64(lowest_bit(bits)) + 64 * word
                bits &= bits - _ONE
                enough = last >= 0 and (side == 0 or b < MISSING)
                if min_leaf > 1:
                    enough &= count >= min_leaf and m - count >= min_leaf
                    count += np.int64(peek(scratch.near_count, first + b))
                if enough:
                    if rows.masked:
                        gain = _simd.gain(
                            scratch.running, 0, scratch.running, lanes, scratch.total, lanes, steps
                        )
                    else:
                        small = peek(scratch.running, rows.n_targets)
                        left = small * rows.per_unit
                        gain = _simd.squares(scratch.running, 0, steps) - small * small
                        gain *= whole / (left * (whole - left))
                    if gain > best * TIE:
                        best, best_bin, best_next, best_side = gain, last, b, side
                last = b
                _simd.add(scratch.running, 0, scratch.near, (first + b) * width, width // 8)
                if side == 1:
                    n_bins += 1
                    _simd.fill(scratch.near, (first + b) * width, np.float32(0.0), width // 8)
                    if rows.counted:
                        poke(scratch.near_count, first + b, np.int32(0))
            if side == 1:
                poke(scratch.occupied, 4 * j + word, np.uint64(0))
    return best, best_bin, best_next, best_side, n_bins


@jit
def split(rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng, constant):
    """The best split: gain or -1, feature, last bin on the left, next bin, NaN left."""
    best, best_feature, best_bin, best_next, best_side = np.float32(-1.0), 0, 0, 0, 0
    found, drawn = False, 0
    while drawn < rows.n_features and not found:
        goal = max_features if drawn == 0 else drawn + 1
        n_chosen = choose(
            scratch.order, rows.n_features, scratch.chosen, rng, constant, drawn, goal
        )
        drawn = goal
        collect(rows, scratch, perm, lo, m, n_chosen)
        for j in range(n_chosen):
            f = np.int64(peek(scratch.chosen, j))
            if peek(scratch.occupied, 4 * j + 3) >> _LOW6 == 0:
                gain, last, following, side, n_bins = scan(rows, scratch, j, f, m, whole, min_leaf)
            else:
                gain, last, following, side, n_bins = scan_twice(
                    rows, scratch, j, f, m, whole, min_leaf
                )
            if n_bins == 1:
                set_constant(constant, f)
                continue
            found = True
            if gain > best * TIE:
                best, best_feature, best_side = gain, f, side
                best_bin, best_next = last, following
    return best, best_feature, best_bin, best_next, best_side
