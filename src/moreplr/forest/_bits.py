"""Bit operations that kernels need and Python has no word for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic


@intrinsic
def _lowest_bit(typingctx, word):
    """The position of the lowest set bit of a uint64 that is not zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


lowest_bit: Any = _lowest_bit
