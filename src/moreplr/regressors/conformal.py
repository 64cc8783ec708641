"""Conformal prediction: half-widths with a known coverage for any multi-output regressor."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags

from moreplr._types import Array, Seed, Weights
from moreplr._validation import check_name, take
from moreplr.base import PositionRegressor, chunks
from moreplr.regressors._fitting import fit_weighted, folds, show_labels
from moreplr.regressors.single_target import SingleTarget


class Conformal(PositionRegressor):
    """Prediction intervals for each label by split or cross conformal prediction.

    If training and future rows are exchangeable, a label's position lies in its interval with
    probability of at least `coverage` ("split"), or at least 2·`coverage` − 1 and about
    `coverage` in practice ("cross", the CV+ of Barber et al. 2021, which trains on all rows).
    The promise holds for each label by itself, over the rows that rank it.

    Parameters
    ----------
    regressor : multi-output regressor, optional
        By default :class:`SingleTarget`.
    method : {"split", "cross"}
    coverage : float in (0, 1)
    calibration_size : float in (0, 1)
        Share of the rows held out by "split".
    cv : int, splitter or iterable of (train, test)
        The folds of "cross"; a number means shuffled rows.
    random_state : int, RandomState instance or None
        For the split or the folds.

    Attributes
    ----------
    regressors_ : list of the fitted regressors: one, or one for each fold
    half_widths_ : array (n_labels,), only for "split"

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> Y = X + rng.normal(size=(200, 2))
    >>> model = Conformal(SingleTarget(LinearRegression()), random_state=0).fit(X, Y)
    >>> center, half_width = model.predict_interval(X)
    >>> bool((half_width[:, 0] == model.half_widths_[0]).all())
    True
    """

    def __init__(
        self,
        regressor: Any = None,
        *,
        method: str = "split",
        coverage: float = 0.9,
        calibration_size: float = 0.25,
        cv: Any = 5,
        random_state: Seed = None,
    ) -> None:
        self.regressor = regressor
        self.method = method
        self.coverage = coverage
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit on a part of the rows, measure the errors on the rest."""
        self._check_params()
        X, Y, weight = self._check_fit(X, y, sample_weight)
        if len(X) < 2:
            raise ValueError("Conformal holds rows out and can't with n_samples=1")
        rows = np.arange(len(X))
        if self.method == "split":
            parts = train_test_split(
                rows, test_size=self.calibration_size, random_state=self.random_state
            )
            splits = [parts]
        else:
            splits = folds(self.cv, X, self.random_state)
        residuals = np.full(Y.shape, np.nan)
        self.fold_ = np.zeros(len(X), dtype=int)
        self.regressors_ = []
        for number, (train, held_out) in enumerate(splits):
            model = clone(self._regressor())
            fit_weighted(model, *take(train, X, Y, weight))
            residuals[held_out] = np.abs(Y[held_out] - model.predict(X[held_out]))
            self.fold_[held_out] = number
            self.regressors_.append(model)
        self._keep_residuals(residuals)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions: the mean over the folds, or of the one model."""
        X = self._check_predict(X)
        return np.mean([model.predict(X) for model in self.regressors_], axis=0)

    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict the centres of the intervals and their half-widths.

        Split: ŷ ± one half-width a label. Cross: intervals need not lie around the mean
        prediction, so the centre is their middle.
        """
        X = self._check_predict(X)
        if self.method == "split":
            positions = self.regressors_[0].predict(X)
            return positions, np.tile(self.half_widths_, (len(X), 1))
        by_fold = np.stack([model.predict(X) for model in self.regressors_])
        center = by_fold.mean(axis=0)
        half_width = np.full(center.shape, np.inf)
        for label in range(self.n_outputs_):
            rank = _conformal_rank(self._count[label], self.coverage)
            if rank <= self._count[label]:
                lower, upper = self._cross_bounds(by_fold[:, :, label], label, rank)
                center[:, label] = (lower + upper) / 2
                half_width[:, label] = (upper - lower) / 2
        return center, np.maximum(half_width, 0)

    def _keep_residuals(self, residuals: Array) -> None:
        self.residuals_ = residuals
        self._count = np.sum(~np.isnan(residuals), axis=0)
        ranks = np.array([_conformal_rank(n, self.coverage) for n in self._count])
        few = np.flatnonzero(ranks > self._count)
        if len(few):
            warnings.warn(
                f"too few rows are held out for a coverage of {self.coverage} of "
                f"{show_labels(few)}: the interval is unbounded",
                UserWarning,
                stacklevel=3,
            )
        if self.method == "split":
            ordered = np.sort(residuals, axis=0)
            self.half_widths_ = np.full(residuals.shape[1], np.inf)
            for label in np.flatnonzero(ranks <= self._count):
                self.half_widths_[label] = ordered[ranks[label] - 1, label]

    def _cross_bounds(self, by_fold: Array, label: int, rank: int) -> tuple[Array, Array]:
        observed = np.flatnonzero(~np.isnan(self.residuals_[:, label]))
        error, fold = self.residuals_[observed, label], self.fold_[observed]
        n = by_fold.shape[1]
        lower, upper = np.empty(n), np.empty(n)
        for rows in chunks(n, 8 * len(observed)):
            centers = by_fold[fold, rows]
            upper[rows] = np.partition(centers + error[:, None], rank - 1, axis=0)[rank - 1]
            mirrored = len(observed) - rank
            lower[rows] = np.partition(centers - error[:, None], mirrored, axis=0)[mirrored]
        return lower, upper

    def _regressor(self) -> Any:
        if self.regressor is not None and not hasattr(self.regressor, "fit"):
            raise TypeError(f"regressor must be a regressor, got {self.regressor!r}")
        return SingleTarget() if self.regressor is None else self.regressor

    def _allows_nan_features(self) -> bool:
        return get_tags(self._regressor()).input_tags.allow_nan

    def _check_params(self) -> None:
        check_name("method", self.method, ("split", "cross"))
        for name in ("coverage", "calibration_size"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must be between 0 and 1, got {getattr(self, name)!r}")


def _conformal_rank(n: int, coverage: float) -> int:
    """Which of n sorted errors bounds a new one with the wanted probability."""
    return int(np.ceil((n + 1) * coverage - 1e-12))
