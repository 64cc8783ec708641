"""A step of the published experiments that the library leaves out: −1 for missing positions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from moreplr._types import Array, Weights
from moreplr.base import PositionRegressor
from moreplr.regressors import gives_intervals, predict_interval


class FilledBlanks(PositionRegressor):
    """Train a regressor with a number in place of each missing position.

    The paper's Native and Chain were trained on −1 there, which is better than any position.
    This, not a property of the methods, explains their low scores in the tables for incomplete
    rankings. Rows without any position were left out.

    Parameters
    ----------
    regressor : regressor of :mod:`moreplr.regressors`
    value : float

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from moreplr.regressors import Native
    >>> Y = [[1.0, float("nan")], [1.0, float("nan")]]
    >>> FilledBlanks(Native(LinearRegression())).fit([[0.0], [1.0]], Y).predict([[0.5]])
    array([[ 1., -1.]])
    """

    def __init__(self, regressor: Any, value: float = -1.0) -> None:
        self.regressor = regressor
        self.value = value

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit the regressor on filled positions."""
        X, Y, weight = self._check_fit(X, y, sample_weight)
        ranked = ~np.isnan(Y).all(axis=1)
        filled = np.where(np.isnan(Y), self.value, Y)[ranked]
        weight = None if weight is None else weight[ranked]
        self.regressor_ = clone(self.regressor).fit(X[ranked], filled, weight)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        return self.regressor_.predict(X)

    @available_if(lambda self: gives_intervals(self.regressor))
    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and their half-widths."""
        return predict_interval(self.regressor_, X)

    def _allows_nan_features(self) -> bool:
        return get_tags(self.regressor).input_tags.allow_nan
