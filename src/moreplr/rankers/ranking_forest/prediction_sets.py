"""Prediction sets: leave pairs of labels undecided, so that at most a wanted share is wrong.

The set of a pair holds the relations (i ≻ j, i ∼ j, j ≻ i) whose probability reaches a threshold.
A pair with more than one is undecided. A set misses if it lacks the true relation. The threshold
is the largest for which the expected share of misses among a row's pairs is at most alpha. This is
conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster 2024) with rows as the unit,
since the pairs of one row depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._types import Array, Labels, Positions
from moreplr._validation import check_name
from moreplr.base import PairRanker, Pairs

# Thresholds are multiples of 1 / STEPS: fine enough, and the fitted state stays small.
STEPS = 1000
_ROWS_SHOWN = 10


@dataclass(frozen=True)
class PredictionSets:
    """For every row and pair of labels, the relations that are not ruled out.

    Attributes
    ----------
    precedes : bool array of shape (n_samples, n_labels, n_labels)
        Whether label i may precede label j.
    tied : bool array of the same shape
        Whether labels i and j may be tied.
    labels : array of shape (n_labels,)
    """

    precedes: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    labels: Labels

    @property
    def follows(self) -> NDArray[np.bool_]:
        """Whether label i may follow label j."""
        return self.precedes.swapaxes(1, 2)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Whether exactly one relation is left; a label paired with itself is decided."""
        return self._size == 1

    @property
    def relation(self) -> Array:
        """1 where label i precedes j, -1 where it follows, 0 where they tie, NaN if undecided."""
        sign = self.precedes.astype(float) - self.follows
        return np.where(self.decided, sign, np.nan)

    def covers(self, Y: Positions) -> Array:
        """For each row, the share of the pairs ranked in Y whose true relation is in the set."""
        sign = np.sign(Y[:, :, None] - Y[:, None, :])
        kept = np.where(sign < 0, self.precedes, np.where(sign > 0, self.follows, self.tied))
        i, j = np.triu_indices(Y.shape[1], 1)
        ranked = ~np.isnan(sign[:, i, j])
        hits, pairs = (kept[:, i, j] & ranked).sum(axis=1), ranked.sum(axis=1)
        return np.divide(hits, pairs, out=np.full(len(Y), np.nan), where=pairs > 0)

    def to_text(self) -> list[list[str]]:
        """For each row, the decided pairs, such as ``["a > b", "b ~ c"]``."""
        relation = self.relation
        i, j = np.triu_indices(len(self.labels), 1)
        out = []
        for row in relation:
            decided = []
            for a, b, sign in zip(i, j, row[i, j], strict=True):
                if sign == 0:
                    decided.append(f"{self.labels[a]} ~ {self.labels[b]}")
                elif not np.isnan(sign):
                    first, second = (a, b) if sign > 0 else (b, a)
                    decided.append(f"{self.labels[first]} > {self.labels[second]}")
            out.append(decided)
        return out

    def to_frame(self, *, library: str = "pandas") -> Any:
        """One row for each row and pair of labels, in pandas or polars.

        Columns: ``row`` (from 0), ``first`` and ``second`` label, whether each relation may
        hold (``precedes``, ``tied``, ``follows``), and ``relation``: the relation of a decided
        pair, else None.

        Examples
        --------
        >>> precedes, tied = np.zeros((1, 2, 2), bool), np.eye(2, dtype=bool)[None]
        >>> precedes[0, 0, 1] = True
        >>> PredictionSets(precedes, tied, np.array(["a", "b"], object)).to_frame()
           row first second  precedes   tied  follows  relation
        0    0     a      b      True  False    False  precedes
        """
        check_name("library", library, ("pandas", "polars"))
        i, j = np.triu_indices(len(self.labels), 1)
        n = len(self.precedes)
        names = np.array(["follows", "tied", "precedes"], dtype=object)
        relation = self.relation[:, i, j].ravel()
        known = ~np.isnan(relation)
        decided = np.full(len(relation), None)
        decided[known] = names[relation[known].astype(int) + 1]
        columns = {
            "row": np.repeat(np.arange(n), len(i)),
            "first": np.tile(self.labels[i], n).tolist(),
            "second": np.tile(self.labels[j], n).tolist(),
            "precedes": self.precedes[:, i, j].ravel(),
            "tied": self.tied[:, i, j].ravel(),
            "follows": self.follows[:, i, j].ravel(),
            "relation": decided.tolist(),
        }
        if library == "polars":
            import polars

            return polars.DataFrame(columns)
        # The object type keeps None as it is.
        return pd.DataFrame(columns | {"relation": pd.Series(decided, dtype=object)})

    def _repr_html_(self) -> str:
        """For notebooks: the decided pairs of the first rows, and the number of undecided ones."""
        shown = PredictionSets(self.precedes[:_ROWS_SHOWN], self.tied[:_ROWS_SHOWN], self.labels)
        undecided = np.isnan(shown.relation).sum(axis=(1, 2)) // 2
        lines = [", ".join(pairs) for pairs in shown.to_text()]
        frame = pd.DataFrame({"decided": lines, "pairs undecided": undecided})
        more = len(self.precedes) - len(frame)
        return frame.to_html() + (f"<p>and {more:,} more rows</p>" if more > 0 else "")

    @property
    def _size(self) -> NDArray[np.intp]:
        return self.precedes.astype(int) + self.follows + self.tied


