"""Vector arithmetic on slices of float32 memory, eight numbers at a time.

The compiler vectorises loops only behind checks that cost more than these short loops
themselves, so that the few operations of the split search are spelled out. The order of all
sums is fixed here: the same data give the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
_STRAIGHT = 4
VECTOR = ir.VectorType(ir.FloatType(), LANES)
POINTER = types.CPointer(types.float32)
BYTES = types.CPointer(types.uint8)
# a byte that stands for no target
ABSENT = -128
# the least share of a node's weight, times the other side's, that rounding does not make up
_LEAST = 2.5e-7


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

    `body(builder, slices, pointers, scalars, step)` gives the vector to be added up, if any.
    The last slice is of the kind `last`.
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

        # up to 32 targets are straight code: a loop would be unrolled with a prologue and an
        # epilogue that take longer than the work
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


def _subtract_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fsub(s.load(p[0], i), s.load(p[1], i)), p[0], i)


def _fill_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(c[0], p[0], i)


def _scaled_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fmul(c[0], s.load(p[1], i)), p[0], i)


def _sum_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fadd(s.load(p[1], i), s.load(p[2], i)), p[0], i)


def _away_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fsub(s.load(p[1], i), b.fmul(c[0], s.load(p[2], i))), p[0], i)


def _squares_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> Any:
    d = s.load(p[0], i)
    return b.fmul(d, d)


def spread_over(b: Any, squares: Any, share: Any) -> tuple[Any, Any]:
    """The two parts of squares / (share (1 - share)), where a side without mass counts nothing.

    Such a side has no deviations either, but for rounding.
    """
    product = b.fsub(share, b.fmul(share, share))
    least = ir.Constant(VECTOR, [_LEAST] * LANES)
    return squares, b.select(b.fcmp_ordered(">", product, least), product, least)


def _gain_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> Any:
    d = s.load(p[0], i)
    return b.fdiv(*spread_over(b, b.fmul(d, d), s.load(p[1], i)))


def _widen_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    value = b.sitofp(s.load_bytes(p[2], i), VECTOR)
    s.store(b.fmul(b.fmul(value, s.load(p[1], i)), c[0]), p[0], i)


def _widen_seen_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    codes = s.load_bytes(p[2], i)
    seen = b.icmp_signed("!=", codes, ir.Constant(codes.type, [ABSENT] * LANES))
    s.store(b.select(seen, b.fmul(b.sitofp(codes, VECTOR), c[0]), zero()), p[0], i)
    s.store(b.select(seen, c[0], zero()), p[1], i)


def _means_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    mass = s.load(p[4], i)
    inverse = b.fdiv(ir.Constant(VECTOR, [1.0] * LANES), mass)
    inverse = b.select(b.fcmp_ordered(">", mass, zero()), inverse, zero())
    kind = ir.FunctionType(VECTOR, [VECTOR])
    root = cgutils.get_or_insert_function(b.module, kind, f"llvm.sqrt.v{LANES}f32")
    s.store(b.fmul(inverse, s.load(p[3], i)), p[0], i)
    s.store(inverse, p[1], i)
    s.store(b.call(root, [inverse]), p[2], i)


def _centre_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> None:
    mass = s.load(p[3], i)
    d = b.fsub(s.load(p[2], i), b.fmul(mass, s.load(p[4], i)))
    s.store(b.fmul(d, s.load(p[6], i)), p[0], i)
    s.store(b.fmul(mass, s.load(p[5], i)), p[1], i)


def _spread_body(b: Any, s: Slices, p: Any, c: Any, i: Any) -> Any:
    d, mass = s.load(p[0], i), s.load(p[1], i)
    ratio = b.fdiv(b.fmul(d, d), mass)
    return b.select(b.fcmp_ordered(">", mass, zero()), ratio, zero())


_ADD = _operation(2, 0, _add_body, reduces=False)
_SUBTRACT = _operation(2, 0, _subtract_body, reduces=False)
_FILL = _operation(1, 1, _fill_body, reduces=False)
_SUM = _operation(3, 0, _sum_body, reduces=False)
_AWAY = _operation(3, 1, _away_body, reduces=False)
_SCALED = _operation(2, 1, _scaled_body, reduces=False)
_SQUARES = _operation(1, 0, _squares_body, reduces=True)
_GAIN = _operation(2, 0, _gain_body, reduces=True)
_SPREAD = _operation(2, 0, _spread_body, reduces=True)
_WIDEN = _operation(3, 1, _widen_body, reduces=False, last=BYTES)
_WIDEN_SEEN = _operation(3, 1, _widen_seen_body, reduces=False, last=BYTES)
_MEANS = _operation(5, 0, _means_body, reduces=False)
_CENTRE = _operation(7, 0, _centre_body, reduces=False)


@intrinsic
def _add(typingctx, a, i, b, j, steps):
    return _ADD()


@intrinsic
def _subtract(typingctx, a, i, b, j, steps):
    return _SUBTRACT()


@intrinsic
def _fill(typingctx, a, i, value, steps):
    return _FILL()


@intrinsic
def _scaled(typingctx, a, i, b, j, factor, steps):
    return _SCALED()


@intrinsic
def _sum(typingctx, a, i, b, j, c, k, steps):
    return _SUM()


@intrinsic
def _away(typingctx, a, i, b, j, c, k, factor, steps):
    return _AWAY()


@intrinsic
def _squares(typingctx, a, i, steps):
    return _SQUARES()


@intrinsic
def _gain(typingctx, a, i, share, j, steps):
    return _GAIN()


@intrinsic
def _spread(typingctx, a, i, mass, j, steps):
    return _SPREAD()


@intrinsic
def _widen(typingctx, a, i, scale, j, codes, k, weight, steps):
    return _WIDEN()


@intrinsic
def _widen_seen(typingctx, a, i, mass, j, codes, k, weight, steps):
    return _WIDEN_SEEN()


@intrinsic
def _means(typingctx, mean, i, inverse, j, root, k, sums, l, mass, m, steps):  # noqa: E741
    return _MEANS()


@intrinsic
def _centre(typingctx, a, i, share, j, b, k, mass, l, mean, m, inverse, n, root, o, steps):  # noqa: E741
    return _CENTRE()


# the slice a[i:i + 8 * steps], and so on for the others; with Any, as callers do not pass the
# typing context that the declarations show
add: Any = _add  # a += b
subtract: Any = _subtract  # a -= b
fill: Any = _fill  # a = value
add_into: Any = _sum  # a = b + c
scaled: Any = _scaled  # a = factor * b
away: Any = _away  # a = b - factor * c
squares: Any = _squares  # the sum of a²
gain: Any = _gain  # the sum of a² / (share (1 - share))
spread: Any = _spread  # the sum of a² / mass
widen: Any = _widen  # a = weight * scale * codes
widen_seen: Any = _widen_seen  # a = weight * codes, mass = weight, or both 0 without a target
means: Any = _means  # inverse = 1 / mass, mean = sums * inverse, root = √inverse
centre: Any = _centre  # a = (b - mass * mean) * root, share = mass * inverse
