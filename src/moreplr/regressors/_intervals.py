"""Half-widths of prediction intervals, of any regressor that has some."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor
from sklearn.pipeline import Pipeline

from moreplr._types import Array

_TREE_ENSEMBLES = (RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor)


def gives_intervals(regressor: Any) -> bool:
    """Whether :func:`predict_interval` works with this regressor, fitted or not."""
    if isinstance(regressor, Pipeline):
        return gives_intervals(regressor[-1])
    return (
        hasattr(regressor, "predict_interval")
        or isinstance(regressor, _TREE_ENSEMBLES)
        or _has_std(regressor)
    )


def predict_interval(regressor: Any, X: Array) -> tuple[Array, Array]:
    """Predictions and their half-widths.

    A regressor's own `predict_interval` comes first. Otherwise it is the standard error of the
    mean of an ensemble of trees, σ/√trees, or the standard deviation that Gaussian processes and
    Bayesian linear models predict.
    """
    if isinstance(regressor, Pipeline):
        return predict_interval(regressor[-1], regressor[:-1].transform(X))
    if hasattr(regressor, "predict_interval"):
        return regressor.predict_interval(X)
    if isinstance(regressor, _TREE_ENSEMBLES):
        return _standard_error_over_trees(regressor, X)
    return regressor.predict(X, return_std=True)


def _has_std(regressor: Any) -> bool:
    predict = getattr(regressor, "predict", None)
    return predict is not None and "return_std" in signature(predict).parameters


def _standard_error_over_trees(ensemble: Any, X: Array) -> tuple[Array, Array]:
    """Mean and σ/√trees in one pass over the trees, exact for trees that all agree.

    The mean is summed up as in the ensemble's own `predict`, so that both are equal to the last
    bit: rounding must not depend on whether intervals are computed.
    """
    columns = getattr(ensemble, "estimators_features_", None)
    total: Any = 0.0
    mean: Any = 0.0
    squares: Any = 0.0
    for count, tree in enumerate(ensemble.estimators_, start=1):
        output = tree.predict(X if columns is None else X[:, columns[count - 1]])
        total = total + output
        delta = output - mean
        mean = mean + delta / count
        squares = squares + delta * (output - mean)
    trees = len(ensemble.estimators_)
    return total / trees, np.sqrt(squares / trees) / np.sqrt(trees)
