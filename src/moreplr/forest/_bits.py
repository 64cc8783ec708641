"""Operations that kernels need and Python has no word for: bits, and access without checks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

_BYTES = types.Array(types.uint8, 1, "C")


@intrinsic
def _lowest_bit(typingctx, word):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def _not_above(typingctx, array, index, bound):
    def codegen(context, builder, signature, args):
        eight = ir.VectorType(ir.IntType(8), 8)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), eight.as_pointer())
        codes = builder.load(pointer, align=1)
        empty = ir.Constant(eight, [0] * 8)
        first = builder.insert_element(empty, args[2], ir.IntType(32)(0))
        pick = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
        bounds = builder.shuffle_vector(first, empty, pick)
        mask = builder.bitcast(builder.icmp_unsigned("<=", codes, bounds), ir.IntType(8))
        return builder.zext(mask, ir.IntType(64))

    return types.int64(_BYTES, types.int64, types.uint8), codegen


@intrinsic
def _peek(typingctx, array, index):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, types.int64), codegen


@intrinsic
def _poke(typingctx, array, index, value):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), codegen


# with Any, as callers do not pass the typing context that the declarations show
lowest_bit: Any = _lowest_bit
"""The position of the lowest set bit of a uint64 that is not zero."""
not_above: Any = _not_above
"""A bit for each of the eight bytes `array[index:index + 8]` that is at most `bound`."""
peek: Any = _peek
"""`array[index]` of a flat array, for an index that is known not to be negative."""
poke: Any = _poke
"""`array[index] = value` likewise."""
