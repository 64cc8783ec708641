"""Operations that kernels need and Python has no word for: bits, and access without checks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

_BYTES = types.CPointer(types.uint8)


@intrinsic
def _lowest_bit(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def _highest_bit(typingctx, word):
    def codegen(context, builder, signature, args):
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.IntType(64)(63), zeros)

    return types.uint64(types.uint64), codegen


def _compared(operator, lanes):
    """Code that compares `lanes` bytes with a bound; gives a bit for each."""

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
    return types.int64(_BYTES, types.int64, types.uint8), _compared("<=", 8)


@intrinsic
def _below(typingctx, place, index, bound):
    return types.uint64(_BYTES, types.int64, types.uint8), _compared("<", 64)


@intrinsic
def _equal(typingctx, place, index, bound):
    return types.uint64(_BYTES, types.int64, types.uint8), _compared("==", 64)


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

    return types.int64(_BYTES, types.int64), codegen


@intrinsic
def _poke_number(typingctx, place, index, number):
    def codegen(context, builder, signature, args):
        there = builder.gep(args[0], [args[1]])
        builder.store(args[2], builder.bitcast(there, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(_BYTES, types.int64, types.int64), codegen


# with Any, as callers do not pass the typing context that the declarations show
lowest_bit: Any = _lowest_bit
"""The position of the lowest set bit of a uint64 that is not zero."""
highest_bit: Any = _highest_bit
"""The position of the highest set bit of a uint64 that is not zero."""
not_above: Any = _not_above
"""A bit for each of the eight bytes from `place[index]` on that is at most `bound`."""
below: Any = _below
"""A bit for each of the 64 bytes from `place[index]` on that is below `bound`."""
equal: Any = _equal
"""A bit for each of them that equals `bound`."""
count_bits: Any = _count_bits
"""How many bits of a uint64 are set."""
pointer: Any = _pointer
"""Where a flat array begins. Unlike an array it costs nothing to pass on, and nobody counts it:
whoever takes a pointer keeps the array alive."""
peek: Any = _peek
"""`place[index]` of a pointer."""
poke: Any = _poke
"""`place[index] = value` likewise."""
increase: Any = _increase
"""`place[index] += value` of whole numbers."""
peek_number: Any = _peek_number
"""The int64 in the eight bytes from `place[index]` on."""
poke_number: Any = _poke_number
"""Write it."""
shift: Any = _shift
"""The pointer to `place[index]`."""
