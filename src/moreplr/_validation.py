"""Checks of parameters and data for several estimators; errors name the parameter."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from moreplr._frames import fault_of
from moreplr._types import Array, Positions, Weights

_LARGEST = 2**31 - 1
MOST_JOBS = 1024
# As in scikit-learn's forests: sums of squares of such features do not overflow.
LARGEST_FEATURE = float(np.finfo(np.float32).max)
# Forests add up squares of targets in single precision: of these, 10⁸ have room.
LARGEST_TARGET = 1e15


def without_mask(values: Any) -> Any:
    """Replace the masked cells of a masked array by NaN, or by None among texts.

    NumPy and scikit-learn would use the values under the mask.

    Examples
    --------
    >>> without_mask(np.ma.array([1, 99], mask=[False, True]))
    array([ 1., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    numbers = values.dtype.kind in "biuf"
    cells = values.data.astype(np.float64 if numbers else object)
    cells[np.ma.getmaskarray(values)] = np.nan if numbers else None
    return cells


def check_name(parameter: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse a value that is not among the known ones."""
    if not (isinstance(value, str) and value in known):
        raise ValueError(f"{parameter} must be one of {known}, got {value!r}")


def integer_from(name: str, value: Any, least: int) -> int:
    """`value` if it is an integer of at least `least` that fits into 32 bits."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    if value > _LARGEST:
        raise ValueError(f"{name} must be at most {_LARGEST}, got {value!r:.60}")
    return int(value)


def number_from(name: str, value: Any, least: float) -> float:
    """`value` if it is a finite number of at least `least`."""
    known = isinstance(value, Real) and not isinstance(value, bool)
    if not (known and least <= float(value) < np.inf):
        raise ValueError(f"{name} must be a finite number of at least {least:g}, got {value!r}")
    return float(value)


def check_fit_call(estimator: Any, y: Any) -> None:
    """Refuse a call of `fit` without y, and a wrong number of threads."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    check_jobs(getattr(estimator, "n_jobs", None))


def check_jobs(n_jobs: Any) -> None:
    """Refuse a number of threads that is not an integer, is 0 or is too large."""
    if n_jobs is None:
        return
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not whole or n_jobs == 0 or abs(n_jobs) > MOST_JOBS:
        raise ValueError(
            f"n_jobs must be None or an integer from -{MOST_JOBS} to {MOST_JOBS} other than 0, "
            f"got {n_jobs!r:.60}"
        )


def check_sample_weight(sample_weight: Weights, n_samples: int) -> Array | None:
    """Weights as a float array of the right length, finite and not negative, or None."""
    if sample_weight is None:
        return None
    weight = _weights(without_mask(sample_weight))
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


def _weights(sample_weight: Any) -> Array:
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind in "cmM":  # NumPy would convert these in part
            raise TypeError(f"{given.dtype} is no type of weights")
        return given.astype(np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be a number for each row: {error}") from error


def relative_weight(sample_weight: Weights, n_samples: int) -> Array | None:
    """Checked weights, scaled to a mean of 1 over the rows of positive weight.

    So only their ratios matter, even for models that add a penalty to the loss.

    Examples
    --------
    >>> relative_weight([1e-30, 3e-30, 0], 3)
    array([0.5, 1.5, 0. ])
    """
    weight = check_sample_weight(sample_weight, n_samples)
    if weight is None:
        return None
    share = weight / weight.max()
    return share / share[weight > 0].mean()


def finite_or_nan(estimator: Any) -> str | bool:
    """The option of scikit-learn's validation that accepts NaN if the estimator does."""
    return "allow-nan" if get_tags(estimator).input_tags.allow_nan else True


def numbers_from(ranker: Any, X: Any, *, reset: bool = True) -> Array:
    """Features as numbers; an error names the first column that holds something else."""
    X, tags = without_mask(X), get_tags(ranker)
    if tags.no_validation:  # the features are ignored
        table = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        if len(table.shape) != 2:
            raise ValueError(f"X must be a table of rows and columns, got shape {table.shape}")
        validate_data(ranker, table, reset=reset, skip_check_array=True)
        return np.empty((table.shape[0], 0))
    try:
        with quiet():
            X = validate_data(
                ranker,
                X,
                reset=reset,
                accept_sparse="csr" if tags.input_tags.sparse else False,
                dtype=np.float64,
                ensure_all_finite=finite_or_nan(ranker),
            )
    except OverflowError as error:
        raise ValueError(f"X has a feature that is too large: {error}") from error
    except (TypeError, ValueError) as error:
        fault = fault_of(X, type(ranker).__name__, takes_gaps=tags.input_tags.allow_nan)
        if fault is None:
            raise
        raise ValueError(fault) from error
    check_size(X)
    return X


def quiet() -> np.errstate:
    """Silence the overflow warnings of scikit-learn's search for infinity, which adds up cells."""
    return np.errstate(over="ignore", invalid="ignore")


def check_size(X: Any) -> None:
    """Refuse features whose squares would overflow; NaN passes.

    Examples
    --------
    >>> check_size(np.array([[1e38, np.nan]]))
    """
    if 0 in X.shape or (hasattr(X, "tocsr") and not len(X.data)):
        return
    values = X.data if hasattr(X, "tocsr") else X
    largest = max(np.fmax.reduce(values, None), -np.fmin.reduce(values, None))
    if largest > LARGEST_FEATURE:
        raise ValueError(
            f"X has a feature with values beyond {LARGEST_FEATURE:.2g} in size, whose squares "
            "overflow: scale it down"
        )


def take(rows: Any, *arrays: Any) -> tuple[Any, ...]:
    """Some rows of each array; None stays None.

    Examples
    --------
    >>> take([1], np.array([0.1, 0.2]), None)
    (array([0.2]), None)
    """
    return tuple(None if array is None else array[rows] for array in arrays)


def check_target_size(Y: Array) -> None:
    """Refuse targets, such as given positions, whose squares would overflow; NaN passes.

    Examples
    --------
    >>> check_target_size(np.array([[1e15, np.nan]]))
    """
    if (np.abs(Y) > LARGEST_TARGET).any():
        raise ValueError(
            f"y has values beyond {LARGEST_TARGET:.0e} in size, whose squares overflow in single "
            "precision: scale it down"
        )


def weighted_rows(
    X: Array, Y: Positions, weight: Array | None
) -> tuple[Array, Positions, Array | None]:
    """The rows with positive weight."""
    if weight is None or weight.all():
        return X, Y, weight
    return take(weight > 0, X, Y, weight)


def compares(Y: Positions) -> NDArray[np.bool_]:
    """Which rows rank at least two labels, or the only one; others are of no use."""
    return (~np.isnan(Y)).sum(axis=1) >= min(2, Y.shape[1])


def check_base(base: Any) -> None:
    """Refuse a base that is not a regressor."""
    if not (hasattr(base, "fit") and hasattr(base, "predict")):
        raise TypeError(f"base must be a regressor with fit and predict, got {base!r}")
