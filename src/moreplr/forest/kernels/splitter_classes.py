"""Evaluate the cuts after all bins of a histogram of class counts, empty ones as well.

The cut after an empty bin has the same sums as the cut before it, and never wins against it. So
occupied bins need not be tracked, and no branch depends on the data. The counts of three classes
share 32 bits, which is enough for nodes with a weight below 1024. Products of two counts are exact
in single precision.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined
from moreplr.forest.kernels.layout import ROOM, TIE
from moreplr.forest.kernels.llvm import (
    LANES,
    increase,
    lowest_bit,
    not_below,
    peek,
    poke,
    shift,
    weigh,
)

BITS = 10
MOST = 1 << BITS


@inlined
def unpacked(counts, bits):
    """Repack counts of three classes from 10 to `bits` bits each."""
    counts = np.int64(counts)
    low, middle = counts & (MOST - 1), (counts >> BITS) & (MOST - 1)
    return low | (middle << bits) | ((counts >> (2 * BITS)) << (2 * bits))


@inlined
def collect(tree, perm, lo, hi, chosen, n_chosen, numbers, sums, others):
    """Add a node's rows to two histograms of each chosen feature, which are added up later.

    Neighbouring rows go to different histograms: two additions to the same bin in a row would
    have to wait for each other.

    Parameters
    ----------
    tree : Packed
    perm, lo, hi, chosen, n_chosen : see `layout`
    numbers : int32 pointer, the packed counts for each byte of class and weight
    sums, others : int32 pointers, the two histograms
    """
    done = 0
    while done + 4 <= n_chosen:
        four = shift(chosen, done)
        at = ROOM * done
        collect_four(tree, perm, lo, hi, four, numbers, shift(sums, at), shift(others, at))
        done += 4
    for j in range(done, n_chosen):
        f, at = np.int64(peek(chosen, j)), ROOM * j
        for i in range(lo, hi):
            row = np.int64(peek(perm, i)) * tree.stride
            number = peek(numbers, np.int64(peek(tree.cells, row + tree.n_features)))
            increase(sums, at + np.int64(peek(tree.cells, row + f)), number)


@inlined
def collect_four(tree, perm, lo, hi, chosen, numbers, sums, others):
    """`collect` for the four features in `chosen`, which fit into registers."""
    a, b = np.int64(peek(chosen, 0)), np.int64(peek(chosen, 1))
    c, d = np.int64(peek(chosen, 2)), np.int64(peek(chosen, 3))
    for i in range(lo, hi - 1, 2):
        row = shift(tree.cells, np.int64(peek(perm, i)) * tree.stride)
        other = shift(tree.cells, np.int64(peek(perm, i + 1)) * tree.stride)
        number = peek(numbers, np.int64(peek(row, tree.n_features)))
        its_number = peek(numbers, np.int64(peek(other, tree.n_features)))
        increase(sums, np.int64(peek(row, a)), number)
        increase(others, np.int64(peek(other, a)), its_number)
        increase(sums, ROOM + np.int64(peek(row, b)), number)
        increase(others, ROOM + np.int64(peek(other, b)), its_number)
        increase(sums, 2 * ROOM + np.int64(peek(row, c)), number)
        increase(others, 2 * ROOM + np.int64(peek(other, c)), its_number)
        increase(sums, 3 * ROOM + np.int64(peek(row, d)), number)
        increase(others, 3 * ROOM + np.int64(peek(other, d)), its_number)
    if (hi - lo) & 1:
        row = shift(tree.cells, np.int64(peek(perm, hi - 1)) * tree.stride)
        number = peek(numbers, np.int64(peek(row, tree.n_features)))
        increase(sums, np.int64(peek(row, a)), number)
        increase(sums, ROOM + np.int64(peek(row, b)), number)
        increase(sums, 2 * ROOM + np.int64(peek(row, c)), number)
        increase(sums, 3 * ROOM + np.int64(peek(row, d)), number)


@inlined
def best_of(tree, scratch, n_chosen, first, second, whole):
    """The best cut of the chosen features, whose histograms are emptied.

    Return the gain, the feature's place among the chosen ones, last, following, and the sum of the
    left side. The best gain of each feature is written to `largest`, -1 if it is constant.

    Parameters
    ----------
    tree, scratch : Packed, PackedScratch
    n_chosen, whole : see `layout`
    first, second : float32, the node's counts of two classes
    """
    vectors = (tree.n_bins + LANES - 1) // LANES
    # features do not depend on each other, so that the processor overlaps them
    for j in range(n_chosen):
        at = ROOM * j
        gain = weigh(
            shift(scratch.few, at), shift(scratch.few_others, at), shift(scratch.running, at),
            shift(scratch.gains, at), vectors, first, second, whole,
        )  # fmt: skip
        poke(scratch.largest, j, gain)
    best, chosen = np.float32(-1.0), 0
    for j in range(n_chosen):
        gain = peek(scratch.largest, j)
        wins = gain > best * TIE
        best = gain if wins else best
        chosen = j if wins else chosen
    if best < 0.0:
        return best, 0, 0, 0, np.int32(0)
    gains = shift(scratch.gains, ROOM * chosen)
    running = shift(scratch.running, ROOM * chosen)
    at = 0
    equals = not_below(gains, at, best / TIE)
    while equals == 0:
        at += LANES
        equals = not_below(gains, at, best / TIE)
    last = at + np.int64(lowest_bit(equals))
    left = peek(running, last)
    following = last + 1
    while peek(running, following) == left:
        following += 1
    return best, chosen, last, following, left
