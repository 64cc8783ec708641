"""The quality of predicted probabilities of the three relations of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from moreplr._types import Array, Positions, Weights
from moreplr._validation import integer_from
from moreplr.metrics._means import mean_of_rows, ratio
from moreplr.rankings import check_rankings

_LEAST = np.finfo(float).eps


def pair_log_loss(
    Y_true: ArrayLike,
    pairs: Any,
    *,
    sample_weight: Weights = None,
    per_sample: bool = False,
) -> Any:
    """Minus the mean log probability of the relations that are true.

    Each pair that a row ranks has one of three relations: the first label precedes the second,
    they are tied, or the second precedes the first. A row's loss is the mean over its pairs.

    Parameters
    ----------
    Y_true : rankings of shape (n_samples, n_labels), in any accepted form
    pairs : P and Q of shape (n_samples, n_labels, n_labels), as `predict_pairs` gives them
        Smaller probabilities than 2.2e-16, the precision of floats, count as this number.
    sample_weight : array of shape (n_samples,), optional
    per_sample : bool
        Give a value for each row (NaN where no pair is ranked) instead of the mean.

    Examples
    --------
    Knowing nothing costs log 3.

    >>> import numpy as np
    >>> third = np.full((1, 2, 2), 1 / 3)
    >>> round(pair_log_loss([[1, 2]], (third, third)), 3)
    1.099
    """
    true, P, Q = _checked(Y_true, pairs)
    total, count = np.zeros(len(true)), np.zeros(len(true))
    for probabilities, codes in _three_way(true, P, Q):
        known = codes >= 0
        chosen = np.take_along_axis(probabilities, np.where(known, codes, 0)[:, None], axis=1)
        total -= np.where(known, np.log(np.maximum(chosen[:, 0], _LEAST)), 0.0)
        count += known
    return mean_of_rows(ratio(total, count), sample_weight, per_sample)


def pair_calibration_error(
    Y_true: ArrayLike, pairs: Any, *, n_bins: int = 10, sample_weight: Weights = None
) -> float:
    """Expected calibration error: how far probabilities are from how often they come true.

    The probabilities of all three relations of all pairs are sorted into bins of equal width. The
    error is the mean distance of a bin's probabilities from its share of true relations, weighted
    by how many probabilities it holds.

    Parameters
    ----------
    Y_true : rankings of shape (n_samples, n_labels), in any accepted form
    pairs : P and Q of shape (n_samples, n_labels, n_labels), as `predict_pairs` gives them
    n_bins : int, default=10
    sample_weight : array of shape (n_samples,), optional

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015): Obtaining well calibrated probabilities using Bayesian
    binning.

    Examples
    --------
    Four pairs have a predicted probability of 0.9; three of them come true.

    >>> import numpy as np
    >>> P = np.tile([[0.0, 0.9], [0.1, 0.0]], (4, 1, 1))
    >>> Q = np.tile(np.eye(2), (4, 1, 1))
    >>> truth = [[1, 2], [1, 2], [1, 2], [2, 1]]
    >>> round(pair_calibration_error(truth, (P, Q)), 3)  # 0.15, 0.15 and, for ties, 0
    0.1
    """
    integer_from("n_bins", n_bins, 1)
    true, P, Q = _checked(Y_true, pairs)
    weight = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight, float)
    predicted, observed, mass = np.zeros((3, n_bins))
    for probabilities, codes in _three_way(true, P, Q):
        known = codes >= 0
        shown, row_weight = probabilities[known], weight[known]
        for relation in range(3):
            bins = np.minimum((shown[:, relation] * n_bins).astype(int), n_bins - 1)
            hit = codes[known] == relation
            predicted += np.bincount(bins, row_weight * shown[:, relation], n_bins)
            observed += np.bincount(bins, row_weight * hit, n_bins)
            mass += np.bincount(bins, row_weight, n_bins)
    if not mass.sum() > 0:
        return float("nan")
    return float(np.abs(predicted - observed).sum() / mass.sum())


def _checked(Y_true: ArrayLike, pairs: Any) -> tuple[Positions, Array, Array]:
    true, _ = check_rankings(Y_true)
    P, Q = (np.asarray(part, float) for part in pairs)
    shape = (len(true), true.shape[1], true.shape[1])
    if P.shape != shape or Q.shape != shape:
        raise ValueError(f"P and Q must have shape {shape}, got {P.shape} and {Q.shape}")
    return true, P, Q


def _three_way(true: Positions, P: Array, Q: Array) -> Any:
    """For each pair i < j: probabilities (n, 3), and 0, 1, 2 for ≻, ∼, ≺, or −1 if not ranked."""
    k = true.shape[1]
    for i in range(k - 1):
        for j in range(i + 1, k):
            sign = np.sign(true[:, i] - true[:, j])
            codes: NDArray[np.intp] = np.where(np.isnan(sign), -1, sign + 1).astype(np.intp)
            yield np.column_stack([P[:, i, j], Q[:, i, j], P[:, j, i]]), codes
