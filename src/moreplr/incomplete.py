"""Remove labels from rankings, to study learning from incomplete ones.

Two protocols differ only in the order of two steps, and their results differ a lot:

- *honest* (``positions="observed"``): ``encode(remove_labels(Y, 0.3), method)``. Labels are
  removed first, then positions are counted. Incomplete data look like this.
- *published* (``positions="given"``): ``remove_labels(encode(Y, method), 0.3)``. The surviving
  labels keep the positions of the complete ranking, which reveal how many labels are missing
  between them. The paper's tables were made this way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from moreplr._types import Positions
from moreplr._validation import check_name
from moreplr.rankings import check_rankings


def remove_labels(
    Y: Any,
    fraction: float,
    method: str = "exact",
    random_state: int | np.random.Generator | None = None,
) -> Positions:
    """Replace a share of the ranked labels by NaN.

    Parameters
    ----------
    Y : rankings in any accepted form
    fraction : float in [0, 1]
        The share of the ranked labels to remove.
    method : {"exact", "bernoulli"}
        "exact" removes ⌊share · ranked labels⌋ cells of the whole matrix, without regard to
        rows, as in the paper's experiments; "bernoulli" removes each label independently.
    random_state : int, numpy Generator or None

    Returns
    -------
    float array of positions; those that are not removed stay unchanged

    Examples
    --------
    >>> remove_labels([[1, 2, 2], [3, 1, 2]], 0.5, random_state=1)
    array([[ 1., nan, nan],
           [ 3., nan,  2.]])
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must be between 0 and 1, got {fraction!r}")
    check_name("method", method, ("exact", "bernoulli"))
    positions, _ = check_rankings(Y)
    rng = np.random.default_rng(random_state)
    flat = positions.ravel()
    ranked = np.flatnonzero(~np.isnan(flat))
    if method == "exact":
        # The small term corrects products such as 100 · 0.29 = 28.999….
        size = int(np.floor(len(ranked) * fraction + 1e-9))
        flat[ranked[rng.choice(len(ranked), size, replace=False)]] = np.nan
    else:
        flat[ranked[rng.random(len(ranked)) < fraction]] = np.nan
    return flat.reshape(positions.shape)
