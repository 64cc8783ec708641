"""Pictures of predictions: buckets, pairs of labels, utilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from moreplr._types import Array
from moreplr.plotting._axes import GREY, LIGHT, MAIN, Display, bare
from moreplr.rankings import check_rankings, dense_ranks, to_buckets

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# With more labels than this, numbers in the cells of a heat map are too small to read.
_MOST_NUMBERS = 12


class RankingDisplay(Display):
    """Rankings as rows of boxes: a box is a bucket, the best one stands first.

    Parameters
    ----------
    rankings : rankings in any form that :func:`moreplr.rankings.check_rankings` accepts
    names : sequence, optional
        Names of the rows; the index of a frame by default.

    Examples
    --------
    >>> from moreplr.plotting import RankingDisplay
    >>> RankingDisplay.from_predictions(["tea > milk ~ beer", "beer > tea"]).ax_.get_xlabel()
    'best first'
    """

    def __init__(self, rankings: Any, names: Any = None) -> None:
        positions, self.labels = check_rankings(rankings)
        self.ranks = dense_ranks(positions)
        index = rankings.index if isinstance(rankings, pd.DataFrame) else range(len(self.ranks))
        self.names = [str(name) for name in (index if names is None else names)]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw what a fitted ranker predicts for some rows.

        Parameters
        ----------
        estimator : fitted ranker
        X : the rows
        ax : matplotlib axes, optional
        **options
            Parameters of `predict`, such as `top=3`.
        """
        ranks = np.asarray(estimator.predict(X, **options))
        index = X.index if isinstance(X, pd.DataFrame) else None
        frame = pd.DataFrame(ranks, index, pd.Index(estimator.labels_.tolist()))
        return cls(frame).plot(ax=ax)

    @classmethod
    def from_predictions(cls, rankings: Any, *, names: Any = None, ax: Axes | None = None) -> Self:
        """Draw rankings."""
        return cls(rankings, names).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a box for each bucket, with its labels side by side."""
        from matplotlib import patches

        n, k = self.ranks.shape
        longest = max((len(str(label)) for label in self.labels), default=1)
        slot = min(max(0.5, 0.085 * longest + 0.15), 2.2)
        ax = self._begin(ax, (min(1.2 + slot * k, 16), 0.7 + 0.42 * n))
        for row, buckets in enumerate(to_buckets(self.ranks, self.labels)):
            at = 0.0
            for rank, bucket in enumerate(buckets):
                box = patches.FancyBboxPatch(
                    (at + 0.06, row - 0.32),
                    len(bucket) - 0.12,
                    0.64,
                    boxstyle="round,pad=0,rounding_size=0.12",
                    facecolor=LIGHT if rank else MAIN,
                    edgecolor=MAIN,
                )
                ax.add_patch(box)
                for place, label in enumerate(bucket):
                    ax.text(
                        at + place + 0.5,
                        row,
                        str(label),
                        ha="center",
                        va="center",
                        fontsize=9 if longest < 24 else 7,
                        color="#1b2a33" if rank else "white",
                    )
                at += len(bucket)
        ax.set(xlim=(0, k), ylim=(n - 0.5, -0.5), xlabel="best first", xticks=[])
        ax.set_yticks(range(n), self.names)
        ax.tick_params(length=0)
        bare(ax)
        return self


class PairsDisplay(Display):
    """A heat map of the probabilities that one label stands before another.

    A cell is the probability that the label of its row precedes that of its column, where a tie
    counts half. Labels are sorted by how many others they are expected to beat.

    Parameters
    ----------
    P, Q : arrays (n_labels, n_labels)
        Probabilities that the one label precedes the other, and of ties.
    labels : sequence of n_labels

    Examples
    --------
    >>> from moreplr import DummyRanker
    >>> ranker = DummyRanker().fit([[0], [1]], ["b > a", "b ~ a"])
    >>> display = PairsDisplay.from_estimator(ranker, [[2]])
    >>> [text.get_text() for text in display.ax_.texts]
    ['75', '25']
    """

    def __init__(self, P: Array, Q: Array, labels: Any) -> None:
        self.P, self.Q, self.labels = np.asarray(P), np.asarray(Q), np.array(labels, dtype=object)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Axes | None = None) -> Self:
        """Draw the mean over some rows of what a fitted ranker predicts."""
        P, Q = estimator.predict_pairs(X)
        return cls.from_predictions(P, Q, estimator.labels_, ax=ax)

    @classmethod
    def from_predictions(cls, P: Any, Q: Any, labels: Any, *, ax: Axes | None = None) -> Self:
        """Draw probabilities of one row, or their mean over several."""
        P, Q = np.asarray(P, dtype=float), np.asarray(Q, dtype=float)
        if P.ndim == 3:
            P, Q = P.mean(axis=0), Q.mean(axis=0)
        return cls(P, Q, labels).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the map, with percentages where there is room."""
        k = len(self.labels)
        side = min(2.0 + 0.55 * k, 12)
        ax = self._begin(ax, (side + 0.8, side))
        share = self.P + self.Q / 2
        np.fill_diagonal(share, np.nan)
        order = np.argsort(-np.nansum(share, axis=1), kind="stable")
        share = share[np.ix_(order, order)]
        image = ax.imshow(share, cmap="RdBu", vmin=0, vmax=1)
        for i, j in np.ndindex(k, k) if k <= _MOST_NUMBERS else ():
            if i != j:
                dark = abs(share[i, j] - 0.5) > 0.3
                color = "white" if dark else "black"
                text = f"{share[i, j] * 100:.0f}"
                ax.text(j, i, text, ha="center", va="center", color=color, fontsize=9)
        names = [str(label) for label in self.labels[order]]
        turned = max(map(len, names)) > 5
        rotation: dict[str, Any] = {}
        if turned:
            rotation = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(range(k), names, **rotation)
        ax.set_yticks(range(k), names)
        ax.tick_params(length=0)
        ax.set(xlabel="after", ylabel="before")
        bare(ax)
        bar = self.figure_.colorbar(image, ax=ax, shrink=0.8, format="{x:.0%}")
        bar.set_label("row before column (ties half)")
        bar.outline.set_visible(False)
        return self


