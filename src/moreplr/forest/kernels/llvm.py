"""The few operations that are written in LLVM's intermediate representation.

All other kernels are plain loops. With plain loops in place of these, whole fits took longer
(`benchmarks/results/forest/plain_loops.md`):

- running sums over the cuts of a feature: up to 28 % longer without missing targets,
- weighing histograms of class counts: 20 to 27 % longer fits of pairs,
- `add`, `add_into`, `away`, `squares`: up to 20 % longer, 9 % on average, together
  with less frequent operations on slices, which are plain loops now,
- all of them together: up to 39 % longer, 21 % on average.

The reason is the same for all: vectors are short, eight to 32 numbers, and the compiler's own
vector loops check for overlap and length at each start. The other operations do not exist in
numba: bits of a word, and pointers, which take one register.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from moreplr._jit import inlined

LANES = 8
_STRAIGHT = 4
VECTOR = ir.VectorType(ir.FloatType(), LANES)
POINTER = types.CPointer(types.float32)
BYTES = types.CPointer(types.uint8)
# a smaller product of both sides' shares of the weight may be a rounding error
LEAST = 2.5e-7


@intrinsic
def _lowest_bit(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


def _compared(operator, lanes):
    """Code that compares `lanes` bytes with a bound and returns a bit for each."""

    def codegen(context, builder, signature, args):
        kind = ir.VectorType(ir.IntType(8), lanes)
        pointer = builder.bitcast(builder.gep(args[0], [args[1]]), kind.as_pointer())
        codes = builder.load(pointer, align=1)
        empty = ir.Constant(kind, [0] * lanes)
        first = builder.insert_element(empty, args[2], ir.IntType(32)(0))
        pick = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        bounds = builder.shuffle_vector(first, empty, pick)
        mask = builder.icmp_unsigned(operator, codes, bounds)
        mask = builder.bitcast(mask, ir.IntType(lanes))
        return mask if lanes == 64 else builder.zext(mask, ir.IntType(64))

    return codegen


@intrinsic
def _not_above(typingctx, place, index, bound):
    return types.int64(BYTES, types.int64, types.uint8), _compared("<=", 8)


@intrinsic
def _below(typingctx, place, index, bound):
    return types.uint64(BYTES, types.int64, types.uint8), _compared("<", 64)


@intrinsic
def _equal(typingctx, place, index, bound):
    return types.uint64(BYTES, types.int64, types.uint8), _compared("==", 64)


@intrinsic
def _count_bits(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _pointer(typingctx, array):
    def codegen(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), codegen


@intrinsic
def _peek(typingctx, place, index):
    def codegen(context, builder, signature, args):
        return builder.load(builder.gep(args[0], [args[1]]))

    return place.dtype(place, types.int64), codegen


@intrinsic
def _poke(typingctx, place, index, value):
    def codegen(context, builder, signature, args):
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(place, types.int64, place.dtype), codegen


@intrinsic
def _increase(typingctx, place, index, value):
    def codegen(context, builder, signature, args):
        there = builder.gep(args[0], [args[1]])
        builder.store(builder.add(builder.load(there), args[2]), there)
        return context.get_dummy_value()

    return types.void(place, types.int64, place.dtype), codegen


@intrinsic
def _shift(typingctx, place, index):
    def codegen(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return place(place, types.int64), codegen


@intrinsic
def _peek_number(typingctx, place, index):
    def codegen(context, builder, signature, args):
        there = builder.gep(args[0], [args[1]])
        return builder.load(builder.bitcast(there, ir.IntType(64).as_pointer()), align=1)

    return types.int64(BYTES, types.int64), codegen


@intrinsic
def _poke_number(typingctx, place, index, number):
    def codegen(context, builder, signature, args):
        there = builder.gep(args[0], [args[1]])
        builder.store(args[2], builder.bitcast(there, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(BYTES, types.int64, types.int64), codegen


def _whole(array):
    return array.reshape(array.size)


def _element(array, index):
    return array[index]


# with Any, as callers do not pass the typing context that the declarations show
lowest_bit: Any = _lowest_bit
"""The position of the lowest set bit of a uint64 that is not zero."""
not_above: Any = _not_above
"""A bit for each of the eight bytes from `place[index]` on that is at most `bound`."""
below: Any = _below
"""A bit for each of the 64 bytes from `place[index]` on that is below `bound`."""
equal: Any = _equal
"""A bit for each of the 64 bytes from `place[index]` on that equals `bound`."""
count_bits: Any = _count_bits
"""How many bits of a uint64 are set."""
pointer: Any = _pointer
"""A pointer to the first element of an array. It is cheaper to pass than an array, but does not
keep the array alive."""
peek: Any = _peek
"""`place[index]` of a pointer."""
checked_pointer: Any = inlined(_whole)
"""Replaces `pointer` for `checked_peek`: returns the flat array itself."""
checked_peek: Any = inlined(_element)
"""`peek` of an array, which checks bounds if numba is told to, as by `make fuzz`."""
poke: Any = _poke
"""`place[index] = value` of a pointer."""
increase: Any = _increase
"""`place[index] += value` for integers."""
peek_number: Any = _peek_number
"""The int64 in the eight bytes from `place[index]` on."""
poke_number: Any = _poke_number
"""Write an int64 to the eight bytes from `place[index]` on."""
shift: Any = _shift
"""The pointer to `place[index]`."""


class Slices:
    """Loads and stores vectors at a pointer."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def at(self, pointer: Any, step: Any) -> Any:
        there = self.builder.gep(pointer, [self.builder.mul(step, step.type(LANES))])
        return self.builder.bitcast(there, VECTOR.as_pointer())

    def load(self, pointer: Any, step: Any) -> Any:
        return self.builder.load(self.at(pointer, step), align=4)

    def load_bytes(self, pointer: Any, step: Any) -> Any:
        """Eight signed bytes."""
        there = self.builder.gep(pointer, [self.builder.mul(step, step.type(LANES))])
        kind = ir.VectorType(ir.IntType(8), LANES)
        return self.builder.load(self.builder.bitcast(there, kind.as_pointer()), align=1)

    def store(self, value: Any, pointer: Any, step: Any) -> None:
        self.builder.store(value, self.at(pointer, step), align=4)


