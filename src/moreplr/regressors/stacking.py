"""Stacking: a second stage corrects the positions that the first stage predicts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils.metaestimators import available_if

from moreplr.regressors._base import Array, PositionRegressor, base_or_forest
from moreplr.regressors._intervals import gives_intervals
from moreplr.regressors.single_target import SingleTarget


def _second_gives_intervals(stacking: Stacking) -> bool:
    return gives_intervals(base_or_forest(stacking._second_base()))


class Stacking(PositionRegressor):
    """Single-target regression in two stages; the second sees what the first predicts.

    The second stage learns from the features and from *out-of-fold* predictions of the first,
    so that it never sees a prediction for a row that the first stage was trained on.

    Parameters
    ----------
    base : regressor, optional
        First stage, for each label; by default a random forest of 100 trees.
    final : regressor, optional
        Second stage, for each label; by default as `base`.
    cv : int
        Number of folds for the out-of-fold predictions.
    n_jobs : int, optional
        Labels fitted at the same time.
    random_state : int, RandomState instance or None
        For the models and the folds.

    Attributes
    ----------
    first_, second_ : the fitted :class:`SingleTarget` of each stage

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]]
    >>> Stacking(LinearRegression(), cv=2).fit(X, Y).predict([[1.5]]).round(3)
    array([[2.5, 2.5]])
    """

    def __init__(
        self,
        base: Any = None,
        *,
        final: Any = None,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.final = final
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Fit the first stage, predict out of fold, fit the second stage."""
        X, Y, weight = self._check_fit(X, Y, sample_weight)
        if len(X) < 2:
            raise ValueError("Stacking predicts out of fold and can't with n_samples=1")
        if not 2 <= self.cv:
            raise ValueError(f"cv must be at least 2, got {self.cv!r}")
        predicted = np.empty_like(Y)
        folds = KFold(min(self.cv, len(X)), shuffle=True, random_state=self.random_state)
        for train, test in folds.split(X):
            part = None if weight is None else weight[train]
            fitted = self._stage(self.base).fit(X[train], _keep_some(Y, train), part)
            predicted[test] = fitted.predict(X[test])
        self.first_ = self._stage(self.base).fit(X, Y, weight)
        second = self._stage(self._second_base())
        self.second_ = second.fit(np.hstack([X, predicted]), Y, weight)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        return self.second_.predict(self._second_inputs(X))

    @available_if(_second_gives_intervals)
    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and the half-widths of the second stage."""
        return self.second_.predict_interval(self._second_inputs(X))

    def _second_base(self) -> Any:
        return self.base if self.final is None else self.final

    def _stage(self, base: Any) -> SingleTarget:
        return SingleTarget(base, n_jobs=self.n_jobs, random_state=self.random_state)

    def _second_inputs(self, X: Any) -> Array:
        X = self._check_predict(X)
        return np.hstack([X, self.first_.predict(X)])


def _keep_some(Y: Array, rows: Any) -> Array:
    """The targets of a fold; a label that the fold never ranks keeps its overall mean."""
    part = Y[rows]
    unseen = np.isnan(part).all(axis=0)
    if unseen.any():
        part[:, unseen] = np.nan_to_num(_column_means(Y), nan=np.nanmean(Y))[unseen]
    return part


def _column_means(Y: Array) -> Array:
    observed = ~np.isnan(Y)
    count = observed.sum(axis=0)
    total = np.where(observed, Y, 0).sum(axis=0)
    return np.divide(total, count, out=np.full(Y.shape[1], np.nan), where=count > 0)