class SetRanker(PairRanker):
    """A ranker with prediction sets, from an estimate of how often sets miss on new rows."""

    def predict_set(self, X: Any, alpha: float = 0.1) -> PredictionSets:
        """Predict a set of possible relations for each pair; uncertain pairs stay undecided.

        In expectation, the sets miss the true relation in at most a share `alpha` of a new row's
        pairs. They are calibrated on held-out predictions of training rows, so new rows must come
        from the same distribution.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        alpha : float between 0 and 1, default=0.1
            With less than 1 / alpha - 1 training rows, nothing is ruled out.

        Returns
        -------
        PredictionSets
            Its `relation` is 1, 0, -1, or NaN where undecided.

        Examples
        --------
        >>> from moreplr import RankingForest
        >>> from moreplr.datasets import load
        >>> X, Y = load("iris")
        >>> forest = RankingForest(random_state=0).fit(X[::2], Y[::2])
        >>> forest.predict_set(X.iloc[[3, 77, 129]], alpha=0.05).to_text()
        [['setosa > versicolor', 'setosa > virginica', 'versicolor ~ virginica'], \
['versicolor > setosa', 'virginica > setosa'], \
['virginica > setosa']]
        """
        X = self._check_predict(X)
        if not (isinstance(alpha, (int, float)) and 0 < alpha < 1):
            raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}")
        least = threshold(self._risk(), alpha)
        k = len(self.labels_)
        precedes, tied = np.empty((2, len(X), k, k), bool)
        for rows in self._chunks(len(X)):
            part = prediction_sets(self._pairs(X[rows]), self.labels_, least)
            precedes[rows], tied[rows] = part.precedes, part.tied
        return PredictionSets(precedes, tied, self.labels_)

    def _risk(self) -> Array:
        """The risk curve of held-out predictions."""
        raise NotImplementedError


def risk_curve(pairs: Pairs, Y: Positions) -> Array:
    """For each threshold t / STEPS, the mean share of a row's true relations below it.

    NaN in Y is not ranked. Rows that do not compare any labels are left out; the last entry is
    the number of the others.
    """
    k = Y.shape[1]
    i, j = np.triu_indices(k, 1)
    sign = np.sign(Y[:, i] - Y[:, j])
    true = np.where(sign < 0, pairs.P[:, i, j], np.where(sign > 0, pairs.P[:, j, i], 0))
    true = np.where(sign == 0, pairs.Q[:, i, j], true)
    ranked = ~np.isnan(sign)
    rows = ranked.sum(axis=1)
    weight = np.broadcast_to(1 / np.maximum(rows, 1)[:, None], sign.shape)[ranked]
    # A probability p is below the thresholds from floor(p · STEPS) + 1 on.
    place = np.floor(true[ranked] * STEPS + 1e-6).astype(int) + 1
    n = int((rows > 0).sum())
    missed = np.cumsum(np.bincount(place, weight, STEPS + 2))[: STEPS + 1] / max(n, 1)
    return np.append(missed, n)


def merged(curves: list[Array]) -> Array:
    """The joint risk curve of several sets of rows."""
    n = np.array([curve[-1] for curve in curves])
    return np.append(n @ np.array(curves)[:, :-1] / max(n.sum(), 1), n.sum())


def threshold(curve: Array, alpha: float) -> float:
    """The largest threshold whose risk is at most alpha, with one more row counted as a miss."""
    n = curve[-1]
    safe = (n * curve[:-1] + 1) / (n + 1) <= alpha + 1e-12
    return float(np.flatnonzero(safe).max() / STEPS) if safe.any() else 0.0


def prediction_sets(pairs: Pairs, labels: Labels, least: float) -> PredictionSets:
    """The relations with a probability of at least `least`, and always the most probable."""
    P, Q = pairs
    best = np.maximum(np.maximum(P, P.swapaxes(1, 2)), Q)
    bound = np.minimum(best, least) - 1e-9
    precedes, tied = bound <= P, bound <= Q
    diagonal = np.arange(len(labels))
    precedes[:, diagonal, diagonal], tied[:, diagonal, diagonal] = False, True
    return PredictionSets(precedes, tied, labels)
