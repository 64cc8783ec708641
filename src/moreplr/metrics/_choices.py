"""The quality of decisions that take the label with the best predicted rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from moreplr._types import Array, Positions, Weights
from moreplr.metrics._means import mean_of_rows
from moreplr.rankings import check_rankings


def choice_regret(
    scores: Any,
    Y_pred: ArrayLike,
    *,
    larger_is_better: bool = True,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """The loss from taking the label that is predicted to be best.

    Where several labels are predicted to be best, one of them is drawn: their mean score counts.

    Parameters
    ----------
    scores : array or frame of shape (n_samples, n_labels)
        What each label is worth, such as the quality of a model's answer. NaN is not known; such
        a label is never taken.
    Y_pred : rankings of shape (n_samples, n_labels), in any accepted form
    larger_is_better : bool, default=True
        False for costs and run times.
    sample_weight : array of shape (n_samples,), optional
    per_sample : bool
        Give a value for each row instead of the mean.

    Examples
    --------
    >>> choice_regret([[0.9, 0.5, 0.1]], ["b > a > c"], per_sample=False)
    0.4
    """
    worth = np.asarray(scores, float) * (1.0 if larger_is_better else -1.0)
    if np.isinf(worth).any():
        raise ValueError("scores must be finite; penalized_runtime is for time-outs")
    seen = ~np.isnan(worth)
    best = np.where(seen, worth, -np.inf).max(axis=1, initial=-np.inf)
    lost = best - chosen_values(worth, Y_pred, scores)
    return mean_of_rows(np.where(seen.any(axis=1), lost, np.nan), sample_weight, per_sample)


def penalized_runtime(
    times: Any,
    Y_pred: ArrayLike,
    cutoff: float,
    *,
    penalty: float = 10.0,
    per_sample: bool = False,
) -> Any:
    """Mean run time of the algorithm that is predicted to be best; a time-out costs a penalty.

    With the default penalty this is PAR10, the usual measure of algorithm selection.

    Parameters
    ----------
    times : array or frame of shape (n_samples, n_labels)
        Run times; infinity, or a time above the cutoff, is a time-out.
    Y_pred : rankings of shape (n_samples, n_labels), in any accepted form
    cutoff : float
    penalty : float, default=10
        How many times the cutoff a time-out costs.
    per_sample : bool
        Give a value for each row instead of the mean.

    Examples
    --------
    >>> penalized_runtime([[3.0, float("inf")], [50.0, 1.0]], ["a > b", "a > b"], cutoff=100)
    26.5
    >>> penalized_runtime([[3.0, float("inf")], [50.0, 1.0]], ["b > a", "b > a"], cutoff=100)
    500.5
    """
    values = chosen_values(_with_penalty(times, cutoff, penalty), Y_pred, times)
    return mean_of_rows(values, None, per_sample)


def closed_gap(
    times: Any, Y_pred: ArrayLike, cutoff: float, *, single_best: Any, penalty: float = 10.0
) -> float:
    """The share of the gap between single best and virtual best solver that a selector closes.

    1 is as good as always taking the fastest solver (the virtual best), 0 as good as always
    taking the one that is best on average (the single best), and negative is worse than that.

    Parameters
    ----------
    times, Y_pred, cutoff, penalty : as in `penalized_runtime`
    single_best : int or label
        The solver of least penalised run time on the training rows: its column, by number or by
        the name that it has in a frame of times.

    Examples
    --------
    >>> times = [[3.0, 9.0], [50.0, 1.0]]
    >>> closed_gap(times, ["a > b", "b > a"], cutoff=100, single_best=1)
    1.0
    """
    cost = _with_penalty(times, cutoff, penalty)
    column = single_best
    if hasattr(times, "columns"):
        column = list(times.columns).index(single_best)
    single, virtual = cost[:, column].mean(), cost.min(axis=1).mean()
    if single <= virtual:
        return float("nan")  # there is no gap to close
    own = chosen_values(cost, Y_pred, times).mean()
    return float((single - own) / (single - virtual))


def _with_penalty(times: Any, cutoff: float, penalty: float) -> Array:
    values = np.asarray(times, float)
    if np.isnan(values).any():
        raise ValueError("times must be known for all algorithms; a time-out is infinity")
    if not cutoff > 0:
        raise ValueError(f"cutoff must be positive, got {cutoff!r}")
    return np.where(values > cutoff, penalty * cutoff, values)


def chosen_values(values: Array, Y_pred: ArrayLike, origin: Any) -> Array:
    """The mean of the known values of the labels in the best predicted bucket."""
    labels = list(origin.columns) if hasattr(origin, "columns") else None
    pred: Positions = check_rankings(Y_pred, labels)[0]
    if pred.shape != values.shape:
        raise ValueError(f"values have shape {values.shape}, Y_pred has shape {pred.shape}")
    open_to = np.where(np.isnan(values) | np.isnan(pred), np.inf, pred)
    first = (open_to == open_to.min(axis=1, keepdims=True)) & np.isfinite(open_to)
    count = first.sum(axis=1)
    total = np.where(first, values, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
