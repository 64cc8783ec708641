"""Single-target regression: each label's position by a model of its own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.metaestimators import available_if

from moreplr._types import Array, Seed, Weights
from moreplr.base import PositionRegressor
from moreplr.forest import ForestBatch, ForestRegressor
from moreplr.regressors._fitting import base_or_forest, fit_target, warn_unobserved
from moreplr.regressors._intervals import gives_intervals, predict_interval


def _base_gives_intervals(regressor: Any) -> bool:
    return gives_intervals(base_or_forest(regressor.base))


class SingleTarget(PositionRegressor):
    """One regressor for each label, trained on every row where that label is ranked.

    Parameters
    ----------
    base : regressor, optional
        Any scikit-learn regressor; by default a :class:`moreplr.forest.ForestRegressor`.
    n_jobs : int, optional
        Labels fitted at the same time.
    random_state : int, RandomState instance or None
        The seed that each label's model gets, if it takes one.

    Attributes
    ----------
    estimators_ : list of the fitted regressors, one for each label; not for the library's own
        forest without sample weights
    batch_ : the library's own forests of all labels, a :class:`moreplr.forest.ForestBatch`
        fitted at once; only for them

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = [[0.0], [1.0], [2.0]]
    >>> Y = [[1.0, 3.0], [2.0, float("nan")], [3.0, 1.0]]
    >>> SingleTarget(LinearRegression()).fit(X, Y).predict([[1.0]]).round(3)
    array([[2., 2.]])
    """

    def __init__(
        self, base: Any = None, *, n_jobs: int | None = None, random_state: Seed = None
    ) -> None:
        self.base = base
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit one model for each column of Y on the rows where it is not NaN."""
        X, Y, weight = self._check_fit(X, y, sample_weight)
        mean = warn_unobserved(Y)
        base = base_or_forest(self.base, self.random_state, self.n_jobs)
        if weight is None and type(base) is ForestRegressor:
            unseen = np.isnan(Y).all(axis=0)
            self.batch_ = ForestBatch(**base.get_params()).fit(X, np.where(unseen, mean, Y))
            return self
        self.__dict__.pop("batch_", None)  # of an earlier fit with another base
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(fit_target)(base_or_forest(self.base, self.random_state), X, y, weight, mean)
            for y in Y.T
        )
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        X = self._check_predict(X)
        if hasattr(self, "batch_"):
            return self.batch_.predict(X)
        return np.column_stack([model.predict(X) for model in self.estimators_])

    @available_if(_base_gives_intervals)
    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and their half-widths."""
        X = self._check_predict(X)
        if hasattr(self, "batch_"):
            return self.batch_.predict_interval(X)
        means, halves = zip(
            *(predict_interval(model, X) for model in self.estimators_), strict=True
        )
        return np.column_stack(means), np.column_stack(halves)
