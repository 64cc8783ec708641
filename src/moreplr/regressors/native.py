"""Native multi-output regression: one model for all positions."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from moreplr._types import Array, Seed, Weights
from moreplr._validation import take
from moreplr.base import PositionRegressor
from moreplr.regressors._fitting import base_or_forest, fit_weighted, last_step, warn_unobserved
from moreplr.regressors._intervals import predict_interval
from moreplr.regressors.single_target import _base_gives_intervals


class Native(PositionRegressor):
    """One regressor that predicts the positions of all labels together.

    A base with a true attribute `handles_missing_targets` learns from targets with NaN. Any other
    base is trained on the rows that rank every label, with a warning about the others. If no row
    ranks every label, this is an error.

    Parameters
    ----------
    base : regressor, optional
        Any scikit-learn regressor that takes several targets; by default a
        :class:`moreplr.forest.ForestRegressor`, which learns from rows with gaps.
    random_state : int, RandomState instance or None
        The seed of the base.

    Attributes
    ----------
    estimator_ : the fitted regressor

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X, Y = [[0.0], [1.0], [2.0]], [[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]
    >>> Native(LinearRegression()).fit(X, Y).predict([[1.0]]).round(3)
    array([[2., 2.]])
    """

    def __init__(self, base: Any = None, *, random_state: Seed = None) -> None:
        self.base = base
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit the base on all targets at once."""
        X, Y, weight = self._check_fit(X, y, sample_weight)
        base = base_or_forest(self.base, self.random_state)
        if Y.shape[1] > 1 and not get_tags(base).target_tags.multi_output:
            name = type(last_step(base)).__name__
            raise ValueError(f"{name} predicts one target only; use SingleTarget with it")
        incomplete = np.isnan(Y).any(axis=1)
        if incomplete.any() and not getattr(base, "handles_missing_targets", False):
            X, Y, weight = self._complete_rows(base, X, Y, weight, ~incomplete)
        else:
            warn_unobserved(Y)
        self.estimator_ = fit_weighted(base, X, Y[:, 0] if Y.shape[1] == 1 else Y, weight)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        X = self._check_predict(X)
        return self._columns(self.estimator_.predict(X))

    @available_if(_base_gives_intervals)
    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and their half-widths."""
        X = self._check_predict(X)
        mean, half = predict_interval(self.estimator_, X)
        return self._columns(mean), self._columns(half)

    def _columns(self, values: Array) -> Array:
        return values.reshape(len(values), self.n_outputs_)

    def _complete_rows(
        self, base: Any, X: Array, Y: Array, weight: Any, complete: Any
    ) -> tuple[Any, ...]:
        name = type(last_step(base)).__name__
        if not complete.any():
            raise ValueError(
                f"no training row ranks every label, and {name} can't learn from rows with "
                "missing labels; use SingleTarget, or a base that handles missing targets"
            )
        warnings.warn(
            f"{name} can't learn from rows with missing labels: "
            f"{np.sum(~complete)} of {len(Y)} rows are left out",
            UserWarning,
            stacklevel=3,
        )
        return take(complete, X, Y, weight)
