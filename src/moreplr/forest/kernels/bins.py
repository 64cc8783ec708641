"""Find the bins of values."""

from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import MISSING

_AT_ONCE = 64


@jit
def encode(values, cuts, codes, feature):
    """Write the number of `cuts` below each value to column `feature` of `codes`.

    NaN becomes `MISSING`. The binary searches of many values take the same steps, so that the
    processor overlaps them. The argument is all of `codes`, since numba would compile a column of
    a single row separately.
    """
    at = np.empty(_AT_ONCE, np.int64)
    for first in range(0, len(values), _AT_ONCE):
        m = min(_AT_ONCE, len(values) - first)
        for i in range(m):
            at[i] = 0
        n = len(cuts)
        while n > 0:
            half = (n + 1) >> 1
            for i in range(m):
                at[i] += half * np.int64(cuts[at[i] + half - 1] < values[first + i])
            n -= half
        for i in range(m):
            missing = np.isnan(values[first + i])
            codes[first + i, feature] = MISSING if missing else np.uint8(at[i])
