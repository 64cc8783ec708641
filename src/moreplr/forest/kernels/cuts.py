"""Choose among the cuts of a feature."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import TIE
from moreplr.forest.kernels.llvm import peek, poke, poke_number, settle


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
