"""Weigh every cut of a feature in one go: running sums stay in registers from bin to bin."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from moreplr._jit import jit
from moreplr.forest._bits import peek, poke, poke_number
from moreplr.forest._layout import TIE
from moreplr.forest._simd import (
    BYTES,
    LANES,
    POINTER,
    VECTOR,
    Slices,
    add_lanes,
    splat,
    spread_over,
    zero,
)

_STRAIGHT = 4


def _add_up(builder: Any, terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = builder.fadd(total, term)
    return total


def _quotients(builder: Any, pairs: list[tuple[Any, Any]]) -> Any:
    """The sum of the quotients: two of them share one slow division."""
    terms = []
    for one, other in zip(pairs[::2], pairs[1::2], strict=False):
        (a, b), (c, d) = one, other
        top = builder.fadd(builder.fmul(a, d), builder.fmul(c, b))
        terms.append(builder.fdiv(top, builder.fmul(b, d)))
    if len(pairs) % 2:
        terms.append(builder.fdiv(*pairs[-1]))
    return _add_up(builder, terms)


class _Scan:
    """Code for one scan; `masked` sums are followed by their masses, `raw` ones not centred."""

    def __init__(self, builder: Any, args: Any, masked: bool, raw: bool) -> None:
        (self.place, self.base, self.width, self.order, self.n, self.left, self.mean,
         self.inverse, self.running, self.out, self.steps) = args  # fmt: skip
        self.builder, self.slices = builder, Slices(builder)
        self.masked, self.raw = masked, raw

    def record(self, i: Any) -> Any:
        """Where the numbers of the i-th bin or row in order begin."""
        number = self.builder.zext(self.builder.load(self.builder.gep(self.order, [i])), i.type)
        at = self.builder.add(self.base, self.builder.mul(number, self.width))
        return self.builder.gep(self.place, [at])

    def deviation(self, sums: Any, mass: Any, i: Any, step: Any) -> Any:
        """What the sums of the left side are off the node's mean, squared."""
        b = self.builder
        if self.raw:
            mean = self.slices.load(self.mean, step)
            if not self.masked:
                mass = splat(b, b.load(b.gep(self.left, [i])))
            sums = b.fsub(sums, b.fmul(mass, mean))
        return b.fmul(sums, sums)

    def parts(self, sums: Any, mass: Any, i: Any, step: Any) -> tuple[Any, Any]:
        squares = self.deviation(sums, mass, i, step)
        if self.raw:
            inverse = self.slices.load(self.inverse, step)
            squares, mass = (self.builder.fmul(x, inverse) for x in (squares, mass))
        return spread_over(self.builder, squares, mass)

    def straight(self, count: int) -> None:
        """The scan with `count` vectors in registers."""
        b, kind = self.builder, self.steps.type
        parts = 2 * count if self.masked else count
        sums = [cgutils.alloca_once_value(b, zero()) for _ in range(parts)]
        for place in sums:
            b.store(zero(), place)
        with cgutils.for_range(b, self.n) as loop:
            record = self.record(loop.index)
            for step, place in enumerate(sums):
                more = self.slices.load(record, kind(step))
                b.store(b.fadd(b.load(place), more), place)
            values = [b.load(place) for place in sums]
            if self.masked:
                each = zip(values[:count], values[count:], range(count), strict=True)
                total = _quotients(b, [self.parts(s, m, loop.index, kind(i)) for s, m, i in each])
            else:
                total = _add_up(
                    b,
                    [self.deviation(s, None, loop.index, kind(i)) for i, s in enumerate(values)],
                )
            b.store(add_lanes(b, total), b.gep(self.out, [loop.index]))

    def general(self) -> None:
        """The scan with any number of vectors, in memory."""
        b, steps = self.builder, self.steps
        total = cgutils.alloca_once_value(b, zero())
        parts = b.mul(steps, steps.type(2 if self.masked else 1))
        with cgutils.for_range(b, parts) as loop:
            self.slices.store(zero(), self.running, loop.index)
        with cgutils.for_range(b, self.n) as loop:
            record = self.record(loop.index)
            with cgutils.for_range(b, parts) as inner:
                here = self.slices.load(self.running, inner.index)
                more = b.fadd(here, self.slices.load(record, inner.index))
                self.slices.store(more, self.running, inner.index)
            b.store(zero(), total)
            with cgutils.for_range(b, steps) as inner:
                sums = self.slices.load(self.running, inner.index)
                if self.masked:
                    mass = self.slices.load(self.running, b.add(steps, inner.index))
                    term = b.fdiv(*self.parts(sums, mass, loop.index, inner.index))
                else:
                    term = self.deviation(sums, None, loop.index, inner.index)
                b.store(b.fadd(b.load(total), term), total)
            b.store(add_lanes(b, b.load(total)), b.gep(self.out, [loop.index]))


