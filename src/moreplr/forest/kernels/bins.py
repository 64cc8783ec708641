"""Find the bins of values."""

from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import MISSING

_AT_ONCE = 64


@jit
def encode(values, cuts, codes, feature):
    """Write to a column of `codes`: for each value the number of `cuts` below it.

    NaN becomes `MISSING`. Binary searches for many values at once: all take the same steps, and
    none waits for another. The whole of `codes` comes in, as one column of one row looks to numba
    unlike a column of many.
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
