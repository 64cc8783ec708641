"""Split nodes of many rows by histograms of all features, shared between parent and children.

The histogram of the larger child is the parent's minus the smaller child's, so that only the rows
of smaller children are visited. Histograms hold sums that are not centred; the node's mean is
subtracted when a cut is evaluated.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import cuts, llvm, vectors
from moreplr.forest.kernels.draw import choose, is_constant, set_constant
from moreplr.forest.kernels.layout import MISSING, N_FREE, TIE
from moreplr.forest.kernels.llvm import peek, poke, poke_number, shift
from moreplr.forest.kernels.records import width_of


@inlined
def obtain(free, state):
    """Take a free slot."""
    n_free = peek(state, N_FREE) - 1
    poke(state, N_FREE, n_free)
    return np.int64(peek(free, n_free))


@inlined
def release(free, state, slot):
    """Return a slot to the free ones."""
    n_free = peek(state, N_FREE)
    poke(free, n_free, np.int32(slot))
    poke(state, N_FREE, n_free + 1)


@inlined
def collect(rows, scratch, perm, lo, hi, n_chosen, slot):
    """Make the histograms of the chosen features in a slot; arguments as in `layout`."""
    far, far_count, chosen = scratch.far, scratch.far_count, scratch.chosen
    width = width_of(rows)
    steps = width // 8
    base = slot * peek(rows.bins, rows.n_features)
    for j in range(n_chosen):
        f = np.int64(peek(chosen, j))
        begin, end = base + peek(rows.bins, f), base + peek(rows.bins, f + 1)
        vectors.fill(far, begin * width, np.float32(0.0), steps * (end - begin))
        for b in range(begin, end):
            poke(far_count, b, np.int32(0))
    for i in range(lo, hi):
        row = np.int64(peek(perm, i))
        for j in range(n_chosen):
            f = np.int64(peek(chosen, j))
            b = base + peek(rows.bins, f)
            b += np.int64(peek(rows.cells, row * rows.n_features + f))
            poke(far_count, b, np.int32(peek(far_count, b) + 1))
            vectors.add(far, b * width, rows.records, row * width, steps)


@inlined
def take_off(rows, far, far_count, chosen, n_chosen, slot, other):
    """Subtract the histograms of slot `other` from those of `slot`.

    Parameters
    ----------
    rows : Rows
    far, far_count : pointers, the sums and the row counts of all histograms
    chosen, n_chosen : see `layout`
    slot, other : int
    """
    width = width_of(rows)
    steps = width // 8
    n_bins = peek(rows.bins, rows.n_features)
    for j in range(n_chosen):
        f = np.int64(peek(chosen, j))
        for b in range(peek(rows.bins, f), peek(rows.bins, f + 1)):
            mine, its = slot * n_bins + b, other * n_bins + b
            if peek(far_count, its) > 0:
                poke(far_count, mine, np.int32(peek(far_count, mine) - peek(far_count, its)))
                vectors.subtract(far, mine * width, far, its * width, steps)


@inlined
def line_up(rows, scratch, base, n_bins, width):
    """List the occupied bins, with the rows and the weight up to each; return how many."""
    n, count, left = 0, 0, np.float32(0.0)
    for b in range(n_bins):
        here = np.int64(peek(scratch.far_count, base + b))
        poke(scratch.sorted, n, np.uint8(b))
        count += here
        poke(scratch.count, n, np.int32(count))
        if not rows.masked:
            left += peek(scratch.far, (base + b) * width + rows.n_targets) * rows.per_unit
            poke(scratch.left, n, left)
        n += here > 0
    separate(scratch, n)
    return n


@inlined
def separate(scratch, n):
    """Mark that a cut is possible after each of n bins."""
    for i in range(0, n, 8):
        poke_number(scratch.ends, i, 0x0101010101010101)


@jit
def add_up(rows, scratch, order, n, base, width):
    """Evaluate the cut after each of n bins; `gains` then holds squares, or gains if `masked`.

    Parameters
    ----------
    rows, scratch : Rows, Scratch
    order : uint8 pointer, the bins in the order in which they are added up
    n : int
    base : int, the place of the feature's first bin in `far_count`
    width : int, the numbers in a record
    """
    place = shift(scratch.far, base * width)
    if rows.masked:
        llvm.raw_masses(
            place, order, n, width, scratch.left, scratch.mean, scratch.inverse, scratch.running,
            scratch.gains, rows.steps,
        )  # fmt: skip
    else:
        llvm.raw(
            place, order, n, width, scratch.left, scratch.mean, scratch.inverse, scratch.running,
            scratch.gains, rows.steps,
        )  # fmt: skip


@jit
def scan(rows, scratch, feature, slot, m, whole, min_leaf, known):
    """The best split of one feature: gain or -1, last, following, side, and if it is constant.

    Bins are valid only if the gain exceeds `known`. Arguments are those of `layout`.
    """
    width = width_of(rows)
    base = slot * peek(rows.bins, rows.n_features) + peek(rows.bins, feature)
    n = line_up(
        rows, scratch, base, peek(rows.bins, feature + 1) - peek(rows.bins, feature), width
    )
    if n == 1:
        return np.float32(-1.0), 0, 0, 0, True
    order, side = scratch.sorted, 0
    add_up(rows, scratch, order, n, base, width)
    best, at = cuts.pick(
        scratch.gains, scratch.left, scratch.count, scratch.ends, n - 1, m, whole, min_leaf,
        rows.masked, known,
    )  # fmt: skip
    if peek(order, n - 1) == MISSING:
        gain, there = scan_again(rows, scratch, n, base, m, whole, min_leaf, max(best, known))
        if gain > best * TIE:
            best, at, side = gain, there, 1
            order = shift(scratch.sorted, 256)
    return best, np.int64(peek(order, at)), np.int64(peek(order, at + 1)), side, False


@inlined
def scan_again(rows, scratch, n, base, m, whole, min_leaf, known):
    """The gain and number of the best cut if NaN, in the last bin so far, goes left.

    Parameters
    ----------
    rows, scratch : Rows, Scratch
    n : int, the number of occupied bins
    base : int, the place of the feature's first bin in `far_count`
    m, whole, min_leaf, known : see `layout`
    """
    width = width_of(rows)
    order = shift(scratch.sorted, 256)
    lacking = peek(scratch.far_count, base + MISSING)
    mass = np.float32(0.0)
    if not rows.masked:
        mass = peek(scratch.far, (base + MISSING) * width + rows.n_targets) * rows.per_unit
    for i in range(n - 1, 0, -1):
        poke(order, i, peek(scratch.sorted, i - 1))
        poke(scratch.count, i, np.int32(peek(scratch.count, i - 1) + lacking))
        poke(scratch.left, i, np.float32(peek(scratch.left, i - 1) + mass))
    poke(order, 0, MISSING)
    separate(scratch, n)
    poke(scratch.ends, 0, np.uint8(0))
    add_up(rows, scratch, order, n, base, width)
    return cuts.pick(
        scratch.gains, scratch.left, scratch.count, scratch.ends, n - 1, m, whole, min_leaf,
        rows.masked, known,
    )  # fmt: skip


@jit
def split(rows, scratch, perm, lo, m, whole, min_leaf, max_features, rng, constant, slot, made):
    """The best split: gain or -1, feature, last, following, side.

    `made` says whether the slot already has the histograms of all features that are not constant;
    the other arguments are those of `layout`.
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
            collect(rows, scratch, perm, lo, lo + m, n_chosen, slot)
        for j in range(n_chosen):
            f = np.int64(peek(scratch.chosen, j))
            gain, last, following, side, same = scan(
                rows, scratch, f, slot, m, whole, min_leaf, best
            )
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
    """Make the children's histograms from the parent's; return their slots, -1 for none.

    The larger child gets the parent's slot, minus the smaller child. Arguments are those of
    `layout`.
    """
    # one slot stays free for a node without histograms
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
    collect(rows, scratch, perm, begin, end, n_chosen, other)
    take_off(rows, scratch.far, scratch.far_count, scratch.chosen, n_chosen, slot, other)
    if end - begin < large:
        release(scratch.free, state, other)
        other = -1
    return (other, slot) if left_is_small else (slot, other)
