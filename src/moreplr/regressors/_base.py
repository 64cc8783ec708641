"""What all multi-output regressors share: targets with NaN, base models, seeds and weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from moreplr.forest import ForestRegressor

Array = NDArray[np.float64]


class PositionRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor of k positions at once whose training targets may hold NaN."""

    base: Any
    n_outputs_: int

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Any]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X, Y = validate_data(
            self,
            X,
            y,
            validate_separately=(
                {"dtype": np.float64, "ensure_all_finite": finite_or_nan(self)},
                {"dtype": np.float64, "ensure_all_finite": "allow-nan"},
            ),
        )
        check_consistent_length(X, Y)
        if np.isnan(Y).all():
            raise ValueError("y holds NaN only: there is no target to learn from")
        self.n_outputs_ = Y.shape[1]
        return X, Y, check_sample_weight(sample_weight, len(X))

    def _check_predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite=finite_or_nan(self)
        )

    def _allows_nan_features(self) -> bool:
        return get_tags(base_or_forest(self.base)).input_tags.allow_nan

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.input_tags.allow_nan = self._allows_nan_features()
        return tags


def finite_or_nan(estimator: Any) -> str | bool:
    """What validation asks of the features: NaN passes where the learner can take it."""
    return "allow-nan" if get_tags(estimator).input_tags.allow_nan else True


def base_or_forest(base: Any, random_state: Any = None, n_jobs: int | None = None) -> Any:
    """A fresh copy of the base regressor with its seed set; a forest of 100 trees if None."""
    if base is None:
        return ForestRegressor(n_estimators=100, random_state=random_state, n_jobs=n_jobs)
    if not (hasattr(base, "fit") and hasattr(base, "predict")):
        raise TypeError(f"base must be a regressor with fit and predict, got {base!r}")
    base = clone(base)
    if random_state is not None and "random_state" in base.get_params(deep=False):
        base.set_params(random_state=random_state)
    return base


def fit_target(base: Any, X: Array, y: Array, sample_weight: Any, default: float) -> Any:
    """Fit a base on the rows where one target is observed; a constant where none is."""
    observed = ~np.isnan(y)
    if not observed.any():
        return DummyRegressor(strategy="constant", constant=default).fit(X[:1], [default])
    if not observed.all():
        X, y = X[observed], y[observed]
        sample_weight = None if sample_weight is None else sample_weight[observed]
    return fit_weighted(base, X, y, sample_weight)


def fit_weighted(base: Any, X: Array, y: Array, sample_weight: Any) -> Any:
    """Fit with weights where there are some, and say so where the base can't take them."""
    if sample_weight is None:
        return base.fit(X, y)
    if not has_fit_parameter(base, "sample_weight"):
        raise TypeError(f"{type(base).__name__} does not take sample weights")
    return base.fit(X, y, sample_weight=sample_weight)


def warn_unobserved(Y: Array) -> float:
    """The mean target, which stands in for labels that no training row ranks."""
    unseen = np.flatnonzero(np.isnan(Y).all(axis=0))
    if len(unseen):
        warnings.warn(
            f"no training row ranks label {', '.join(map(str, unseen))} (counted from 0); "
            "the mean position of all labels is predicted for it",
            UserWarning,
            stacklevel=4,
        )
    return float(np.nanmean(Y))


def folds(cv: Any, X: Array, random_state: Any) -> list[tuple[Any, Any]]:
    """Training and held-out rows of each fold; a number of folds means shuffled rows."""
    if isinstance(cv, (int, np.integer)):
        if cv < 2:
            raise ValueError(f"cv must be at least 2, got {cv!r}")
        cv = KFold(min(int(cv), len(X)), shuffle=True, random_state=random_state)
    return list(check_cv(cv).split(X))


def column_means(Y: Array, sample_weight: Any = None) -> Array:
    """Mean of each target over its observed rows; the mean of all where there is none."""
    observed = ~np.isnan(Y)
    weight = observed * (1.0 if sample_weight is None else sample_weight[:, None])
    count = weight.sum(axis=0)
    total = (np.where(observed, Y, 0) * weight).sum(axis=0)
    return np.divide(total, count, out=np.full(Y.shape[1], np.nanmean(Y)), where=count > 0)


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array | None:
    """Weights as a float array of the right length, finite and not negative, or None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, expected ({n_samples},): one for each row"
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and not negative")
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: there is nothing to learn from")
    return weight
