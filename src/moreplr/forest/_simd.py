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
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_POINTER = types.CPointer(types.float32)


class _Slices:
    """Loads and stores vectors at a pointer."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def at(self, pointer: Any, step: Any) -> Any:
        there = self.builder.gep(pointer, [self.builder.mul(step, step.type(LANES))])
        return self.builder.bitcast(there, _VECTOR.as_pointer())

    def load(self, pointer: Any, step: Any) -> Any:
        return self.builder.load(self.at(pointer, step), align=4)

    def store(self, value: Any, pointer: Any, step: Any) -> None:
        self.builder.store(value, self.at(pointer, step), align=4)


def _zero() -> Any:
    return ir.Constant(_VECTOR, [0.0] * LANES)


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(_zero(), value, ir.IntType(32)(0))
    return builder.shuffle_vector(
        one, _zero(), ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
    )


def _add_lanes(builder: Any, vector: Any) -> Any:
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
    n_slices: int, n_scalars: int, body: Callable[..., Any], reduces: bool
) -> Callable[..., Any]:
    """An intrinsic `f(a, i, b, j, ..., scalars..., steps)` that runs `body` for each vector.

    `body(builder, slices, pointers, scalars, step)` gives the vector to be added up, if any.
    """
    result = types.float32 if reduces else types.void
    arguments = [_POINTER, types.int64] * n_slices + [types.float32] * n_scalars + [types.int64]
    signature = result(*arguments)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slices = _Slices(builder)
        pointers = [builder.gep(args[2 * i], [args[2 * i + 1]]) for i in range(n_slices)]
        scalars = [_splat(builder, s) for s in args[2 * n_slices : 2 * n_slices + n_scalars]]
        total = cgutils.alloca_once_value(builder, _zero())

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
            return _add_lanes(builder, builder.load(total))
        return context.get_dummy_value()

    return lambda: (signature, codegen)


def _add_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fadd(s.load(p[0], i), s.load(p[1], i)), p[0], i)


def _pour_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fadd(s.load(p[0], i), s.load(p[1], i)), p[0], i)
    s.store(_zero(), p[1], i)


def _drain_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> Any:
    d = b.fadd(s.load(p[0], i), s.load(p[1], i))
    s.store(d, p[0], i)
    s.store(_zero(), p[1], i)
    return b.fmul(d, d)


def _subtract_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fsub(s.load(p[0], i), s.load(p[1], i)), p[0], i)


def _fill_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(c[0], p[0], i)


def _copy_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(s.load(p[1], i), p[0], i)


def _scaled_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fmul(c[0], s.load(p[1], i)), p[0], i)


def _sum_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fadd(s.load(p[1], i), s.load(p[2], i)), p[0], i)


def _away_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    s.store(b.fsub(s.load(p[1], i), b.fmul(c[0], s.load(p[2], i))), p[0], i)


def _away_each_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> None:
    d = b.fsub(s.load(p[1], i), b.fmul(s.load(p[2], i), s.load(p[3], i)))
    s.store(d, p[0], i)


def _squares_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> Any:
    d = s.load(p[0], i)
    return b.fmul(d, d)


def _squares_away_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> Any:
    d = b.fsub(s.load(p[0], i), b.fmul(c[0], s.load(p[1], i)))
    return b.fmul(d, d)


def _shared(b: Any, s: _Slices, squares: Any, mass: Any, total: Any) -> Any:
    """squares * total / (mass * (total - mass)), or 0 where one side has no mass."""
    product = b.fmul(mass, b.fsub(total, mass))
    # rounding leaves a trace of mass where there is none
    least = b.fmul(ir.Constant(_VECTOR, [2.5e-7] * LANES), b.fmul(total, total))
    ratio = b.fdiv(b.fmul(squares, total), product)
    return b.select(b.fcmp_ordered(">", product, least), ratio, _zero())


def _gain_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> Any:
    d = s.load(p[0], i)
    return _shared(b, s, b.fmul(d, d), s.load(p[1], i), s.load(p[2], i))


def _gain_away_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> Any:
    mass = s.load(p[1], i)
    d = b.fsub(s.load(p[0], i), b.fmul(mass, s.load(p[3], i)))
    return _shared(b, s, b.fmul(d, d), mass, s.load(p[2], i))


def _spread_body(b: Any, s: _Slices, p: Any, c: Any, i: Any) -> Any:
    d, mass = s.load(p[0], i), s.load(p[1], i)
    ratio = b.fdiv(b.fmul(d, d), mass)
    return b.select(b.fcmp_ordered(">", mass, _zero()), ratio, _zero())


_ADD = _operation(2, 0, _add_body, reduces=False)
_POUR = _operation(2, 0, _pour_body, reduces=False)
_DRAIN = _operation(2, 0, _drain_body, reduces=True)
_SUBTRACT = _operation(2, 0, _subtract_body, reduces=False)
_FILL = _operation(1, 1, _fill_body, reduces=False)
_SUM = _operation(3, 0, _sum_body, reduces=False)
_AWAY = _operation(3, 1, _away_body, reduces=False)
_COPY = _operation(2, 0, _copy_body, reduces=False)
_SCALED = _operation(2, 1, _scaled_body, reduces=False)
_AWAY_EACH = _operation(4, 0, _away_each_body, reduces=False)
_SQUARES = _operation(1, 0, _squares_body, reduces=True)
_SQUARES_AWAY = _operation(2, 1, _squares_away_body, reduces=True)
_GAIN = _operation(3, 0, _gain_body, reduces=True)
_GAIN_AWAY = _operation(4, 0, _gain_away_body, reduces=True)
_SPREAD = _operation(2, 0, _spread_body, reduces=True)


@intrinsic
def _add(typingctx, a, i, b, j, steps):
    return _ADD()


@intrinsic
def _pour(typingctx, a, i, b, j, steps):
    return _POUR()


@intrinsic
def _drain(typingctx, a, i, b, j, steps):
    return _DRAIN()


@intrinsic
def _subtract(typingctx, a, i, b, j, steps):
    return _SUBTRACT()


@intrinsic
def _fill(typingctx, a, i, value, steps):
    return _FILL()


@intrinsic
def _copy(typingctx, a, i, b, j, steps):
    return _COPY()


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
def _away_each(typingctx, a, i, b, j, c, k, d, l, steps):  # noqa: E741
    return _AWAY_EACH()


@intrinsic
def _squares(typingctx, a, i, steps):
    return _SQUARES()


@intrinsic
def _squares_away(typingctx, a, i, b, j, factor, steps):
    return _SQUARES_AWAY()


@intrinsic
def _gain(typingctx, a, i, mass, j, total, k, steps):
    return _GAIN()


@intrinsic
def _gain_away(typingctx, a, i, mass, j, total, k, mean, l, steps):  # noqa: E741
    return _GAIN_AWAY()


@intrinsic
def _spread(typingctx, a, i, mass, j, steps):
    return _SPREAD()


# the slice a[i:i + 8 * steps], and so on for the others; with Any, as callers do not pass the
# typing context that the declarations show
add: Any = _add  # a += b
subtract: Any = _subtract  # a -= b
pour: Any = _pour  # a += b, b = 0
drain: Any = _drain  # the same, gives the sum of a²
fill: Any = _fill  # a = value
add_into: Any = _sum  # a = b + c
copy: Any = _copy  # a = b
scaled: Any = _scaled  # a = factor * b
away: Any = _away  # a = b - factor * c
away_each: Any = _away_each  # a = b - c * d
squares: Any = _squares  # the sum of a²
squares_away: Any = _squares_away  # the sum of (a - factor * b)²
gain: Any = _gain  # the sum of a² total / (mass (total - mass))
gain_away: Any = _gain_away  # the same of a - mass * mean
spread: Any = _spread  # the sum of a² / mass
