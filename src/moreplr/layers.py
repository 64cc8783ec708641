"""σ: post-hoc layers that turn predicted positions into a bucket order.

A layer sorts the k outputs of a row and decides for each pair of neighbours whether a new bucket
begins. So ties are transitive (i tied with j and j with m means i tied with m), and a row takes
O(k log k) time. Layers are not fitted: they can be changed on a fitted ranker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.base import BaseEstimator

from moreplr._types import Positions
from moreplr._validation import check_name, number_from
from moreplr.aggregation import expected_tau
from moreplr.base import CELL_BYTES, chunks
from moreplr.rankings import dense_ranks


class Layer(BaseEstimator):
    """Base class of layers; `needs_intervals` says whether the regressor needs half-widths."""

    needs_intervals = False

    def decode(self, positions: Any, half_widths: Any = None) -> Positions:
        """Turn predicted positions into dense ranks.

        Parameters
        ----------
        positions : array of shape (n_samples, n_labels)
            The regressor's outputs, finite.
        half_widths : array of the same shape, optional
            The uncertainty of each output. Only layers with `needs_intervals` use them.

        Returns
        -------
        float array of dense ranks, 1 for the best bucket
        """
        self._check_params()
        outputs = np.asarray(positions, dtype=np.float64)
        if outputs.ndim != 2:
            raise ValueError(f"positions must be two-dimensional, got shape {outputs.shape}")
        bad = np.argwhere(~np.isfinite(outputs))
        if len(bad):
            row, col = bad[0]
            raise ValueError(
                f"row {row}, label {col}: the regressor gave {outputs[row, col]}; "
                "a layer needs finite positions"
            )
        widths = None
        if self.needs_intervals:
            widths = self._check_half_widths(half_widths, outputs.shape)
        return self._ranks(outputs, widths)

    def _check_params(self) -> None: ...

    def _ranks(self, outputs: Positions, widths: Any) -> Positions:
        raise NotImplementedError

    def _check_half_widths(self, half_widths: Any, shape: tuple[int, ...]) -> Positions:
        name = type(self).__name__
        if half_widths is None:
            raise ValueError(f"{name} needs half-widths, and none are given")
        widths = np.asarray(half_widths, dtype=np.float64)
        if widths.shape != shape:
            raise ValueError(f"half_widths has shape {widths.shape}, positions {shape}")
        if not (widths >= 0).all():
            raise ValueError("half_widths must be non-negative numbers")
        return widths


class RoundRank(Layer):
    """Round the outputs; labels with equal results tie (RR).

    Parameters
    ----------
    halves : {"up", "even"}
        How exact halves are rounded: up, as in the paper's text, or to the even number, as in
        its published experiments.

    Examples
    --------
    >>> RoundRank().decode([[1.2, 2.2, 1.5, 1.3, 2.8]])
    array([[1., 2., 2., 1., 3.]])
    """

    def __init__(self, halves: str = "up") -> None:
        self.halves = halves

    def _check_params(self) -> None:
        check_name("halves", self.halves, ("up", "even"))

    def _ranks(self, outputs: Positions, widths: Any) -> Positions:
        return dense_ranks(np.rint(outputs) if self.halves == "even" else np.floor(outputs + 0.5))


class PredictionInterval(Layer):
    """Labels whose intervals overlap or touch tie, and so do chains of them (PI).

    The interval of a label is its output ± q times the regressor's half-width. For forests this
    is σ/√trees over the individual trees: the standard error of the forest's mean, as in the
    paper. Such an interval does not cover a future position with a known probability;
    :class:`moreplr.regressors.Conformal` has intervals that do.

    Parameters
    ----------
    q : float
        Factor on the half-widths, at least 0.

    Examples
    --------
    >>> PredictionInterval(q=1).decode([[1.0, 1.5, 3.0]], [[0.3, 0.3, 0.1]])
    array([[1., 1., 2.]])
    """

    needs_intervals = True

    def __init__(self, q: float = 1.0) -> None:
        self.q = q

    def _check_params(self) -> None:
        number_from("q", self.q, 0)

    def _ranks(self, outputs: Positions, widths: Any) -> Positions:
        spread = np.where(widths > 0, self.q, 0) * np.where(widths > 0, widths, 0)
        order, lower = _sorted(outputs - spread)
        upper = np.take_along_axis(outputs + spread, order, axis=1)
        reach = np.maximum.accumulate(upper, axis=1)
        return _cut(order, lower[:, 1:] > reach[:, :-1])


class EpsilonCloseness(Layer):
    """Labels closer than ε on the outputs scaled to [0, 1] tie, and so do chains (EPS).

    Parameters
    ----------
    epsilon : float in [0, 1]
        Neighbours with a distance below it tie, as in the paper's text; equal outputs always do.
        The published experiments tie up to and including twice the stated value: their
        ε = 0.03 is about `epsilon=0.06` here.

    Examples
    --------
    >>> EpsilonCloseness(0.1).decode([[1.0, 1.05, 2.0, 3.0]])
    array([[1., 1., 2., 3.]])
    """

    def __init__(self, epsilon: float = 0.03) -> None:
        self.epsilon = epsilon

    def _check_params(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"epsilon must be between 0 and 1, got {self.epsilon!r}")

    def _ranks(self, outputs: Positions, widths: Any) -> Positions:
        order, values = _sorted(outputs)
        span = values[:, -1:] - values[:, :1]
        gaps = np.diff(values, axis=1)
        scaled = np.divide(gaps, span, out=np.zeros_like(gaps), where=span > 0)
        return _cut(order, (scaled >= self.epsilon) & (gaps > 0))


class ExpectedTau(Layer):
    """The bucket order with the highest expected τ_X, assuming normal errors of the outputs.

    The position of a label is assumed to be normal around its output, independent of other
    labels, with q times the regressor's half-width as standard deviation. Two labels tie if their
    positions differ by less than `tie`. The resulting pair probabilities are decoded for τ_X.
    Unlike in the layers of the paper, no chain of close neighbours ties labels that are far
    apart. A row takes at least O(k²) time.

    Parameters
    ----------
    q : float
        Factor on the half-widths, at least 0. For a forest of 100 trees the default gives the
        standard deviation over the individual trees; with a Gaussian process use 1.
    tie : float
        The largest difference in position at which labels tie; ½ as in rounding.

    Examples
    --------
    >>> ExpectedTau(q=1).decode([[1.0, 1.3, 2.5]], [[0.3, 0.3, 0.3]])
    array([[1., 1., 2.]])
    """

    needs_intervals = True

    def __init__(self, q: float = 10.0, tie: float = 0.5) -> None:
        self.q = q
        self.tie = tie

    def _check_params(self) -> None:
        for name in ("q", "tie"):
            number_from(name, getattr(self, name), 0)

    def _ranks(self, outputs: Positions, widths: Any) -> Positions:
        ranks = np.ones(outputs.shape)
        for rows in chunks(len(outputs), CELL_BYTES * outputs.shape[1] ** 2):
            pairs = _normal_pairs(outputs[rows], self.q * widths[rows], self.tie)
            ranks[rows] = expected_tau(*pairs)
        return ranks


LAYERS: dict[str, type[Layer]] = {
    "round_rank": RoundRank,
    "prediction_interval": PredictionInterval,
    "epsilon": EpsilonCloseness,
    "expected_tau": ExpectedTau,
}


def _normal_pairs(
    mean: Positions, deviation: Positions, tie: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities that i precedes j by more than `tie`, and that they are closer than that."""
    gap = mean[:, :, None] - mean[:, None, :]
    spread = np.hypot(deviation[:, :, None], deviation[:, None, :])
    # The smallest number replaces a spread of 0, so that the sign of the gap decides.
    spread = np.maximum(spread, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        precedes = ndtr((-tie - gap) / spread)
    diagonal = np.arange(mean.shape[1])
    precedes[:, diagonal, diagonal] = 0.0
    tied = np.clip(1 - precedes - precedes.swapaxes(1, 2), 0.0, 1.0)
    return precedes, tied


def _sorted(values: Positions) -> tuple[NDArray[np.intp], Positions]:
    order = np.argsort(values, axis=1, kind="stable")
    return order, np.take_along_axis(values, order, axis=1)


def _cut(order: NDArray[np.intp], opens: NDArray[np.bool_]) -> Positions:
    """Dense ranks of sorted labels; `opens` marks those after the first that begin a bucket."""
    ranks = np.ones(order.shape)
    np.put_along_axis(ranks, order[:, 1:], 1.0 + np.cumsum(opens, axis=1), axis=1)
    return ranks
