"""Means over rows, of which some have no value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from moreplr._types import Array, Weights


def ratio(total: Array, count: Array) -> Array:
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)


def share(hits: Array, of: Array, sample_weight: Weights, nothing: str) -> float:
    weight = np.ones(len(of)) if sample_weight is None else np.asarray(sample_weight)
    if (weight @ of) > 0:
        return float((weight @ hits) / (weight @ of))
    warnings.warn(f"undefined, returns NaN: {nothing}", UndefinedMetricWarning, stacklevel=3)
    return float("nan")


def mean_of_known(values: Array, weight: Weights = None) -> float:
    """Weighted mean of the values that are not NaN; NaN if there is none."""
    known = ~np.isnan(values)
    weights = np.ones(len(values)) if weight is None else np.asarray(weight)
    if not weights[known].sum() > 0:
        return float("nan")
    return float(np.average(values[known], weights=weights[known]))


def mean_of_rows(values: Array, sample_weight: Weights, per_sample: bool) -> Any:
    if per_sample:
        return values
    mean = mean_of_known(values, sample_weight)
    if np.isnan(mean):
        warnings.warn(
            "undefined, returns NaN: no row has a pair of labels to compare",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    return mean