def zero() -> Any:
    return ir.Constant(VECTOR, [0.0] * LANES)


def splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(zero(), value, ir.IntType(32)(0))
    return builder.shuffle_vector(
        one, zero(), ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
    )


def add_lanes(builder: Any, vector: Any) -> Any:
    """The sum of the eight lanes: halves, then quarters, then the last two."""
    width = LANES
    while width > 1:
        width //= 2
        pick = ir.VectorType(ir.IntType(32), width)
        low = builder.shuffle_vector(vector, vector, ir.Constant(pick, list(range(width))))
        high = builder.shuffle_vector(
            vector, vector, ir.Constant(pick, list(range(width, 2 * width)))
        )
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.IntType(32)(0))


def _operation(
    n_slices: int, n_scalars: int, body: Callable[..., Any], reduces: bool, last: Any = POINTER
) -> Callable[..., Any]:
    """An intrinsic `f(a, i, b, j, ..., scalars..., steps)` that runs `body` for each vector.

    `body(builder, slices, pointers, scalars, step)` returns the vector to be added up, if any.
    The last slice has the type `last`.
    """
    result = types.float32 if reduces else types.void
    arguments = [POINTER, types.int64] * (n_slices - 1) + [last, types.int64]
    arguments += [types.float32] * n_scalars + [types.int64]
    signature = result(*arguments)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slices = Slices(builder)
        pointers = [builder.gep(args[2 * i], [args[2 * i + 1]]) for i in range(n_slices)]
        scalars = [splat(builder, s) for s in args[2 * n_slices : 2 * n_slices + n_scalars]]
        total = cgutils.alloca_once_value(builder, zero())

        def once(step: Any) -> None:
            term = body(builder, slices, pointers, scalars, step)
            if reduces:
                builder.store(builder.fadd(builder.load(total), term), total)

        # no loop for up to 32 targets: the compiler would unroll it, and its prologue and epilogue
        # would take longer than the work
        count = args[-1]
        with ExitStack() as nested:
            for step in range(_STRAIGHT):
                once(count.type(step))
                more = builder.icmp_signed(">", count, count.type(step + 1))
                nested.enter_context(builder.if_then(more))
            rest = builder.sub(count, count.type(_STRAIGHT))
            with cgutils.for_range(builder, rest) as loop:
                once(builder.add(loop.index, count.type(_STRAIGHT)))
        if reduces:
            return add_lanes(builder, builder.load(total))
        return context.get_dummy_value()

    return lambda: (signature, codegen)


