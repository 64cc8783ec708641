"""Send the rows of a node to the left and to the right."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import MISSING
from moreplr.forest.kernels.llvm import peek, poke


@jit
def partition(codes, n_features, perm, lo, hi, feature, cut, missing_left, may_lack, spare):
    """Move the rows that go left to the front of their range; both sides keep their order.

    Return where the right side begins and how many rows lack the feature. Each row is written to
    both sides and counted on one, which is faster than an unpredictable branch.

    Parameters
    ----------
    codes : uint8 pointer, the bins of the rows, `n_features` apart
    perm, lo, hi, feature, cut : see `layout`
    missing_left : whether rows that lack the feature go left
    may_lack : whether any row lacks the feature
    spare : int32 pointer, for the rows that go right
    """
    left, right, lacking = lo, 0, 0
    if may_lack:
        for i in range(lo, hi):
            row = peek(perm, i)
            code = peek(codes, np.int64(row) * n_features + feature)
            lacks = code == MISSING
            goes = (code <= cut) | (lacks & (missing_left != 0))
            poke(perm, left, row)
            poke(spare, right, row)
            left += goes
            right += not goes
            lacking += lacks
    else:
        for i in range(lo, hi):
            row = peek(perm, i)
            goes = np.int64(peek(codes, np.int64(row) * n_features + feature) <= np.uint8(cut))
            poke(perm, left, row)
            poke(spare, right, row)
            left += goes
            right += 1 - goes
    for i in range(right):
        poke(perm, left + i, peek(spare, i))
    return left, lacking
