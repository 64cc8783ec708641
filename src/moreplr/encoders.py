"""λ: encoders, which turn bucket orders into the positions that a regressor learns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from moreplr._types import Positions
from moreplr._validation import check_name, check_target_size
from moreplr.rankings import check_rankings

# The names of the paper, and those of scipy.stats.rankdata.
_RANKDATA = {"dense": "dense", "standard": "min", "modified": "max", "fractional": "average"}
METHODS = tuple(_RANKDATA)
POSITIONS = ("observed", "expected", "given")


def encode(Y: Any, method: str = "dense", positions: str = "observed") -> Positions:
    """Encode rankings as positions (equations 6 to 9 of the paper).

    Parameters
    ----------
    Y : rankings in any form that :func:`moreplr.rankings.check_rankings` accepts
    method : {"dense", "standard", "modified", "fractional"}
        The position of tied labels: the number of the bucket; the first, the last or the mean of
        the places that their bucket takes. All methods agree if there are no ties.
    positions : {"observed", "expected", "given"}
        "observed" encodes places among the ranked labels only. "expected" stretches these to the
        positions that the labels would have on average among all k if the missing ones were
        drawn at random: the r-th of m becomes r·(k + 1)/(m + 1), so that rows with different
        gaps have the same scale. "given" keeps the numbers of Y, which may count labels that
        have been removed; `method` has no effect then. The first two agree on complete rankings.

    Returns
    -------
    float array of shape (n_samples, n_labels), NaN where Y is NaN

    Examples
    --------
    >>> for method in METHODS:
    ...     print(encode([[1, 2, 2, 3]], method))
    [[1. 2. 2. 3.]]
    [[1. 2. 2. 4.]]
    [[1. 3. 3. 4.]]
    [[1.  2.5 2.5 4. ]]
    """
    check_name("method", method, METHODS)
    check_name("positions", positions, POSITIONS)
    given, _ = check_rankings(Y)
    if positions == "given":
        check_target_size(given)
        return given
    values = rankdata(given, _RANKDATA[method], axis=1, nan_policy="omit").astype(float)
    if positions == "expected":
        labels_ranked = np.sum(~np.isnan(given), axis=1, keepdims=True)
        values = values * (given.shape[1] + 1) / (labels_ranked + 1)
    return values


class RankEncoder(BaseEstimator):
    """An encoder as an object, for :class:`moreplr.MORERanker`.

    Parameters
    ----------
    method : {"dense", "standard", "modified", "fractional"}
    positions : {"observed", "expected", "given"}
        See :func:`encode`.

    Examples
    --------
    >>> RankEncoder("modified").fit_transform(["a > b ~ c"])
    array([[1., 3., 3.]])
    """

    def __init__(self, method: str = "dense", positions: str = "observed") -> None:
        self.method = method
        self.positions = positions

    def fit(self, Y: Any, y: Any = None) -> Self:
        """Check the parameters; encoders are not fitted."""
        self.transform(np.ones((1, 1)))
        return self

    def transform(self, Y: Any) -> Positions:
        """Encode rankings as positions."""
        return encode(Y, self.method, self.positions)

    def fit_transform(self, Y: Any, y: Any = None) -> Positions:
        """Encode rankings as positions."""
        return self.transform(Y)

    def __sklearn_is_fitted__(self) -> bool:
        return True
