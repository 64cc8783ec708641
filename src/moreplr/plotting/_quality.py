"""Pictures of quality: importances of features, learning curves, mean ranks of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.model_selection import learning_curve

from moreplr._types import Array, Seed
from moreplr.experiments.statistics import average_ranks, indistinct_groups, nemenyi_distance
from moreplr.plotting._axes import GREY, MAIN, Display, bare
from moreplr.rankings import check_rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ImportancesDisplay(Display):
    """The importance of each feature, the largest on top.

    Parameters
    ----------
    importances : array (n_features,)
    names : sequence of n_features
    errors : array (n_features,), optional
    meaning : str, the label of the axis

    Examples
    --------
    >>> from moreplr import RankingTree
    >>> X = pd.DataFrame({"age": [0.0, 1.0, 2.0, 3.0], "noise": 1.0})
    >>> tree = RankingTree(min_samples_leaf=1).fit(X, ["a > b", "a > b", "b > a", "b > a"])
    >>> display = ImportancesDisplay.from_estimator(tree)
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['age', 'noise']
    """

    def __init__(
        self, importances: Array, names: Any, errors: Array | None = None, meaning: str = ""
    ) -> None:
        self.importances, self.names = np.asarray(importances), [str(name) for name in names]
        self.errors, self.meaning = errors, meaning

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        Y: Any = None,
        *,
        n_repeats: int = 5,
        random_state: Seed = 0,
        most: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the importances of a fitted ranker.

        Parameters
        ----------
        estimator : fitted ranker
        X, Y : rows and their rankings, optional
            With rows, a feature's importance is the τ_X that is lost when its column is
            shuffled, which works for any ranker. Without, it is `feature_importances_`.
        n_repeats : int, default=5
            How many times each column is shuffled.
        random_state : int, RandomState instance or None, default=0
        most : int, default=20
            How many features to draw.
        ax : matplotlib axes, optional
        """
        names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
        if X is None:
            if not hasattr(estimator, "feature_importances_"):
                raise ValueError(
                    f"{type(estimator).__name__} has no feature_importances_: give X and Y"
                )
            display = cls(estimator.feature_importances_, names, None, "share of importance")
        else:
            found = permutation_importance(
                estimator, X, Y, n_repeats=n_repeats, random_state=random_state
            )
            meaning = "τ_X lost when the column is shuffled"
            display = cls(found.importances_mean, names, found.importances_std, meaning)
        return display.plot(ax=ax, most=most)

    def plot(self, ax: Axes | None = None, *, most: int = 20) -> Self:
        """Draw a bar for each of the most important features."""
        order = np.argsort(-self.importances, kind="stable")[:most]
        # Long names beside the bars must leave room for these and for the label of the axis.
        longest = max((len(self.names[at]) for at in order), default=0)
        ax = self._begin(ax, (max(6.0, 3.6 + 0.08 * longest), 0.9 + 0.28 * len(order)))
        errors = None if self.errors is None else self.errors[order]
        ax.barh(range(len(order)), self.importances[order], xerr=errors, color=MAIN, ecolor=GREY)
        ax.set_yticks(range(len(order)), [self.names[at] for at in order])
        ax.invert_yaxis()
        ax.set_xlabel(self.meaning)
        ax.tick_params(axis="y", length=0)
        bare(ax, keep=("bottom",))
        return self


