"""Validate the parameters and data of forests; errors name the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from moreplr._types import AnyArray, Weights
from moreplr._validation import (
    check_jobs,
    check_sample_weight,
    check_size,
    check_target_size,
    integer_from,
    quiet,
    without_mask,
)
from moreplr.forest.binning import BinnedMatrix, check_max_bins
from moreplr.forest.growing import Limits

_MOST_FEATURES = 65_535


def number_of_features(max_features: Any, n_features: int) -> int:
    """How many features a split considers."""
    if max_features is None:
        return n_features
    if max_features in ("sqrt", "log2"):
        return max(1, int(np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)))
    if isinstance(max_features, int | np.integer) and max_features >= 1:
        return min(int(max_features), n_features)
    if isinstance(max_features, float | np.floating) and 0.0 < max_features <= 1.0:
        return max(1, int(max_features * n_features))
    raise ValueError(
        "max_features must be 'sqrt', 'log2', None, an integer of at least 1 or a share in "
        f"(0, 1], got {max_features!r}"
    )


def limits_of(forest: Any, n_features: int) -> Limits:
    """Validate the parameters of a forest and return the limits of its trees."""
    integer_from("n_estimators", forest.n_estimators, 1)
    check_jobs(forest.n_jobs)
    check_max_bins(forest.max_bins)
    if n_features > _MOST_FEATURES:
        raise ValueError(f"at most {_MOST_FEATURES} features are possible, got {n_features}")
    depth = forest.max_depth
    return Limits(
        max_depth=None if depth is None else integer_from("max_depth", depth, 1),
        min_samples_split=integer_from("min_samples_split", forest.min_samples_split, 2),
        min_samples_leaf=integer_from("min_samples_leaf", forest.min_samples_leaf, 1),
        max_features=number_of_features(forest.max_features, n_features),
    )


def draws_of(forest: Any, n: int) -> int | None:
    """How many rows are drawn for each tree; None if every tree uses every row once."""
    if not forest.bootstrap:
        return None
    most = forest.max_samples
    if most is None:
        return n
    if isinstance(most, int | np.integer) and not isinstance(most, bool) and most >= 1:
        return min(int(most), n)
    if isinstance(most, float | np.floating) and 0.0 < most <= 1.0:
        return max(1, round(float(most) * n))
    raise ValueError(
        f"max_samples must be None, an integer of at least 1 or a share in (0, 1], got {most!r}"
    )


def weights_of(sample_weight: Weights, X: AnyArray) -> NDArray[np.float32] | None:
    """Weights divided by the largest, so that only their ratios count; None stays None."""
    weight = check_sample_weight(sample_weight, len(X))
    if weight is None:
        return None
    relative: NDArray[np.float32] = (weight / weight.max()).astype(np.float32)
    return relative


def targets_of(Y: Any, X: AnyArray, name: str) -> NDArray[np.float64]:
    """Validated targets with one or two dimensions; NaN is allowed."""
    if Y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    with quiet():
        Y = check_array(
            without_mask(Y),
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            input_name="y",
        )
    if Y.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {Y.ndim}")
    check_consistent_length(X, Y)
    if np.isnan(Y).all():
        raise ValueError("Input y contains NaN only: there is nothing to learn from")
    check_target_size(Y)
    return Y


def features_of(
    forest: Any, X: Any, max_bins: int, sample_weight: Weights = None
) -> tuple[BinnedMatrix, NDArray[np.float32] | None]:
    """Bin the features to fit on, unless they are binned already; also return the weights."""
    if isinstance(X, BinnedMatrix):
        forest.n_features_in_ = X.shape[1]
        return X, weights_of(sample_weight, X.codes)
    checked = _checked(forest, X, reset=True)
    weight = weights_of(sample_weight, checked)
    return BinnedMatrix.of(checked, max_bins, weight), weight


def codes_of(forest: Any, X: Any) -> NDArray[np.uint8]:
    """The binned features of the rows to predict."""
    check_is_fitted(forest)
    if not isinstance(X, BinnedMatrix):
        codes: NDArray[np.uint8] = forest.binner_.transform(_checked(forest, X, reset=False))
        return codes
    if X.shape[1] != forest.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(forest).__name__} is expecting "
            f"{forest.n_features_in_} features as input"
        )
    return X.codes


def _checked(forest: Any, X: Any, reset: bool) -> AnyArray:
    with quiet():
        checked: AnyArray = validate_data(
            forest,
            without_mask(X),
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )
    check_size(checked)
    return checked


def dyadic_offset(Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number near each column's mean with few binary digits, so that differences are exact."""
    seen = ~np.isnan(Y)
    count = np.maximum(seen.sum(axis=0), 1)
    filled = np.where(seen, Y, 0.0)
    mean = filled.sum(axis=0) / count
    deviation = np.sqrt((np.where(seen, filled - mean, 0.0) ** 2).sum(axis=0) / count)
    step = 2.0 ** np.floor(np.log2(np.where(deviation > 0, deviation, 1.0)))
    return np.where(deviation > 0, np.rint(mean / step) * step, mean)
