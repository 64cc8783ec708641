"""Choose among the cuts of a feature."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import TIE
from moreplr.forest.kernels.llvm import peek, poke, poke_number, settle


@jit
def pick(gains, left, count, ends, n, m, whole, min_leaf, masked, known):
    """The gain of the best of n cuts, or -1, and its number if the gain exceeds `known`.

    Of equal cuts, the first wins. Some cells after the n-th are written to.

    Parameters
    ----------
    gains : float32 pointer, squared sums, or gains if `masked`
    left, count : float32 and int32 pointers, the weights and the numbers of rows on the left
    ends : uint8 pointer, whether a cut lies between two bins
    n : int, the number of cuts
    masked : bool, whether targets are missing
    m, whole, min_leaf, known : see `layout`
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
