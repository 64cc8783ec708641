"""Base models of multi-output regressors, fitted on the rows where a target is observed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import KFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from moreplr._stopping import abandonable
from moreplr._types import Array, Seed
from moreplr._validation import check_base, take
from moreplr.forest import ForestRegressor

# Regressors do not know the names of labels; the ranker that fits them does.
_LABELS: ContextVar[Any] = ContextVar("labels", default=None)


@contextmanager
def labels_named(labels: Any) -> Iterator[None]:
    """Let warnings name the labels as the user does."""
    token = _LABELS.set(labels)
    try:
        yield
    finally:
        _LABELS.reset(token)


def show_labels(columns: Iterable[int]) -> str:
    """Labels by their names, or as targets by their numbers.

    Examples
    --------
    >>> show_labels([2])
    'target 2 (counted from 0)'
    >>> with labels_named(["a", "b", "c"]):
    ...     show_labels([0, 2])
    "'a', 'c'"
    """
    labels = _LABELS.get()
    if labels is None:
        return f"target {', '.join(map(str, columns))} (counted from 0)"
    return ", ".join(repr(labels[column]) for column in columns)


def base_or_forest(base: Any, random_state: Seed = None, n_jobs: int | None = None) -> Any:
    """A fresh copy of the base regressor with its seed set; a forest of 100 trees if None."""
    if base is None:
        return ForestRegressor(n_estimators=100, random_state=random_state, n_jobs=n_jobs)
    check_base(base)
    return seeded(base, random_state)


def seeded(estimator: Any, seed: Seed) -> Any:
    """A fresh copy, with the seed if it takes one."""
    estimator = clone(estimator)
    if seed is not None and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator


def fit_target(base: Any, X: Array, y: Array, sample_weight: Array | None, default: float) -> Any:
    """Fit a base on the rows where one target is observed; a constant where none is."""
    observed = ~np.isnan(y)
    if not observed.any():
        return DummyRegressor(strategy="constant", constant=default).fit(X[:1], [default])
    if not observed.all():
        X, y, sample_weight = take(observed, X, y, sample_weight)
    return fit_weighted(base, X, y, sample_weight)


def fit_weighted(base: Any, X: Array, y: Array, sample_weight: Array | None) -> Any:
    """Fit, with weights if there are any; an error if the base can't take them."""
    if sample_weight is None:
        options = {}
    elif has_fit_parameter(base, "sample_weight"):
        options = {"sample_weight": sample_weight}
    else:
        raise TypeError(f"{type(base).__name__} does not take sample weights")
    if type(last_step(base)).__module__.startswith(
        "sklearn.svm."
    ):  # libsvm does not react to Ctrl-C
        return abandonable(lambda: base.fit(X, y, **options))
    return base.fit(X, y, **options)


def last_step(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the model itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def warn_unobserved(Y: Array) -> float:
    """The mean target, for labels that no training row ranks; warns of these."""
    unseen = np.flatnonzero(np.isnan(Y).all(axis=0))
    if len(unseen):
        warnings.warn(
            f"no training row ranks {show_labels(unseen)}; the mean position of all "
            "labels is predicted for it",
            UserWarning,
            stacklevel=4,
        )
    return float(np.nanmean(Y))


def folds(cv: Any, X: Array, random_state: Seed) -> list[tuple[Any, Any]]:
    """Training and held-out rows of each fold; a number of folds means shuffled rows."""
    if isinstance(cv, (int, np.integer)):
        if cv < 2:
            raise ValueError(f"cv must be at least 2, got {cv!r}")
        cv = KFold(min(int(cv), len(X)), shuffle=True, random_state=random_state)
    return list(check_cv(cv).split(X))


def column_means(Y: Array, sample_weight: Array | None = None) -> Array:
    """Mean of each target over its observed rows; the mean of all where there is none."""
    observed = ~np.isnan(Y)
    weight = observed * (1.0 if sample_weight is None else sample_weight[:, None])
    count = weight.sum(axis=0)
    total = (np.where(observed, Y, 0) * weight).sum(axis=0)
    return np.divide(total, count, out=np.full(Y.shape[1], np.nanmean(Y)), where=count > 0)


def check_kernel_size(name: str, cells: int, most: int) -> None:
    """Refuse a kernel matrix that would not fit in memory, before it is made."""
    if cells > most:
        raise ValueError(
            f"{name} would need a kernel matrix of {cells:,} × {cells:,} "
            f"({cells**2 * 8 / 1e9:,.1f} GB), more than the limit of {most:,}; "
            "train on fewer rows, raise the limit, or use another regressor"
        )