class LearningCurveDisplay(Display):
    """τ_X on held-out rows by the number of training rows.

    Parameters
    ----------
    rows : array (n_sizes,), the numbers of training rows
    scores : array (n_sizes, n_folds), τ_X on the rows of each fold
    """

    def __init__(self, rows: Array, scores: Array) -> None:
        self.rows, self.scores = np.asarray(rows), np.asarray(scores)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        sizes: Any = (0.1, 0.2, 0.4, 0.7, 1.0),
        n_folds: int = 5,
        random_state: Seed = 0,
        label: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Fit a ranker on more and more rows, and draw its scores on others.

        Parameters
        ----------
        estimator : ranker
        X, Y : rows and their rankings
        sizes : sequence of shares, or of numbers, of the training rows
        n_folds : int, default=5
        random_state : int, RandomState instance or None, default=0
            Shuffles the training rows.
        label : str, optional
            The curve's name in a legend, for several on the same axes.
        ax : matplotlib axes, optional
        """
        positions, labels = check_rankings(Y)
        rows, _, scores = learning_curve(
            estimator,
            X,
            pd.DataFrame(positions, columns=pd.Index(labels.tolist())),
            train_sizes=list(sizes),
            cv=n_folds,
            shuffle=True,
            random_state=random_state,
            error_score="raise",
        )
        return cls(rows, scores).plot(ax=ax, label=label)

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Self:
        """Draw the mean over the folds and a band of a standard deviation.

        Several curves can share the axes: ``curve.plot(other.ax_, label="forest")``.
        """
        ax = self._begin(ax, (5.5, 3.8))
        mean, spread = self.scores.mean(axis=1), self.scores.std(axis=1)
        (line,) = ax.plot(self.rows, mean, "o-", label=label, color=None if label else MAIN)
        low, high = mean - spread, mean + spread
        ax.fill_between(self.rows, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set(xscale="log", xlabel="training rows", ylabel="τ_X on held-out rows")
        ax.set_xticks(self.rows, [f"{int(rows):,}" for rows in self.rows])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        if label is not None:
            ax.legend(frameon=False)
        bare(ax, keep=("left", "bottom"))
        return self


class MeanRanksDisplay(Display):
    """Mean ranks of methods over data sets, and which of them do not differ by a test.

    A bar joins methods of which no pair of mean ranks differs by all-pairs z-tests with Holm's
    correction. The critical difference is that of Nemenyi's test (Demšar 2006).

    Parameters
    ----------
    scores : frame (n_data_sets, n_methods), the greater the better
    level : float, default=0.05

    Examples
    --------
    >>> scores = pd.DataFrame({"a": [3, 3, 3, 2], "b": [2, 2, 2, 3], "c": [1, 1, 1, 1]})
    >>> MeanRanksDisplay.from_predictions(scores).ranks.to_dict()
    {'a': 1.25, 'b': 1.75, 'c': 3.0}
    """

    def __init__(self, scores: pd.DataFrame, level: float = 0.05) -> None:
        self.scores, self.level = scores, level
        self.ranks = average_ranks(scores).sort_values(kind="stable")
        self.distance = nemenyi_distance(scores.shape[1], len(scores), level)

    @classmethod
    def from_predictions(
        cls, scores: pd.DataFrame, *, level: float = 0.05, ax: Axes | None = None
    ) -> Self:
        """Draw for scores with a row for each data set and a column for each method."""
        return cls(scores, level).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line of ranks with the methods below it, the best on the left."""
        n = len(self.ranks)
        half = (n + 1) // 2
        groups = indistinct_groups(self.scores, self.level)
        ax = self._begin(ax, (7, 1.4 + 0.28 * (half + 0.6 * len(groups))))
        low, high = 1.0, float(n)
        ax.plot([low, high], [0, 0], color="black", linewidth=1)
        for tick in range(1, n + 1):
            ax.plot([tick, tick], [0, -0.25], color="black", linewidth=1)
            ax.text(tick, -0.4, str(tick), ha="center", va="bottom", fontsize=9)
        ax.plot([low, low + self.distance], [-1.7, -1.7], color=GREY, linewidth=2)
        text = f"critical difference {self.distance:.2f}"
        ax.text(low, -1.85, text, ha="left", va="bottom", fontsize=9, color=GREY)
        first = 0.9 + 0.6 * len(groups)
        room = 0.06 * (high - low)
        for place, (name, rank) in enumerate(self.ranks.items()):
            left = place < half
            y = first + (place if left else n - 1 - place)
            end = low - room if left else high + room
            ax.plot([rank, rank, end], [0, y, y], color=MAIN, linewidth=1)
            side = "right" if left else "left"
            sign = -room / 4 if left else room / 4
            ax.text(end + sign, y, f"{name}  {rank:.2f}", ha=side, va="center", fontsize=9)
        for at, group in enumerate(groups):
            ends = self.ranks[group]
            y = 0.6 + 0.6 * at
            ax.plot([ends.min() - room / 5, ends.max() + room / 5], [y, y], color="black", lw=4)
        ax.set(ylim=(first + half - 0.3, -2.6), xlim=(low - 7 * room, high + 7 * room))
        ax.set(xticks=[], yticks=[])
        bare(ax)
        return self
