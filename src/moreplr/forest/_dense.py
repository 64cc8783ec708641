"""Weigh all bins of a histogram of class counts at once, occupied or not.

An empty bin has the sums of the bin before it and never wins against it, so that nothing needs
to be known about which bins have rows, and no branch depends on the data. The counts of three
classes share 32 bits, which is enough for nodes of a weight below 1024, and products of two
counts are exact in single precision.
"""

# mypy: disable-error-code="assignment"
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from moreplr._jit import inlined
from moreplr.forest._bits import increase, lowest_bit, peek, poke, shift
from moreplr.forest._layout import ROOM, TIE

BITS = 10
MOST = 1 << BITS
LANES = 8
_COUNTS = ir.VectorType(ir.IntType(32), LANES)
_REAL = ir.VectorType(ir.FloatType(), LANES)
_ZEROS = ir.Constant(_COUNTS, [0] * LANES)


def _picked(builder: Any, one: Any, other: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(one, other, ir.Constant(_COUNTS, lanes))


def _splat(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_REAL, ir.Undefined)
    one = builder.insert_element(empty, value, ir.IntType(32)(0))
    return _picked(builder, one, empty, [0] * LANES)


def _running(builder: Any, counts: Any) -> Any:
    """Each lane with all lanes before it added."""
    for step in (1, 2, 4):
        moved = [LANES] * step + list(range(LANES - step))
        counts = builder.add(counts, _picked(builder, counts, _ZEROS, moved))
    return counts


def _largest(builder: Any, vector: Any) -> Any:
    for half in (4, 2, 1):
        swapped = _picked(builder, vector, vector, [(i + half) % LANES for i in range(LANES)])
        larger = builder.fcmp_ordered(">", vector, swapped)
        vector = builder.select(larger, vector, swapped)
    return builder.extract_element(vector, ir.IntType(32)(0))


def _class(builder: Any, packed: Any, number: int) -> Any:
    """The counts of one class as floats."""
    there = builder.lshr(packed, ir.Constant(_COUNTS, [BITS * number] * LANES))
    if number < 2:
        there = builder.and_(there, ir.Constant(_COUNTS, [MOST - 1] * LANES))
    return builder.sitofp(there, _REAL)


def _gain(builder: Any, packed: Any, total_a: Any, total_b: Any, whole: Any) -> Any:
    """What a cut gains with these sums on the left, or -1 where it leaves one side empty."""
    a, b, c = (_class(builder, packed, number) for number in range(3))
    mass = builder.fadd(builder.fadd(a, b), c)
    one = builder.fsub(builder.fmul(a, whole), builder.fmul(total_a, mass))
    other = builder.fsub(builder.fmul(b, whole), builder.fmul(total_b, mass))
    # the deviations of the three classes add up to 0
    squared = builder.fadd(builder.fmul(one, one), builder.fmul(other, other))
    squared = builder.fadd(squared, builder.fmul(one, other))
    product = builder.fmul(mass, builder.fsub(whole, mass))
    gain = builder.fdiv(builder.fadd(squared, squared), product)
    splits = builder.fcmp_ordered(">", product, ir.Constant(_REAL, [0.0] * LANES))
    return builder.select(splits, gain, ir.Constant(_REAL, [-1.0] * LANES))


@intrinsic
def _weigh(typingctx, sums, others, running, gains, vectors, total_a, total_b, whole):
    def codegen(context, builder, signature, args):
        totals = [_splat(builder, number) for number in args[5:]]
        carried = cgutils.alloca_once_value(builder, _ZEROS)
        best = cgutils.alloca_once_value(builder, ir.Constant(_REAL, [-1.0] * LANES))
        with cgutils.for_range(builder, args[4]) as loop:
            at = [builder.mul(loop.index, args[4].type(LANES))]
            sums, others, running, gains = (
                builder.bitcast(builder.gep(place, at), kind.as_pointer())
                for place, kind in zip(args, (_COUNTS, _COUNTS, _COUNTS, _REAL))  # noqa: B905
            )
            counts = builder.add(builder.load(sums, align=4), builder.load(others, align=4))
            builder.store(_ZEROS, sums, align=4)
            builder.store(_ZEROS, others, align=4)
            counts = builder.add(_running(builder, counts), builder.load(carried))
            builder.store(counts, running, align=4)
            builder.store(_picked(builder, counts, counts, [LANES - 1] * LANES), carried)
            gain = _gain(builder, counts, *totals)
            builder.store(gain, gains, align=4)
            before = builder.load(best)
            larger = builder.fcmp_ordered(">", gain, before)
            builder.store(builder.select(larger, gain, before), best)
        return _largest(builder, builder.load(best))

    counts, real = types.CPointer(types.int32), types.float32
    signature = real(counts, counts, counts, types.CPointer(real), types.int64, real, real, real)
    return signature, codegen


@intrinsic
def _not_below(typingctx, gains, at, bound):
    def codegen(context, builder, signature, args):
        here = builder.bitcast(builder.gep(args[0], [args[1]]), _REAL.as_pointer())
        bound = _splat(builder, args[2])
        mask = builder.fcmp_ordered(">=", builder.load(here, align=4), bound)
        return builder.zext(builder.bitcast(mask, ir.IntType(LANES)), ir.IntType(64))

    return types.uint64(types.CPointer(types.float32), types.int64, types.float32), codegen


# with Any, as callers do not pass the typing context that the declarations show
weigh: Any = _weigh
"""Add two histograms up bin by bin into `running`, empty them, store what a cut after each bin
gains, or -1, and give the largest gain."""
not_below: Any = _not_below
"""A bit for each of the eight gains from `at` on that is at least `bound`."""


@inlined
def unpacked(counts, bits):
    """Counts of three classes of 10 bits each with more room."""
    counts = np.int64(counts)
    low, middle = counts & (MOST - 1), (counts >> BITS) & (MOST - 1)
    return low | (middle << bits) | ((counts >> (2 * BITS)) << (2 * bits))


@inlined
def collect(tree, perm, lo, hi, chosen, n_chosen, numbers, sums, others):
    """Add a node's rows to two histograms of each chosen feature, whose sum counts.

    `numbers` says what a row's byte of class and weight adds to a bin. Neighbouring rows go to
    different histograms, as an addition to the bin of the row before would have to wait for it.
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
    """The same for four features: so many are named in registers."""
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
    """The best cut of the chosen features, whose histograms it empties.

    `first` and `second` are the node's counts of two classes. Gives the gain, which feature by
    its number among the chosen, the bins around the cut, and the sum of the left side. The
    gains of all features, -1 where one is constant, are left in `largest`.
    """
    vectors = (tree.n_bins + LANES - 1) // LANES
    # nothing here waits for the outcome of another feature, so that their work overlaps
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
