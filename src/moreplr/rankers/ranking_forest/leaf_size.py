"""Choose the leaf size of a forest out of bag.

A forest is grown deep once, and predicts with the lowest node that holds enough rows. So one
forest can be used with every leaf size, and trying one costs a prediction of the scored rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from moreplr._types import Array

# A larger leaf size must gain more than this many standard errors over leaves of one row.
_ERRORS = 1.0
# The search stops after this many sizes in a row that do not improve on the best one.
_PATIENCE = 2


def choose_leaf_size(score: Callable[[int], Array], most: int) -> tuple[int, dict[int, float]]:
    """Return the best of the leaf sizes 1, 2, 4, …, and the mean τ_X of each size tried.

    `score` returns the τ_X of each scored row for a leaf size, NaN where it is not known. Sizes
    from `most` on are not tried: all rows would get the same prediction.
    """
    tau = {1: score(1)}
    best, size = 1, 2
    known = ~np.isnan(tau[1])
    if not known.any():
        return 1, {}
    while size < most and size <= best * 2**_PATIENCE:
        tau[size] = score(size)
        if np.mean((tau[size] - tau[best])[known]) > 0:
            best = size
        size *= 2
    gain = (tau[best] - tau[1])[known]
    sure = len(gain) > 1 and gain.mean() > _ERRORS * gain.std(ddof=1) / np.sqrt(len(gain))
    return best if sure else 1, {size: float(each[known].mean()) for size, each in tau.items()}
