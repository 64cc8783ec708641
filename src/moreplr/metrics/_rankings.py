"""Agreement of predicted rankings with the true ones: τ_X and others, with scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from moreplr._types import Array, Positions, Weights
from moreplr.metrics._means import mean_of_rows, ratio, share
from moreplr.rankings import check_rankings, count_buckets

_CHUNK_ROWS = 4096


def tau_x_score(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """Rank correlation τ_X of Emond and Mason (2002), the paper's measure of accuracy.

    Over all pairs of labels: +1 where truth and prediction agree (both strict in the same
    direction, or both tied), −1 where they are opposite, 0 where only one of them ties.

    Parameters
    ----------
    Y_true, Y_pred : rankings of shape (n_samples, n_labels), in any accepted form
    sample_weight : array of shape (n_samples,), optional
    per_sample : bool
        Give a value for each row (NaN where no pair can be compared) instead of the mean.

    Returns
    -------
    float in [−1, 1], or an array of them

    Examples
    --------
    >>> round(tau_x_score([[1, 2, 2]], [[1, 2, 3]]), 3)
    0.667
    >>> tau_x_score(["a > b > c"], ["c > b > a"])
    -1.0
    """
    return mean_of_rows(tau_x_of_rows(*_check_pair(Y_true, Y_pred)), sample_weight, per_sample)


def tau_x_of_rows(true: Positions, pred: Positions) -> Array:
    """τ_X of each row of rankings in canonical form, NaN where no pair can be compared."""
    counts = _count_pairs(true, pred)
    agreement = counts.concordant + counts.both_tied - counts.discordant
    return ratio(agreement, counts.pairs)


def tau_b_score(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """Kendall's τ_b; it has no value for a row where truth or prediction ties everything.

    Examples
    --------
    >>> round(tau_b_score([[1, 2, 2]], [[1, 2, 3]]), 3)
    0.816
    """
    counts = _count_pairs(*_check_pair(Y_true, Y_pred))
    untied = (counts.pairs - counts.true_tied) * (counts.pairs - counts.pred_tied)
    values = ratio(counts.concordant - counts.discordant, np.sqrt(untied))
    return mean_of_rows(values, sample_weight, per_sample)


def kendall_distance(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    penalty: float = 0.5,
    normalize: bool = True,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """Kendall distance with ties: 1 for an opposite pair, `penalty` where only one ties.

    With `normalize` the sum is divided by the number of pairs, so that it lies in [0, 1].
    With a penalty of ½ and normalised it is (1 − τ_X) / 2.

    Examples
    --------
    >>> kendall_distance([[1, 2, 2]], [[3, 1, 2]], normalize=False)
    2.5
    """
    if not 0 <= penalty <= 1:
        raise ValueError(f"penalty must be between 0 and 1, got {penalty!r}")
    counts = _count_pairs(*_check_pair(Y_true, Y_pred))
    half_tied = counts.true_tied + counts.pred_tied - 2 * counts.both_tied
    total = counts.discordant + penalty * half_tied
    values = ratio(total, counts.pairs)
    if not normalize:
        values = np.where(counts.pairs > 0, total, np.nan)
    return mean_of_rows(values, sample_weight, per_sample)


def bucket_count_error(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """Absolute difference of the numbers of buckets, over the labels that both rank.

    Examples
    --------
    >>> bucket_count_error([[1, 2, 2]], [[1, 2, 3]])
    1.0
    """
    true, pred = _check_pair(Y_true, Y_pred)
    either = np.isnan(true) | np.isnan(pred)
    true, pred = np.where(either, np.nan, true), np.where(either, np.nan, pred)
    values = np.abs(count_buckets(true) - count_buckets(pred)).astype(float)
    values[either.all(axis=1)] = np.nan
    return mean_of_rows(values, sample_weight, per_sample)


def tie_precision_score(
    Y_true: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None
) -> float:
    """Of the pairs that the prediction ties, the share that is tied in truth.

    Examples
    --------
    >>> tie_precision_score([[1, 2, 2]], [[1, 1, 1]])
    0.3333333333333333
    """
    counts = _count_pairs(*_check_pair(Y_true, Y_pred))
    return share(counts.both_tied, counts.pred_tied, sample_weight, "no predicted tie")


def tie_recall_score(
    Y_true: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None
) -> float:
    """Of the pairs that are tied in truth, the share that the prediction ties.

    Examples
    --------
    >>> tie_recall_score([[1, 2, 2]], [[1, 1, 1]])
    1.0
    """
    counts = _count_pairs(*_check_pair(Y_true, Y_pred))
    return share(counts.both_tied, counts.true_tied, sample_weight, "no true tie")


def top_one_score(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """Chance that a label drawn from the predicted best bucket is among the truly best.

    Only labels that both rank take part.

    Examples
    --------
    >>> top_one_score([[1, 2, 2]], [[1, 1, 2]])
    0.5
    """
    true, pred = _check_pair(Y_true, Y_pred)
    either = np.isnan(true) | np.isnan(pred)
    true, pred = np.where(either, np.inf, true), np.where(either, np.inf, pred)
    best_true = (true == true.min(axis=1, keepdims=True)) & ~either
    best_pred = (pred == pred.min(axis=1, keepdims=True)) & ~either
    values = ratio((best_true & best_pred).sum(axis=1), best_pred.sum(axis=1))
    return mean_of_rows(values, sample_weight, per_sample)


tau_x_scorer = make_scorer(tau_x_score)
tau_b_scorer = make_scorer(tau_b_score)
kendall_distance_scorer = make_scorer(kendall_distance, greater_is_better=False)
top_one_scorer = make_scorer(top_one_score)

SCORERS: dict[str, Callable[..., float]] = {
    "tau_x": tau_x_scorer,
    "tau_b": tau_b_scorer,
    "kendall_distance": kendall_distance_scorer,
    "top_one": top_one_scorer,
}


def _check_pair(Y_true: ArrayLike, Y_pred: ArrayLike) -> tuple[Positions, Positions]:
    """Both sides in canonical form; named columns are matched by name, not by place."""
    true, labels = check_rankings(Y_true)
    named_true, named_pred = (_names_labels(Y) for Y in (Y_true, Y_pred))
    pred, _ = check_rankings(Y_pred, labels if named_true and named_pred else None)
    if true.shape != pred.shape:
        raise ValueError(f"Y_true has shape {true.shape}, Y_pred has shape {pred.shape}")
    return true, pred


def _names_labels(Y: Any) -> bool:
    return hasattr(Y, "columns") or (
        isinstance(Y, (list, tuple)) and any(isinstance(row, str) for row in Y)
    )


class _PairCounts(NamedTuple):
    """For each row, how many of the pairs that both sides rank are of a kind."""

    pairs: Array
    concordant: Array
    discordant: Array
    both_tied: Array
    true_tied: Array
    pred_tied: Array


def _count_pairs(true: Positions, pred: Positions) -> _PairCounts:
    """Count pairs of labels by kind, in chunks of rows that stay in the processor's cache."""
    n, k = true.shape
    counts = np.zeros((6, n))
    for start in range(0, n, _CHUNK_ROWS):
        rows = slice(start, start + _CHUNK_ROWS)
        T, P = np.ascontiguousarray(true[rows].T), np.ascontiguousarray(pred[rows].T)
        for i in range(k - 1):
            t_less, t_tied, t_more = T[i] < T[i + 1 :], T[i] == T[i + 1 :], T[i] > T[i + 1 :]
            p_less, p_tied, p_more = P[i] < P[i + 1 :], P[i] == P[i + 1 :], P[i] > P[i + 1 :]
            # All comparisons with NaN are false.
            both = (t_less | t_tied | t_more) & (p_less | p_tied | p_more)
            kinds = (
                both,
                (t_less & p_less) | (t_more & p_more),
                (t_less & p_more) | (t_more & p_less),
                t_tied & p_tied,
                both & t_tied,
                both & p_tied,
            )
            for kind, count in zip(kinds, counts, strict=True):
                count[rows] += kind.sum(axis=0, dtype=np.int32)
    return _PairCounts(*counts)
