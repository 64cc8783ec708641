"""Stacking: a second stage corrects the positions that the first stage predicts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from moreplr._types import Array, Seed, Weights
from moreplr._validation import take
from moreplr.base import PositionRegressor
from moreplr.regressors._fitting import base_or_forest, column_means, folds
from moreplr.regressors._intervals import gives_intervals
from moreplr.regressors.single_target import SingleTarget


def _second_gives_intervals(stacking: Stacking) -> bool:
    return gives_intervals(base_or_forest(stacking._second_base()))


class Stacking(PositionRegressor):
    """Single-target regression in two stages; the second uses predictions of the first.

    The second stage learns from the features and from *out-of-fold* predictions of the first,
    so that it never sees a prediction for a row that the first stage was trained on.

    Parameters
    ----------
    base : regressor, optional
        First stage, for each label; by default a :class:`moreplr.forest.ForestRegressor`.
    final : regressor, optional
        Second stage, for each label; by default as `base`.
    cv : int, splitter or iterable of (train, test)
        The folds of the out-of-fold predictions; a number means shuffled rows.
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
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.base = base
        self.final = final
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit the first stage, predict out of fold, fit the second stage."""
        X, Y, weight = self._check_fit(X, y, sample_weight)
        if len(X) < 2:
            raise ValueError("Stacking predicts out of fold and can't with n_samples=1")
        predicted = np.full(Y.shape, np.nan)
        for train, test in folds(self.cv, X, self.random_state):
            (part,) = take(train, weight)
            fitted = self._stage(self.base).fit(X[train], _keep_some(Y, train), part)
            predicted[test] = fitted.predict(X[test])
        if np.isnan(predicted).any():
            raise ValueError("cv must hold out every row once: Stacking needs all predictions")
        self.first_ = self._stage(self.base).fit(X, Y, weight)
        second = self._stage(self._second_base())
        self.second_ = second.fit(np.hstack([X, predicted]), Y, weight)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        inputs = self._second_inputs(X)
        return self.second_.predict(inputs)

    @available_if(_second_gives_intervals)
    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and the half-widths of the second stage."""
        inputs = self._second_inputs(X)
        return self.second_.predict_interval(inputs)

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
    part[:, unseen] = column_means(Y)[unseen]
    return part