def _signature_and_code(masked: bool, raw: bool) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scan = _Scan(builder, args, masked, raw)
        for count in range(1, _STRAIGHT + 1):
            same = builder.icmp_signed("==", scan.steps, scan.steps.type(count))
            with builder.if_then(same):
                scan.straight(count)
        many = builder.icmp_signed(">", scan.steps, scan.steps.type(_STRAIGHT))
        with builder.if_then(many):
            scan.general()
        return context.get_dummy_value()

    whole = types.int64
    signature = types.void(
        POINTER, whole, whole, BYTES, whole, POINTER, POINTER, POINTER, POINTER, POINTER, whole
    )
    return signature, codegen


@intrinsic
def _centred(typingctx, place, base, width, order, n, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=False, raw=False)


@intrinsic
def _raw(typingctx, place, base, width, order, n, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=False, raw=True)


@intrinsic
def _shares(typingctx, place, base, width, order, n, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=True, raw=False)


@intrinsic
def _raw_masses(typingctx, place, base, width, order, n, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=True, raw=True)


# Each adds up the records `place[base + order[i] * width:]`, for i from 0 to n, and stores in
# `out[i]` what the sums up to there say. With Any, as callers do not pass the typing context
# that the declarations show.
centred: Any = _centred
"""Records of deviations from the mean: the squares of the sums."""
raw: Any = _raw
"""Records of targets: the squares of the sums less `left[i]` times `mean`."""
shares: Any = _shares
"""Records of scaled deviations, then shares of the mass: the gain of a cut."""
raw_masses: Any = _raw_masses
"""Records of targets, then masses: the gain of a cut."""


def _largest(builder: Any, vector: Any) -> Any:
    for half in (4, 2, 1):
        picked = ir.Constant(ir.VectorType(ir.IntType(32), LANES), _turned(half))
        swapped = builder.shuffle_vector(vector, vector, picked)
        vector = builder.select(builder.fcmp_ordered(">", vector, swapped), vector, swapped)
    return builder.extract_element(vector, ir.IntType(32)(0))


def _turned(by: int) -> list[int]:
    return [(lane + by) % LANES for lane in range(LANES)]


@intrinsic
def _settle(typingctx, gains, left, ends, n, whole, masked):
    def codegen(context, builder, signature, args):
        gains, left, ends, n, whole, masked = args
        slices, everything = Slices(builder), splat(builder, whole)
        unfit = ir.Constant(VECTOR, [-1.0] * LANES)
        best = cgutils.alloca_once_value(builder, unfit)
        steps = builder.sdiv(builder.add(n, n.type(LANES - 1)), n.type(LANES))
        with cgutils.for_range(builder, steps) as loop:
            gain, mass = slices.load(gains, loop.index), slices.load(left, loop.index)
            product = builder.fmul(mass, builder.fsub(everything, mass))
            scaled = builder.fmul(gain, builder.fdiv(everything, product))
            gain = builder.select(masked, gain, scaled)
            codes = slices.load_bytes(ends, loop.index)
            fits = builder.icmp_signed("!=", codes, ir.Constant(codes.type, [0] * LANES))
            gain = builder.select(fits, gain, unfit)
            slices.store(gain, gains, loop.index)
            before = builder.load(best)
            larger = builder.fcmp_ordered(">", gain, before)
            builder.store(builder.select(larger, gain, before), best)
        return _largest(builder, builder.load(best))

    signature = types.float32(POINTER, POINTER, BYTES, types.int64, types.float32, types.boolean)
    return signature, codegen


settle: Any = _settle
"""Make gains of n squares, unless they are `masked`, and -1 where `ends` is 0; the largest."""


@jit
def pick(gains, left, count, ends, n, m, whole, min_leaf, masked, known):
    """The best of n cuts: its gain, or -1, and, if it beats `known`, the first such cut's number.

    `gains` are squares still unless `masked`; `left` has the weights on the left, `count` the
    numbers of rows there, and `ends` whether a cut is between two bins. Some cells after the
    n-th are written to.
    """
    poke_number(ends, n, 0)
    if min_leaf > 1:
        for i in range(n):
            if peek(count, i) < min_leaf or m - peek(count, i) < min_leaf:
                poke(ends, i, np.uint8(0))
    best = settle(gains, left, ends, n, whole, masked)
    at = 0
    if best >= 0.0 and best > known * TIE:
        while peek(gains, at) * TIE < best:
            at += 1
    return best, at
