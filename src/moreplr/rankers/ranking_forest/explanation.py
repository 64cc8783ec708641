"""Explain why a ranking forest ranks one row as it does, in numbers and in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._types import Array, Labels, Positions
from moreplr.base import Pairs
from moreplr.rankers.ranking_forest.votes import label_of
from moreplr.rankings import to_text

_ROWS_SHOWN = 10


@dataclass(frozen=True)
class PairExplanation:
    """Why two labels are tied or not.

    Attributes
    ----------
    first, second : the labels
    relation : {"precedes", "tied", "follows"}
        How the first stands to the second in the predicted ranking.
    alone : {"precedes", "tied", "follows"}
        The relation that would be predicted if these two were the only labels.
    precedes, tied, follows : float
        The probabilities of the three relations.
    compared : float
        The share of the weight of similar training rows that rank both labels.
    rows : DataFrame
        The training rows that rank both, by decreasing weight: ``row``, ``weight``, ``relation``.
    """

    first: Any
    second: Any
    relation: str
    alone: str
    precedes: float
    tied: float
    follows: float
    compared: float
    rows: pd.DataFrame

    def __str__(self) -> str:
        a, b = self.first, self.second
        verb = {
            "precedes": f"{a} is ranked before {b}",
            "tied": f"{a} and {b} are tied",
            "follows": f"{b} is ranked before {a}",
        }
        share = (
            f"{self.precedes:.0%} for {a} first, {self.tied:.0%} for a tie, "
            f"{self.follows:.0%} for {b} first"
        )
        basis = f"{len(self.rows)} similar training rows rank both ({self.compared:.0%} of weight)"
        if not len(self.rows):
            basis = "no similar training row ranks both"
        text = f"{verb[self.relation]}: {share}; {basis}."
        if self.relation != self.alone:
            alone = {"precedes": f"{a} first", "tied": "a tie", "follows": f"{b} first"}
            text += f" Alone the two would give {alone[self.alone]}; the other labels decide."
        return text


@dataclass(frozen=True)
class Explanation:
    """Why a row is ranked as it is: the training rows behind it, and every pair of labels.

    Attributes
    ----------
    ranking : str
        The predicted bucket order.
    rows : DataFrame
        The training rows that the prediction is based on, by decreasing weight: ``row`` (its
        number in the training data), ``weight`` (all weights sum to 1) and ``ranking``.
    labels, ranks : arrays of shape (n_labels,)
        The label names, and their predicted dense ranks.

    Examples
    --------
    >>> from moreplr import RankingForest
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> why = RankingForest(random_state=0).fit(X, Y).explain([0.1])
    >>> why.ranking
    'tea > milk ~ water'
    >>> sorted(why.rows.row[:2])
    [0, 1]
    >>> print(why.pair("water", "milk"))
    water and milk are tied: 0% for water first, ...% for a tie, ...% for milk first; \
3 similar training rows rank both (...% of weight).
    """

    ranking: str
    rows: pd.DataFrame
    labels: Labels
    ranks: Positions
    _pairs: Pairs
    _rankings: Positions
    _numbers: NDArray[np.intp]
    _weights: Array
    _decision: _Decision

    def pair(self, first: Any, second: Any) -> PairExplanation:
        """Why two labels are tied, or why one precedes the other."""
        i, j = self._number(first), self._number(second)
        if i == j:
            raise ValueError(f"a pair needs two labels, got {first!r} twice")
        P, Q = self._pairs
        three = float(P[i, j]), float(Q[i, j]), float(P[j, i])
        sign = np.sign(self._rankings[:, i] - self._rankings[:, j])
        weights = _votes(self._weights, self._rankings.shape[1], {i, j})
        weights = np.where(np.isnan(sign), 0.0, weights.mean(axis=0))
        both = np.flatnonzero(weights > 0)
        both = both[np.argsort(-weights[both], kind="stable")]
        names = np.array(["precedes", "tied", "follows"], dtype=object)
        rows = pd.DataFrame(
            {
                "row": self._numbers[both],
                "weight": weights[both],
                "relation": names[sign[both].astype(int) + 1],
            }
        )
        return PairExplanation(
            self.labels[i],
            self.labels[j],
            str(names[int(np.sign(self.ranks[i] - self.ranks[j])) + 1]),
            self._decision.of(*three),
            *three,
            compared=float(rows.weight.sum()),
            rows=rows,
        )

    def __str__(self) -> str:
        """The ranking, the rows of largest weight, and a sentence for each pair of neighbours."""
        lines = [f"predicted: {self.ranking}"]
        top = self.rows.head(3)
        if len(top):
            rows = ", ".join(
                f"{row.row} ({row.weight:.0%}: {row.ranking})" for row in top.itertuples()
            )
            lines.append(f"shaped most by the training rows {rows}")
        order = np.argsort(self.ranks, kind="stable")
        lines += [str(self.pair(self.labels[a], self.labels[b])) for a, b in pairwise(order)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for notebooks: the sentences, and a table of the rows of largest weight."""
        order = np.argsort(self.ranks, kind="stable")
        pairs = [self.pair(self.labels[a], self.labels[b]) for a, b in pairwise(order)]
        items = "".join(f"<li>{escape(str(pair))}</li>" for pair in pairs)
        rows = self.rows.head(_ROWS_SHOWN).to_html(index=False, float_format="{:.1%}".format)
        return f"<p>predicted: <b>{escape(self.ranking)}</b></p><ul>{items}</ul>{rows}"

    def _number(self, label: Any) -> int:
        found = np.flatnonzero(self.labels == label)
        if len(found) != 1:
            raise ValueError(f"no label {label!r}; the labels are {list(self.labels)}")
        return int(found[0])


@dataclass(frozen=True)
class _Decision:
    """Chooses the best relation of a pair on its own."""

    objective: str
    ties: bool

    def of(self, precedes: float, tied: float, follows: float) -> str:
        gap = abs(precedes - follows)
        # L1: a tie is ½ in the pair order matrix, which is the nearest value from ¼ to ¾.
        tie_is_best = tied > gap if self.objective == "tau_x" else gap < 0.5
        if self.ties and tie_is_best:
            return "tied"
        return "precedes" if precedes >= follows else "follows"


def explanation(
    labels: Labels,
    ranks: Positions,
    pairs: Pairs,
    rankings: Positions,
    numbers: NDArray[np.intp],
    weights: Array,
    *,
    objective: str,
    ties: bool,
) -> Explanation:
    """Make the explanation of one row.

    `rankings` and `numbers` are those of the training rows, and `weights` (n_forests, n_rows)
    their weights in the leaves of each forest.
    """
    k = rankings.shape[1]
    mean = np.mean([_votes(weights, k, {i}).mean(axis=0) for i in range(k)], axis=0)
    used = np.flatnonzero(mean > 0)
    used = used[np.argsort(-mean[used], kind="stable")]
    rows = pd.DataFrame(
        {
            "row": numbers[used],
            "weight": mean[used],
            "ranking": to_text(rankings[used], labels),
        }
    )
    text = to_text(ranks[None], labels)[0]
    decision = _Decision(objective, ties)
    return Explanation(text, rows, labels, ranks, pairs, rankings, numbers, weights, decision)


def _votes(weights: Array, k: int, labels: set[int]) -> Array:
    """The weights in the forests that vote on pairs of these labels."""
    label_of_each = (label_of(number, len(weights), k) for number in range(len(weights)))
    return weights[[label is None or label in labels for label in label_of_each]]
