"""Calibration: whether predictions for pairs come true as often as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from moreplr._types import Array
from moreplr.plotting._axes import GREY, MAIN, Display, bare
from moreplr.rankings import check_rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _CalibrationDisplay(Display):
    """Bins of pairs by a predicted probability, and the share of each bin that came true."""

    _least: ClassVar[float]  # the smallest possible probability
    _names: ClassVar[tuple[str, str]]  # of the axes

    def __init__(self, predicted: Array, observed: Array, counts: Any) -> None:
        self.predicted, self.observed, self.counts = predicted, observed, counts

    @staticmethod
    def _cases(gap: Array, P: Array, Q: Array) -> tuple[Array, Any]:
        """Probability and outcome of pairs (i, j), from positions j - i, P and Q both ways."""
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, Y: Any, *, n_bins: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw for a fitted ranker with `predict_pairs`, on rows that it was not trained on."""
        true, _ = check_rankings(Y, estimator.labels_)
        return cls.from_predictions(true, estimator.predict_pairs(X), n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls, Y: Any, pairs: Any, *, n_bins: int = 10, ax: Axes | None = None
    ) -> Self:
        """Draw for true rankings and pair probabilities (P, Q).

        Pairs of equal probability share a bin, so that there may be fewer than `n_bins`.
        """
        true, _ = check_rankings(Y)
        i, j = np.triu_indices(true.shape[1], 1)
        gap = true[:, j] - true[:, i]
        ranked = ~np.isnan(gap)
        P, Q = (np.asarray(part) for part in pairs)
        both = np.stack([P[:, i, j][ranked], P[:, j, i][ranked]])
        share, happened = cls._cases(gap[ranked], both, Q[:, i, j][ranked])
        if not len(happened):
            raise ValueError("no ranking compares two labels")
        edges = np.unique(np.quantile(share, np.linspace(0, 1, n_bins + 1)[1:-1]))
        bins = np.searchsorted(edges, share)
        counts = np.bincount(bins)
        bins, counts = np.unique(bins, return_inverse=True)[1], counts[counts > 0]
        predicted = np.bincount(bins, share) / counts
        return cls(predicted, np.bincount(bins, happened) / counts, counts).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a point for each bin, its interval, and the diagonal."""
        ax = self._begin(ax, (4.5, 4.2))
        # Wilson's interval has a width also if nothing, or all, has come true.
        n, p, z = self.counts, self.observed, 1.96
        middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        width = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        reach = np.maximum([p - middle + width, middle + width - p], 0)
        least = min(self._least, float((middle - width).min()))
        top = min(1.0, 1.1 * max(self.predicted.max(), (middle + width).max(), 0.05))
        ends = [max(least, 0), top]
        ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, label="calibrated")
        ax.errorbar(self.predicted, p, yerr=reach, fmt="o-", color=MAIN, ecolor=GREY, capsize=3)
        ax.set(xlim=ends, ylim=ends, aspect="equal")
        ax.set(xlabel=self._names[0], ylabel=self._names[1])
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, loc="upper left")
        bare(ax, keep=("left", "bottom"))
        return self


class TieCalibrationDisplay(_CalibrationDisplay):
    """Whether ties come true as often as they are predicted.

    Pairs of labels that the true rankings compare are put into bins of equal size by their
    predicted probability of a tie. On the diagonal, as many pairs are tied as predicted.

    Parameters
    ----------
    predicted, observed : arrays (n_bins,), mean probability and share of ties in each bin
    counts : array (n_bins,), pairs in each bin

    Examples
    --------
    >>> from moreplr import DummyRanker
    >>> X, Y = [[0], [1], [2], [3]], ["a > b", "a ~ b", "a ~ b", "b > a"]
    >>> display = TieCalibrationDisplay.from_estimator(DummyRanker().fit(X, Y), X, Y)
    >>> display.predicted, display.observed
    (array([0.5]), array([0.5]))
    """

    _least = 0.0
    _names = "predicted probability of a tie", "share of pairs that are tied"

    @staticmethod
    def _cases(gap: Array, P: Array, Q: Array) -> tuple[Array, Any]:
        return Q, gap == 0


class OrderCalibrationDisplay(_CalibrationDisplay):
    """Whether the more probable order of two labels comes true as often as predicted.

    Pairs of labels that the true rankings order are put into bins of equal size by the
    probability of the more probable order, given that there is no tie. On the diagonal, as many
    orders are right as predicted; below it, the ranker is overconfident.

    Parameters
    ----------
    predicted, observed : arrays (n_bins,), mean probability and share of right pairs in each bin
    counts : array (n_bins,), pairs in each bin

    Examples
    --------
    >>> from moreplr import DummyRanker
    >>> X, Y = [[0], [1], [2], [3]], ["a > b", "a > b", "a > b", "b > a"]
    >>> display = OrderCalibrationDisplay.from_estimator(DummyRanker().fit(X, Y), X, Y)
    >>> display.predicted, display.observed
    (array([0.75]), array([0.75]))
    """

    _least = 0.5
    _names = "predicted probability of the order", "share of pairs in this order"

    @staticmethod
    def _cases(gap: Array, P: Array, Q: Array) -> tuple[Array, Any]:
        ordered = gap != 0
        first, second = P[:, ordered]
        with np.errstate(invalid="ignore"):
            share = np.maximum(first, second) / (first + second)
        # If both probabilities are zero, either order is as good.
        right = (gap[ordered] > 0) == (first > second)
        return np.nan_to_num(share, nan=0.5), np.where(first == second, 0.5, right)
