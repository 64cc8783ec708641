"""From the leaves that a row reaches to pair probabilities.

The training rows in the leaves vote, rows of equal rankings together. A member that ranks both
labels of a pair votes for one of the three relations. One that ranks only one of them still says
where this label stands: the labels' own distributions of positions, taken as independent, vote as
well on which of two labels comes first, with a weight of their own. So do all training rankings,
with a small one, which decides where leaves hardly compare a pair.

A forest for a single label votes on its pairs with all others. So a pair has the votes of the
forests of its two labels, and of the forest for all labels, where these are grown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions
from moreplr.base import Pairs
from moreplr.forest import BinnedMatrix, ForestRegressor
from moreplr.forest.members import Members, Voters
from moreplr.rankers import _counts
from moreplr.rankers.ranking_forest import _marginals

Parts = Iterator[tuple[slice, Members]]


@dataclass(frozen=True)
class Leaves:
    """Grown forests and the training rankings in their leaves.

    Attributes
    ----------
    forests : list of a forest for all labels, or of one for each, or of both, in this order
    voters : for each forest, the distinct rankings in its nodes
    rankings : array (n_rankings, n_labels), the distinct rankings of the training rows
    places : their positions as small integers
    prior : the probabilities of a pair that no leaf compares
    weights : those of the labels' own distributions and of the prior, against 1 for the votes
    """

    forests: list[ForestRegressor]
    voters: list[Voters]
    rankings: Positions
    places: NDArray[np.int16]
    prior: Pairs
    weights: tuple[float, float]

    @classmethod
    def of(
        cls,
        forests: list[ForestRegressor],
        rankings: Positions,
        places: NDArray[np.int16],
        prior: Pairs,
        weights: tuple[float, float],
    ) -> Leaves:
        """The leaves of forests by the rankings and places of all training rows."""
        filled = np.where(np.isnan(rankings), np.inf, rankings)  # a position is finite
        _, first, groups = np.unique(filled, axis=0, return_index=True, return_inverse=True)
        voters = [forest.voters(groups.ravel()) for forest in forests]
        return cls(forests, voters, rankings[first], places[first], prior, weights)

    def pairs(self, X: Array, min_samples: int) -> Pairs:
        """Pair probabilities of new rows."""
        binned = self._binned(X)

        def parts(forest: ForestRegressor, voters: Voters) -> Parts:
            return forest.leaf_members_in_parts(binned, min_samples=min_samples, voters=voters)

        return self._mix(len(X), parts)[0]

    def out_of_bag(
        self, rows: NDArray[np.intp], min_samples: int
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """Those of training rows by trees that have not seen them, and which are known."""

        def parts(forest: ForestRegressor, voters: Voters) -> Parts:
            return forest.leaf_members_in_parts(
                rows=rows, min_samples=min_samples, oob=True, voters=voters
            )

        return self._mix(len(rows), parts)

    def row_weights(self, X: Array, min_samples: int) -> Array:
        """The weights of all training rows in the leaves of one row, a line for each forest."""
        binned = self._binned(X)
        weights = np.zeros((len(self.forests), len(self.forests[0].codes_)))
        for own, forest in zip(weights, self.forests, strict=True):
            _, indices, shares = forest.leaf_members(binned, min_samples=min_samples)
            own[indices] = shares
        return weights

    def _binned(self, X: Array) -> BinnedMatrix:
        binner = self.forests[0].binner_  # that of all forests
        return BinnedMatrix(binner.transform(X), binner)

    def _mix(
        self, n: int, parts: Callable[[ForestRegressor, Voters], Parts]
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """Probabilities of n rows, and for which of them every forest has members."""
        k, known = self.rankings.shape[1], np.ones(n, np.bool_)
        P, Q = np.zeros((2, n, k, k))
        positions = np.zeros((n, k, int(self.places.max(initial=0)) + 1))
        for number, asked in enumerate(zip(self.forests, self.voters, strict=True)):
            label = label_of(number, len(self.forests), k)
            for part, members in parts(*asked):
                known[part] &= np.diff(members[0]) > 0
                if label is None:
                    first, last = 0, k
                    _counts.add_pairs(self.rankings, *members, P[part], Q[part])
                else:
                    first, last = label, label + 1
                    _marginals.add_pairs_of(self.rankings, label, *members, P[part], Q[part])
                _marginals.add_positions(self.places, first, last, *members, positions[part])
        share = 1 / votes_of_a_pair(len(self.forests), k)
        # Weights are of single precision: what they differ by beyond it is no difference.
        P, Q = np.round(P * share, 6), np.round(Q * share, 6)
        order = _marginals.orders(positions) if self.weights[0] > 0 else P
        mixed = Pairs(np.empty_like(P), np.empty_like(Q))
        _marginals.mix(P, Q, order, *self.prior, self.weights, *mixed)
        return mixed, known


def label_of(number: int, n_forests: int, k: int) -> int | None:
    """The label of a forest by its number, None if it is for all labels."""
    if n_forests == k > 1:
        return number
    return number - 1 if number > 0 else None


def votes_of_a_pair(n_forests: int, k: int) -> int:
    """How many forests vote on each pair of k labels."""
    if n_forests == 1:
        return 1
    return 2 if n_forests == k else 3


def places(targets: Positions) -> NDArray[np.int16]:
    """Positions as small integers from 0, -1 where not ranked: exact, or in 2k + 1 steps."""
    seen = ~np.isnan(targets)
    distinct = np.unique(targets[seen])
    steps = 2 * targets.shape[1] + 1
    out = np.full(targets.shape, -1, np.int16)
    if len(distinct) <= steps:
        out[seen] = np.searchsorted(distinct, targets[seen])
    else:
        share = (targets[seen] - distinct[0]) / (distinct[-1] - distinct[0])
        out[seen] = np.minimum(share * steps, steps - 1)
    return out
