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


def mean_of_rows(values: Array, sample_weight: Weights, per_sample: bool) -> Any:
    if per_sample:
        return values
    defined = ~np.isnan(values)
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight)
    if not weight[defined].sum() > 0:
        warnings.warn(
            "undefined, returns NaN: no row has a pair of labels to compare",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return float("nan")
    return float(np.average(values[defined], weights=weight[defined]))
