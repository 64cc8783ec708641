"""Bin features into integers of one byte, once for all trees and forests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from moreplr._lazy import lazy
from moreplr._types import AnyArray
from moreplr.forest.kernels.bins import encode
from moreplr.forest.kernels.layout import MISSING

_SAMPLE = 200_000


class Binner:
    """At most 255 bins per feature, cut between distinct values or at quantiles.

    A feature with at most `max_bins` distinct values has a bin for each of them: the cuts are
    midpoints, as in an exact tree. Other features are cut at quantiles. NaN has the code 255.
    With more than 200,000 rows, cuts are computed from an evenly spaced sample.

    Parameters
    ----------
    max_bins : int, default=255
        The largest number of bins of a feature, from 2 to 255.

    Attributes
    ----------
    cuts_ : ndarray of float64
        The cuts of all features, one after the other, ascending in each.
    offsets_ : ndarray of int64, shape (n_features + 1,)
        `cuts_[offsets_[j]:offsets_[j + 1]]` belong to feature j.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest.binning import Binner
    >>> Binner().fit_transform(np.array([[1.0], [5.0], [np.nan], [3.0]])).ravel()
    array([  0,   2, 255,   1], dtype=uint8)
    """

    def __init__(self, max_bins: int = 255) -> None:
        self.max_bins = max_bins

    def fit(self, X: AnyArray) -> Binner:
        """Learn the cuts from X (n_samples, n_features)."""
        rows = X if len(X) <= _SAMPLE else X[np.linspace(0, len(X) - 1, _SAMPLE).astype(np.intp)]
        cuts = [_cuts(rows[:, j], self.max_bins) for j in range(X.shape[1])]
        self.offsets_ = np.cumsum([0, *map(len, cuts)])
        self.cuts_ = np.concatenate([*cuts, np.empty(0)])
        return self

    def transform(self, X: AnyArray) -> NDArray[np.uint8]:
        """The codes of X (n_samples, n_features), in row-major order."""
        codes = np.empty(X.shape, dtype=np.uint8)
        for j in range(X.shape[1]):
            # A copy, since numba compiles the kernel again for read-only arrays.
            encode(np.array(X[:, j], dtype=np.float64), self.cuts(j), codes, j)
        return codes

    def fit_transform(self, X: AnyArray) -> NDArray[np.uint8]:
        """Learn the cuts and give the codes."""
        return self.fit(X).transform(X)

    def cuts(self, feature: int) -> NDArray[np.float64]:
        """The cuts of one feature: code c holds the values in (cuts[c - 1], cuts[c]]."""
        return self.cuts_[self.offsets_[feature] : self.offsets_[feature + 1]]

    def of_features(self, features: NDArray[np.intp]) -> Binner:
        """The binner of some of the features, in the given order."""
        own = Binner(self.max_bins)
        cuts = [self.cuts(feature) for feature in features]
        own.offsets_ = np.cumsum([0, *map(len, cuts)])
        own.cuts_ = np.concatenate([*cuts, np.empty(0)])
        return own

    @property
    def n_bins_(self) -> NDArray[np.int64]:
        """The number of bins of each feature, NaN not counted."""
        return np.diff(self.offsets_) + 1


@dataclass(frozen=True)
class BinnedMatrix:
    """Binned features, together with the binner that made them.

    Forests accept it instead of `X` in `fit` and `predict`, so that several forests can share
    one binning.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_samples, n_features)
        The bin of each value, 255 for NaN; rows are contiguous.
    binner : Binner
        How features became bins.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest import BinnedMatrix, ForestRegressor
    >>> binned = BinnedMatrix.of(np.array([[0.5], [2.0], [2.0], [7.0]]))
    >>> binned.codes.ravel()
    array([0, 1, 1, 2], dtype=uint8)
    >>> forest = ForestRegressor(5, bootstrap=False).fit(binned, [1.0, 2.0, 2.0, 4.0])
    >>> forest.predict([[0.5], [7.0]])
    array([1., 4.])
    """

    codes: NDArray[np.uint8]
    binner: Binner

    @classmethod
    def of(
        cls, X: AnyArray, max_bins: int = 255, sample_weight: AnyArray | None = None
    ) -> BinnedMatrix:
        """Bin features; rows of weight 0 do not affect the cuts."""
        rows = X
        if sample_weight is not None and not sample_weight.all():
            rows = X[sample_weight > 0]
        binner = Binner(check_max_bins(max_bins)).fit(rows)
        return cls(binner.transform(X), binner)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and features."""
        n, n_features = self.codes.shape
        return n, n_features

    @lazy
    def bins(self) -> NDArray[np.int64]:
        """Where each feature's bins begin in an array of the bins of all features, and its length.

        A feature with missing values has 256 bins, the last one for NaN.
        """
        missing = (self.codes == MISSING).any(axis=0)
        sizes = np.where(missing, 256, self.codes.max(axis=0, initial=0).astype(np.int64) + 1)
        return np.concatenate([[0], np.cumsum(sizes)])

    def take(self, rows: ArrayLike) -> BinnedMatrix:
        """Some of the rows, in the given order."""
        return BinnedMatrix(np.ascontiguousarray(self.codes[np.asarray(rows)]), self.binner)

    def of_features(self, features: NDArray[np.intp]) -> BinnedMatrix:
        """Some of the features, in the given order."""
        codes = np.ascontiguousarray(self.codes[:, features])
        return BinnedMatrix(codes, self.binner.of_features(features))


def _cuts(values: AnyArray, max_bins: int) -> NDArray[np.float64]:
    ordered = np.sort(values)  # NaN at the end
    ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))].astype(np.float64)
    # the last place of each distinct value but the largest
    last = np.flatnonzero(ordered[:-1] != ordered[1:])
    if len(last) >= max_bins:
        wanted = np.arange(1, max_bins) * (len(ordered) / max_bins)
        at = np.searchsorted(last + 1, wanted).clip(max=len(last) - 1)
        last = last[at[np.flatnonzero(np.diff(at, prepend=-1))]]
    below, above = ordered[last], ordered[last + 1]
    middle = below + (above - below) / 2
    return np.where(middle >= above, below, middle)  # no float lies between adjacent floats


def check_max_bins(max_bins: ArrayLike) -> int:
    """`max_bins` if it is an integer from 2 to 255."""
    if not isinstance(max_bins, int | np.integer) or not 2 <= max_bins <= 255:
        raise ValueError(f"max_bins must be an integer from 2 to 255, got {max_bins!r}")
    return int(max_bins)
