"""Regression chain: each label's model also sees the positions of the labels before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from moreplr._types import Array, Seed, Weights
from moreplr.base import PositionRegressor
from moreplr.regressors._fitting import base_or_forest, fit_target, warn_unobserved
from moreplr.regressors._intervals import predict_interval
from moreplr.regressors._kendall import numbered, squared_kendall
from moreplr.regressors.single_target import _base_gives_intervals


class Chain(PositionRegressor):
    """A chain of regressors, one for each label, in an order that follows their dependence.

    Each link trains on the true positions of the labels before it and predicts from predicted
    ones. Where an earlier position is missing in training, the chain's own prediction takes its
    place, so that every row with an observed target is used.

    Parameters
    ----------
    base : regressor, optional
        Any scikit-learn regressor; by default a :class:`moreplr.forest.ForestRegressor`.
    order : {"correlation", "published", "random"} or sequence of int
        "correlation": start with the label whose absolute correlations with all others sum to
        the most, repeat on the rest (the paper's text). "published": repeatedly the label with
        the largest sum of squared Kendall correlations with all features and the labels already
        chosen (the paper's experiments, where a constant feature leaves the labels in the order
        of their columns). Or the columns in the wanted order.
    random_state : int, RandomState instance or None
        For the base and for a random order.

    Attributes
    ----------
    order_ : array of the columns in the order of the chain
    estimators_ : list of the fitted regressors, in the order of the chain

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = [[0.0], [1.0], [2.0]]
    >>> Y = [[1.0, 3.0], [2.0, float("nan")], [3.0, 1.0]]
    >>> Chain(LinearRegression(), order=[1, 0]).fit(X, Y).predict([[1.0]]).round(3)
    array([[2., 2.]])
    """

    def __init__(
        self, base: Any = None, *, order: Any = "correlation", random_state: Seed = None
    ) -> None:
        self.base = base
        self.order = order
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit the links one after another."""
        X, Y, weight = self._check_fit(X, y, sample_weight)
        mean = warn_unobserved(Y)
        self.order_ = self._find_order(X, Y)
        inputs = self._room_for_targets(X)
        self.estimators_ = []
        for place, column in enumerate(self.order_):
            seen = inputs[:, : X.shape[1] + place]
            y = Y[:, column].copy()
            base = base_or_forest(self.base, self.random_state)
            model = fit_target(base, seen, y, weight, mean)
            missing = np.isnan(y)
            if missing.any():
                y[missing] = model.predict(seen[missing])
            inputs[:, X.shape[1] + place] = y
            self.estimators_.append(model)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        return self._follow(X, lambda model, seen: (model.predict(seen), np.nan))[0]

    @available_if(_base_gives_intervals)
    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and half-widths, each link from the positions predicted before."""
        return self._follow(X, predict_interval)

    def _follow(self, X: Any, answer: Callable[[Any, Array], Any]) -> tuple[Array, Array]:
        X = self._check_predict(X)
        inputs = self._room_for_targets(X)
        half_widths = np.empty((len(X), self.n_outputs_))
        for place, (column, model) in enumerate(
            zip(self.order_, self.estimators_, strict=True), start=X.shape[1]
        ):
            inputs[:, place], half_widths[:, column] = answer(model, inputs[:, :place])
        return inputs[:, X.shape[1] + np.argsort(self.order_)], half_widths

    def _room_for_targets(self, X: Array) -> Array:
        return np.hstack([X, np.empty((len(X), self.n_outputs_))])

    def _find_order(self, X: Array, Y: Array) -> np.ndarray:
        k = Y.shape[1]
        if isinstance(self.order, str):
            if self.order == "correlation":
                return _order_by_correlation(Y)
            if self.order == "published":
                return _published_order(X, Y)
            if self.order == "random":
                return check_random_state(self.random_state).permutation(k)
        elif sorted(self.order) == list(range(k)):
            return np.asarray(self.order, dtype=int)
        raise ValueError(
            "order must be 'correlation', 'published', 'random' or a permutation of the "
            f"{k} columns, got {self.order!r}"
        )


def _order_by_correlation(Y: Array) -> np.ndarray:
    strength = np.abs(np.nan_to_num(pd.DataFrame(Y).corr().to_numpy()))
    np.fill_diagonal(strength, 0)
    rest, order = list(range(Y.shape[1])), []
    while rest:
        sums = strength[np.ix_(rest, rest)].sum(axis=1)
        order.append(rest.pop(int(np.argmax(sums))))
    return np.array(order)


def _published_order(X: Array, Y: Array) -> np.ndarray:
    numbers = numbered(Y)
    sums = sum((squared_kendall(x, numbers) for x in X.T), start=np.zeros(Y.shape[1]))
    rest, order = list(range(Y.shape[1])), []
    while rest:
        # The sums are NaN where a feature or label is constant, and argmax takes NaN for the
        # largest. So with a constant feature, the labels keep the order of their columns.
        chosen = rest.pop(int(np.argmax(sums[rest])))
        order.append(chosen)
        sums[rest] += squared_kendall(Y[:, chosen], numbers[rest])
    return np.array(order)