class UtilitiesDisplay(Display):
    """Utilities of labels with intervals, the best label on top.

    Parameters
    ----------
    utilities : array (n_labels,)
    low, high : arrays (n_labels,), the ends of the intervals
    labels : sequence of n_labels
    meaning : str, what the intervals are

    Examples
    --------
    >>> from moreplr import DummyRanker
    >>> ranker = DummyRanker().fit([[0], [1]], ["b > a", "b ~ a"])
    >>> display = UtilitiesDisplay.from_estimator(ranker, [[2]])
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['b', 'a']
    """

    def __init__(self, utilities: Array, low: Array, high: Array, labels: Any, meaning: str):
        self.utilities, self.low, self.high = map(np.asarray, (utilities, low, high))
        self.labels, self.meaning = np.array(labels, dtype=object), meaning

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, level: float = 0.95, ax: Axes | None = None
    ) -> Self:
        """Draw the scores of a fitted ranker.

        Parameters
        ----------
        estimator : fitted ranker with `predict_scores`
        X : rows, optional
            With rows, draw their mean score, and the interval that holds the middle `level` of
            them. Without rows, draw the `intercept_` of a ranker with standard errors, such as
            :class:`moreplr.BradleyTerryRanker` with ``standard_errors="fisher"``, and its
            confidence interval.
        level : float, default=0.95
        ax : matplotlib axes, optional
        """
        if X is not None:
            scores = estimator.predict_scores(X)
            return cls.from_predictions(scores, estimator.labels_, level=level, ax=ax)
        if not hasattr(estimator, "intercept_error_"):
            raise ValueError(
                "without rows, intervals need standard errors: give X, or fit a "
                "BradleyTerryRanker(standard_errors='fisher')"
            )
        from scipy.stats import norm

        width = norm.ppf((1 + level) / 2) * estimator.intercept_error_
        middle = estimator.intercept_
        meaning = f"utility, with {level:.0%} confidence intervals"
        return cls(middle, middle - width, middle + width, estimator.labels_, meaning).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, scores: Any, labels: Any, *, level: float = 0.95, ax: Axes | None = None
    ) -> Self:
        """Draw the mean of scores (n_samples, n_labels) and the middle `level` of the rows."""
        scores = np.asarray(scores, dtype=float)
        low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2], axis=0)
        meaning = f"score: mean, and the middle {level:.0%} of rows"
        return cls(scores.mean(axis=0), low, high, labels, meaning).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a point and its interval for each label."""
        k = len(self.labels)
        ax = self._begin(ax, (6, 0.9 + 0.3 * k))
        order = np.argsort(-self.utilities, kind="stable")
        middle = self.utilities[order]
        reach = np.abs(np.array([middle - self.low[order], self.high[order] - middle]))
        ax.errorbar(middle, range(k), xerr=reach, fmt="o", color=MAIN, ecolor=GREY, capsize=3)
        ax.set_yticks(range(k), [str(label) for label in self.labels[order]])
        ax.invert_yaxis()
        ax.set_xlabel(self.meaning)
        ax.grid(axis="x", alpha=0.3)
        bare(ax, keep=("bottom",))
        return self
