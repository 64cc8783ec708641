"""Explain why a mixture ranks one row as it does, by its members' predictions and weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from moreplr._types import Labels, Positions
from moreplr.base import Pairs
from moreplr.rankers.ranking_forest import Explanation

_RELATIONS = ("follows", "tied", "precedes")


@dataclass(frozen=True)
class MixturePair:
    """Why two labels are tied or not.

    Attributes
    ----------
    first, second : the labels
    relation : {"precedes", "tied", "follows"}
        How the first stands to the second in the predicted ranking.
    precedes, tied, follows : float
        The probabilities of the three relations.
    members : DataFrame
        The prediction of each member: ``member``, ``weight``, ``precedes``, ``tied``, ``follows``.
    rows : DataFrame
        The training rows that the ranking forest's prediction is based on; empty if no member is
        a forest.
    """

    first: Any
    second: Any
    relation: str
    precedes: float
    tied: float
    follows: float
    members: pd.DataFrame
    rows: pd.DataFrame

    def __str__(self) -> str:
        a, b = self.first, self.second
        verb = {
            "precedes": f"{a} is ranked before {b}",
            "tied": f"{a} and {b} are tied",
            "follows": f"{b} is ranked before {a}",
        }
        parts = ", ".join(
            f"{one.member} {one.precedes:.0%} / {one.tied:.0%} / {one.follows:.0%} "
            f"(weight {one.weight:.0%})"
            for one in self.members.itertuples()
        )
        return (
            f"{verb[self.relation]}: {self.precedes:.0%} for {a} first, {self.tied:.0%} for a "
            f"tie, {self.follows:.0%} for {b} first; {parts}."
        )


@dataclass(frozen=True)
class MixtureExplanation:
    """Why a row is ranked as it is.

    Attributes
    ----------
    ranking : str
        The predicted bucket order.
    labels, ranks : arrays of shape (n_labels,)
        The label names, and their predicted dense ranks.
    weights : dict
        The weight of each member.
    rows : DataFrame
        The training rows that the ranking forest's prediction is based on, by decreasing weight;
        empty if no member is a forest.

    Examples
    --------
    >>> from moreplr import AutoRanker, DummyRanker, NearestNeighborsRanker
    >>> X = [[0.0], [0.2], [0.8], [1.0]] * 5
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"] * 5
    >>> ranker = AutoRanker(None, [NearestNeighborsRanker(2)], random_state=0).fit(X, Y)
    >>> why = ranker.explain([0.1])
    >>> why.ranking
    'tea > milk ~ water'
    >>> why.pair("tea", "milk").relation
    'precedes'
    """

    ranking: str
    labels: Labels
    ranks: Positions
    weights: dict[str, float]
    rows: pd.DataFrame
    _pairs: Pairs
    _by_member: dict[str, Pairs]
    _forest: Explanation | None

    def pair(self, first: Any, second: Any) -> MixturePair:
        """Why two labels are tied, or why one precedes the other."""
        i, j = self._number(first), self._number(second)
        if i == j:
            raise ValueError(f"a pair needs two labels, got {first!r} twice")
        rows = [
            (name, self.weights[name], *_three(pairs, i, j))
            for name, pairs in self._by_member.items()
        ]
        columns = ["member", "weight", "precedes", "tied", "follows"]
        members = pd.DataFrame(rows, columns=columns)
        members = members.sort_values("weight", ascending=False, kind="stable", ignore_index=True)
        return MixturePair(
            self.labels[i],
            self.labels[j],
            _RELATIONS[int(np.sign(self.ranks[j] - self.ranks[i])) + 1],
            *_three(self._pairs, i, j),
            members=members,
            rows=self.rows if self._forest is None else self._forest.pair(first, second).rows,
        )

    def __str__(self) -> str:
        """The ranking, and a sentence for each pair of neighbours in it."""
        order = np.argsort(self.ranks, kind="stable")
        lines = [str(self.pair(self.labels[a], self.labels[b])) for a, b in pairwise(order)]
        return "\n".join([f"predicted: {self.ranking}", *lines])

    def _number(self, label: Any) -> int:
        found = np.flatnonzero(self.labels == label)
        if len(found) != 1:
            raise ValueError(f"no label {label!r}; the labels are {list(self.labels)}")
        return int(found[0])


def _three(pairs: Pairs, i: int, j: int) -> tuple[float, float, float]:
    return float(pairs.P[i, j]), float(pairs.Q[i, j]), float(pairs.P[j, i])
