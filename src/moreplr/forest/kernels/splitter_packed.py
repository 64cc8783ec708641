"""Histograms of packed numbers, with a set of the occupied bins.

Thanks to the set, the time for a node depends on its rows and not on the number of bins.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined
from moreplr.forest.kernels.layout import CLASS_BITS, MISSING, ROOM
from moreplr.forest.kernels.llvm import lowest_bit, peek, peek_number, poke

_CLASS = np.int64((1 << CLASS_BITS) - 1)
_ONE, _LOW6 = np.uint64(1), np.uint64(63)
# gains closer than this are ties
TIE = 1.0 + 1e-12


@inlined
def weight_of(tree, number):
    """The weight in a packed sum."""
    if tree.n_classes > 0:
        return (number & _CLASS) + ((number >> CLASS_BITS) & _CLASS) + (number >> (2 * CLASS_BITS))
    return number & ((np.int64(1) << tree.weight_bits) - 1)


@inlined
def weigh(tree, left, total, whole):
    """The gain of a split with the packed sum `left`, up to a factor of the node."""
    if tree.n_classes > 0:
        a, b = left & _CLASS, (left >> CLASS_BITS) & _CLASS
        mass = a + b + (left >> (2 * CLASS_BITS))
        first = np.float64(a * whole - (total & _CLASS) * mass)
        second = np.float64(b * whole - ((total >> CLASS_BITS) & _CLASS) * mass)
        # the deviations of the three classes add up to 0
        squared = 2.0 * (first * first + second * second + first * second)
    else:
        mass = left & ((np.int64(1) << tree.weight_bits) - 1)
        away = np.float64((left >> tree.weight_bits) * whole - (total >> tree.weight_bits) * mass)
        squared = away * away
    return squared / np.float64(mass * (whole - mass))


@inlined
def number_of(tree, row):
    """The packed number of a row; `row` is where its cells begin.

    It is stored after the row's bins: in eight bytes, or as a byte of class and weight.
    """
    if tree.n_classes > 0:
        return peek(tree.numbers, np.int64(peek(tree.cells, row + tree.n_features)))
    return peek_number(tree.cells, row + tree.n_features)


@inlined
def collect(tree, scratch, perm, lo, hi, n_chosen, counted):
    """Add a node's rows to the histograms of the chosen features and note the occupied bins.

    Parameters
    ----------
    tree, scratch : Packed, PackedScratch
    perm, lo, hi, n_chosen : see `layout`
    counted : bool, whether rows are counted as well
    """
    for i in range(lo, hi):
        row = np.int64(peek(perm, i)) * tree.stride
        number = number_of(tree, row)
        for j in range(n_chosen):
            code = np.int64(peek(tree.cells, row + np.int64(peek(scratch.chosen, j))))
            b = ROOM * j + code
            poke(scratch.sums, b, peek(scratch.sums, b) + number)
            word = 4 * j + (code >> 6)
            bit = _ONE << (np.uint64(code) & _LOW6)
            poke(scratch.occupied, word, peek(scratch.occupied, word) | bit)
            if counted:
                poke(scratch.counts, b, np.int32(peek(scratch.counts, b) + 1))


@inlined
def scan(tree, scratch, j, m, total, whole, min_leaf):
    """The best split of the j-th chosen feature, whose bins are emptied.

    Return the gain or -1, last, following, side, the left sum, and the number of occupied bins.

    Parameters
    ----------
    tree, scratch : Packed, PackedScratch
    j : int
    total : int64, the packed sum of the node
    m, whole, min_leaf : see `layout`
    """
    first = ROOM * j
    lacking = 1 if peek(scratch.occupied, 4 * j + 3) >> _LOW6 != 0 else 0
    best, best_bin, best_next, best_side, best_left = -1.0, 0, 0, 0, np.int64(0)
    n_bins = 0
    for side in range(1 + lacking):
        left, count, last = np.int64(0), 0, -1
        if side == 1:  # a second pass with the rows that lack the feature on the left
            left = peek(scratch.sums, first + 255)
            count = np.int64(peek(scratch.counts, first + 255))
        for word in range((tree.n_bins + 63) >> 6):
            bits = peek(scratch.occupied, 4 * j + word)
            while bits != 0:
                b = np.int64(lowest_bit(bits)) + 64 * word
                bits &= bits - _ONE
                enough = last >= 0 and (side == 0 or b < MISSING)
                if min_leaf > 1:
                    enough &= count >= min_leaf and m - count >= min_leaf
                    count += np.int64(peek(scratch.counts, first + b))
                if enough:
                    gain = weigh(tree, left, total, whole)
                    if gain > best * TIE:
                        best, best_bin, best_next, best_side = gain, last, b, side
                        best_left = left
                last = b
                left += peek(scratch.sums, first + b)
                if side == lacking:
                    n_bins += 1
                    poke(scratch.sums, first + b, np.int64(0))
                    if min_leaf > 1:
                        poke(scratch.counts, first + b, np.int32(0))
            if side == lacking:
                poke(scratch.occupied, 4 * j + word, np.uint64(0))
    return best, best_bin, best_next, best_side, best_left, n_bins