def _add_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fadd(s.load(p[0], i), s.load(p[1], i)), p[0], i)


def _sum_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fadd(s.load(p[1], i), s.load(p[2], i)), p[0], i)


def _away_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fsub(s.load(p[1], i), b.fmul(c[0], s.load(p[2], i))), p[0], i)


def _squares_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> Any:
    d = s.load(p[0], i)
    return b.fmul(d, d)


def spread_over(b: Any, squares: Any, share: Any) -> tuple[Any, Any]:
    """Numerator and denominator of squares / (share (1 - share)).

    A side without mass adds 0: apart from rounding, it has no deviations.
    """
    product = b.fsub(share, b.fmul(share, share))
    least = ir.Constant(VECTOR, [LEAST] * LANES)
    return squares, b.select(b.fcmp_ordered(">", product, least), product, least)


_ADD = _operation(2, 0, _add_body, reduces=False)
_SUM = _operation(3, 0, _sum_body, reduces=False)
_AWAY = _operation(3, 1, _away_body, reduces=False)
_SQUARES = _operation(1, 0, _squares_body, reduces=True)


@intrinsic
def _add(typingctx, a, i, b, j, steps):
    return _ADD()


@intrinsic
def _sum(typingctx, a, i, b, j, c, k, steps):
    return _SUM()


@intrinsic
def _away(typingctx, a, i, b, j, c, k, factor, steps):
    return _AWAY()


@intrinsic
def _squares(typingctx, a, i, steps):
    return _SQUARES()


# a, b and c stand for the slices a[i:i + 8 * steps], b[j:j + 8 * steps], …
add: Any = _add
"""a += b"""
add_into: Any = _sum
"""a = b + c"""
away: Any = _away
"""a = b - factor * c"""
squares: Any = _squares
"""The sum of a²."""


def _add_up(builder: Any, terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = builder.fadd(total, term)
    return total


def _quotients(builder: Any, pairs: list[tuple[Any, Any]]) -> Any:
    """The sum of the quotients; two of them share one slow division."""
    terms = []
    for one, other in zip(pairs[::2], pairs[1::2], strict=False):
        (a, b), (c, d) = one, other
        top = builder.fadd(builder.fmul(a, d), builder.fmul(c, b))
        terms.append(builder.fdiv(top, builder.fmul(b, d)))
    if len(pairs) % 2:
        terms.append(builder.fdiv(*pairs[-1]))
    return _add_up(builder, terms)


class _Scan:
    """Code for one scan.

    With `masked`, the sums in a record are followed by their masses. With `raw`, they are not
    centred.
    """

    def __init__(self, builder: Any, args: Any, masked: bool, raw: bool) -> None:
        (self.place, self.order, self.n, self.width, self.left, self.mean, self.inverse,
         self.running, self.out, self.steps) = args  # fmt: skip
        self.builder, self.slices = builder, Slices(builder)
        self.masked, self.raw = masked, raw

    def record(self, i: Any) -> Any:
        """The pointer to the record of the i-th bin or row in order."""
        number = self.builder.zext(self.builder.load(self.builder.gep(self.order, [i])), i.type)
        return self.builder.gep(self.place, [self.builder.mul(number, self.width)])

    def deviation(self, sums: Any, mass: Any, i: Any, step: Any) -> Any:
        """The squared deviations of the sums of the left side from the node's mean."""
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
        POINTER, BYTES, whole, whole, POINTER, POINTER, POINTER, POINTER, POINTER, whole
    )
    return signature, codegen


@intrinsic
def _centred(typingctx, place, order, n, width, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=False, raw=False)


@intrinsic
def _raw(typingctx, place, order, n, width, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=False, raw=True)


@intrinsic
def _shares(typingctx, place, order, n, width, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=True, raw=False)


@intrinsic
def _raw_masses(typingctx, place, order, n, width, left, mean, inverse, running, out, steps):
    return _signature_and_code(masked=True, raw=True)


