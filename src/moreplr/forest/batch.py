"""Many forests on the same rows: one per target, or one per pair of labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from moreplr._types import AnyArray
from moreplr.forest.base import ForestParameters
from moreplr.forest.batching import BatchTask, Words, grow_batch
from moreplr.forest.binning import Binner
from moreplr.forest.checks import codes_of, draws_of, features_of, limits_of, targets_of
from moreplr.forest.growing import tree_seeds
from moreplr.forest.kernels import traverse_words
from moreplr.forest.kernels.layout import CLASS_BITS
from moreplr.forest.parallel import Stopped, cut, run

_ROWS = 4096


class ForestBatch(ForestParameters):
    """Many random forests, fitted together on the same binned features and bootstrap samples.

    Each forest learns a target of its own: numbers, or two or three classes. A forest leaves out
    rows whose target is NaN, or whose class is -1. Numbers are rounded to integers of up to 30
    bits, so that sums are exact.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees of each forest.
    max_features, max_depth, min_samples_leaf, min_samples_split, bootstrap, max_samples, \
max_bins, n_jobs, random_state
        As in `ForestRegressor`.

    Attributes
    ----------
    words_ : Words
        All trees of all forests as flat arrays.
    binner_ : Binner
        How features became bins.
    seeds_ : ndarray of uint64, shape (n_estimators,)
        The seed of each tree.
    low_ : ndarray of float64, shape (n_forests,)
        The least target of each forest, which is added to its leaf values; 0 for classes.
    n_forests_, n_classes_ : int
        `n_classes_` is 0 for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest import ForestBatch
    >>> X = np.arange(8.0)[:, None]
    >>> Y = np.column_stack([X.ravel() > 3, X.ravel() < 6]).astype(float)
    >>> ForestBatch(5, bootstrap=False).fit(X, Y).predict([[1.0], [5.0], [7.0]])
    array([[0., 1.],
           [1., 1.],
           [1., 0.]])
    """

    handles_missing_targets = True

    words_: Words
    binner_: Binner | None
    seeds_: NDArray[np.uint64]

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        n_classes: int | None = None,
    ) -> ForestBatch:
        """Grow all forests.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or BinnedMatrix
            Features. NaN is treated as a separate value; infinity raises an error.
        y : array-like of shape (n_samples, n_forests)
            The target of each forest, NaN where it leaves the row out; with `n_classes`, a class
            0, 1 or 2, and -1 where it leaves the row out.
        n_classes : {2, 3}, optional
            Fit classifiers with this many classes; by default, fit regressors.

        Returns
        -------
        ForestBatch
        """
        limits_of(self, 1)
        binned, _ = features_of(self, X, self.max_bins)
        limits = limits_of(self, binned.shape[1])
        codes, self.binner_ = binned.codes, binned.binner
        if n_classes is None:
            numbers, step, base, weight_bits = self._single_targets(y, codes)
        else:
            numbers, base = _classes(y, codes, n_classes)
            step, weight_bits = np.ones(numbers.shape[1]), 0
            self.low_ = np.zeros(numbers.shape[1])
        self.n_classes_, self.n_forests_ = n_classes or 0, numbers.shape[1]
        self.seeds_ = tree_seeds(check_random_state(self.random_state), self.n_estimators)
        task = BatchTask(
            codes=codes,
            targets=np.ascontiguousarray(numbers.T),  # kernels read one forest at a time
            n_classes=self.n_classes_,
            step=step,
            base=base,
            limits=limits,
            draws=draws_of(self, len(codes)),
            seeds=self.seeds_,
            weight_bits=weight_bits,
            stop=np.zeros(1, np.uint8),
        )
        self.words_ = grow_batch(task, self.n_jobs)
        return self

    def _single_targets(
        self, y: ArrayLike, X: AnyArray
    ) -> tuple[AnyArray, AnyArray, AnyArray, int]:
        """Targets as integers from 0, the unit of each, the means, and the bits of a weight."""
        Y = targets_of(y, X, type(self).__name__)
        Y = Y.reshape(len(Y), -1)
        seen = ~np.isnan(Y)
        self.low_ = np.where(seen.any(axis=0), np.where(seen, Y, np.inf).min(axis=0), np.nan)
        above = np.where(seen, Y - self.low_, 0.0)
        weight_bits = len(Y).bit_length()
        most = float(2 ** min(30, 62 - 2 * weight_bits) - 1)
        step = above.max(axis=0) / most
        for nice in (0.125, 0.25, 0.5, 1.0):  # positions are whole, or halves when averaged
            whole = (above / nice == np.rint(above / nice)).all(axis=0)
            step = np.where(whole & (above.max(axis=0) <= most * nice), nice, step)
        step = np.where(step > 0, step, 1.0)
        numbers = np.ascontiguousarray(np.where(seen, np.rint(above / step), -1), np.int32)
        count = np.maximum(seen.sum(axis=0), 1)
        return numbers, step, (above.sum(axis=0) / count)[:, None], weight_bits

    def _over_forests(self, kernel: Callable[[int, int], None]) -> None:
        """Call `kernel(begin, end)` for ranges of forests, in threads."""
        stop = np.zeros(1, np.uint8)

        def work(lo: int, hi: int) -> None:
            for at in range(lo, hi):
                if stop[0]:
                    raise Stopped
                kernel(at, at + 1)

        run(work, cut(self.n_forests_, self.n_jobs), self.n_jobs, stop, in_place=True)

    def _sums(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Leaf values added up over the trees, (n_forests, n, n_values)."""
        out = np.zeros((self.n_forests_, len(codes), max(self.n_classes_, 1)))
        words = self.words_

        def kernel(lo: int, hi: int) -> None:
            for at in range(0, len(codes), _ROWS):
                part = out[lo:hi, at : at + _ROWS]
                sums = np.zeros(part.shape)
                traverse_words.add_up(
                    words.words, words.offsets, words.values,
                    words.value_offsets, self.n_classes_, codes[at : at + _ROWS],
                    self.n_forests_, lo, sums,
                )  # fmt: skip
                part[:] = sums

        self._over_forests(kernel)
        return out

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The mean over the trees of each regression forest, (n_samples, n_forests)."""
        codes = codes_of(self, X)
        self._need(classes=False)
        return self._sums(codes)[:, :, 0].T / self.n_estimators + self.low_

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The class shares of each forest, (n_samples, n_forests, n_classes)."""
        codes = codes_of(self, X)
        self._need(classes=True)
        return np.ascontiguousarray(self._sums(codes).transpose(1, 0, 2)) / self.n_estimators

    def predict_interval(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean over the trees of each forest and its standard error, (n_samples, n_forests).

        As in `ForestRegressor`, this is the uncertainty of the mean.
        """
        codes, words = codes_of(self, X), self.words_
        self._need(classes=False)
        total, mean, square = np.zeros((3, self.n_forests_, len(codes)))

        def kernel(lo: int, hi: int) -> None:
            traverse_words.spread(
                words.words, words.offsets, words.values,
                words.value_offsets, codes, self.n_forests_, lo, total[lo:hi], mean[lo:hi],
                square[lo:hi],
            )  # fmt: skip

        self._over_forests(kernel)
        return total.T / self.n_estimators + self.low_, np.sqrt(square.T) / self.n_estimators

    def _need(self, classes: bool) -> None:
        if classes != bool(self.n_classes_):
            fitted = "classes" if self.n_classes_ else "numbers"
            raise ValueError(f"this batch was fitted on {fitted}")


def _classes(y: ArrayLike, X: AnyArray, n_classes: int) -> tuple[NDArray[np.int8], AnyArray]:
    """Class codes (n, n_forests) and the class shares of each forest."""
    if n_classes not in (2, 3):
        raise ValueError(f"n_classes must be 2 or 3, got {n_classes!r}")
    codes = np.asarray(y)
    if codes.ndim != 2 or len(codes) != len(X):
        raise ValueError(f"y must have shape ({len(X)}, n_forests), got {codes.shape}")
    if not np.isin(codes, np.arange(-1, n_classes)).all():
        raise ValueError(f"y must hold classes from 0 to {n_classes - 1}, or -1")
    if len(codes) >= 2**CLASS_BITS:
        raise ValueError(f"at most {2**CLASS_BITS - 1} rows are possible, got {len(codes)}")
    counts = np.stack([(codes == c).sum(axis=0) for c in range(n_classes)], axis=1)
    total = counts.sum(axis=1, keepdims=True)
    base = np.where(total > 0, counts / np.maximum(total, 1), 1.0 / n_classes)
    # contiguous, since numba compiles kernels again for another memory order
    return np.ascontiguousarray(codes, np.int8), base