# Each adds up the records `place[order[i] * width:]` for i from 0 to n - 1, and stores in `out[i]`
# a result for the sums so far. `left` and `mean` are used by raw records, `inverse` by raw masses,
# `running` for many targets. With Any, as callers do not pass the typing context that the
# declarations show.
centred: Any = _centred
"""For records of deviations from the mean: the squares of the sums."""
raw: Any = _raw
"""For records of targets: the squares of the sums minus `left[i]` times `mean`."""
shares: Any = _shares
"""For records of scaled deviations, then shares of the mass: the gain of the cut."""
raw_masses: Any = _raw_masses
"""For records of targets, then masses: the gain of the cut."""


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
"""Turn n squares into gains, unless `masked`; write -1 where `ends` is 0; return the largest."""


_CLASS_BITS = 10
_COUNTS = ir.VectorType(ir.IntType(32), LANES)
_ZEROS = ir.Constant(_COUNTS, [0] * LANES)


def _picked(builder: Any, one: Any, other: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(one, other, ir.Constant(_COUNTS, lanes))


def _running(builder: Any, counts: Any) -> Any:
    """The cumulative sums of the lanes."""
    for step in (1, 2, 4):
        moved = [LANES] * step + list(range(LANES - step))
        counts = builder.add(counts, _picked(builder, counts, _ZEROS, moved))
    return counts


def _class(builder: Any, packed: Any, number: int) -> Any:
    """The counts of one class as floats."""
    there = builder.lshr(packed, ir.Constant(_COUNTS, [_CLASS_BITS * number] * LANES))
    if number < 2:
        there = builder.and_(there, ir.Constant(_COUNTS, [(1 << _CLASS_BITS) - 1] * LANES))
    return builder.sitofp(there, VECTOR)


def _gain(builder: Any, packed: Any, total_a: Any, total_b: Any, whole: Any) -> Any:
    """The gain of a cut with these sums on the left, or -1 where one side is empty."""
    a, b, c = (_class(builder, packed, number) for number in range(3))
    mass = builder.fadd(builder.fadd(a, b), c)
    one = builder.fsub(builder.fmul(a, whole), builder.fmul(total_a, mass))
    other = builder.fsub(builder.fmul(b, whole), builder.fmul(total_b, mass))
    # the deviations of the three classes add up to 0
    squared = builder.fadd(builder.fmul(one, one), builder.fmul(other, other))
    squared = builder.fadd(squared, builder.fmul(one, other))
    product = builder.fmul(mass, builder.fsub(whole, mass))
    gain = builder.fdiv(builder.fadd(squared, squared), product)
    splits = builder.fcmp_ordered(">", product, ir.Constant(VECTOR, [0.0] * LANES))
    return builder.select(splits, gain, ir.Constant(VECTOR, [-1.0] * LANES))


@intrinsic
def _weigh(typingctx, sums, others, running, gains, vectors, total_a, total_b, whole):
    def codegen(context, builder, signature, args):
        totals = [splat(builder, number) for number in args[5:]]
        carried = cgutils.alloca_once_value(builder, _ZEROS)
        best = cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [-1.0] * LANES))
        with cgutils.for_range(builder, args[4]) as loop:
            at = [builder.mul(loop.index, args[4].type(LANES))]
            sums, others, running, gains = (
                builder.bitcast(builder.gep(place, at), kind.as_pointer())
                for place, kind in zip(args, (_COUNTS, _COUNTS, _COUNTS, VECTOR))  # noqa: B905
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
        here = builder.bitcast(builder.gep(args[0], [args[1]]), VECTOR.as_pointer())
        bound = splat(builder, args[2])
        mask = builder.fcmp_ordered(">=", builder.load(here, align=4), bound)
        return builder.zext(builder.bitcast(mask, ir.IntType(LANES)), ir.IntType(64))

    return types.uint64(types.CPointer(types.float32), types.int64, types.float32), codegen


# with Any, as callers do not pass the typing context that the declarations show
weigh: Any = _weigh
"""Add two histograms and empty them: write cumulative sums to `running` and the gain of the cut
after each bin, or -1, to `gains`; return the largest gain. `vectors` is the number of bins divided
by eight, rounded up, and the last three arguments are the node's counts of two classes and its
weight."""
not_below: Any = _not_below
"""A bit for each of the eight gains from `at` on that is at least `bound`."""
