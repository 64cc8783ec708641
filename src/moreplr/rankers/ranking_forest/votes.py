"""Compute pair probabilities from the leaves that a row reaches.

The training rows in the leaves vote. A row that ranks both labels of a pair votes for one of the
three relations. The distributions of single labels' positions, taken as independent, vote on which
label comes first, with a weight of their own; they also use rows that rank only one label of a
pair. All training rankings vote with a small weight, which matters for pairs that are rare in the
leaves. Rows with equal rankings are grouped.

The forest of a single label votes on its pairs with all other labels. So a pair has the votes of
the forests of its two labels and of the shared forest, if these are grown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moreplr._lazy import lazy
from moreplr._types import Array, Positions
from moreplr.base import Pairs
from moreplr.forest import BinnedMatrix, ForestRegressor
from moreplr.forest.members import Voters, members_in_parts
from moreplr.forest.parallel import Stopped, run
from moreplr.rankers.ranking_forest import _marginals, _votes
from moreplr.rankings._matrices import dense_ranks

# Pairs that are mixed at a time, few enough to stay in the cache.
_CELLS = 1 << 17

Codes = NDArray[np.uint8]
Unseen = NDArray[np.bool_]


@dataclass(frozen=True)
class Leaves:
    """Grown forests and the training rankings in their leaves.

    Attributes
    ----------
    forests : list with the shared forest, or with one for each label, or with both, in this order
    groups : for each training row, the number of its ranking among the distinct ones
    codes : int16 array (n_rankings, n_labels or more), the distinct rankings, for `add_votes`
    places : int16 array (n_labels, n_rankings), their positions, for `add_votes`
    prior : the prior pair probabilities
    weights : the weights of positions and of the prior, against 1 for the votes on pairs
    min_samples : the fewest rows in the node that votes
    """

    forests: list[ForestRegressor]
    groups: NDArray[np.intp]
    codes: NDArray[np.int16]
    places: NDArray[np.int16]
    prior: Pairs
    weights: tuple[float, float]
    min_samples: int

    @classmethod
    def of(
        cls,
        forests: list[ForestRegressor],
        rankings: Positions,
        places: NDArray[np.int16],
        prior: Pairs,
        weights: tuple[float, float],
        min_samples: int,
    ) -> Leaves:
        """Group the training rows by their rankings and places."""
        filled = np.where(np.isnan(rankings), np.inf, rankings)  # positions are finite
        _, first, groups = np.unique(filled, axis=0, return_index=True, return_inverse=True)
        distinct = np.ascontiguousarray(places[first].T)
        codes = _codes(rankings[first])
        return cls(forests, groups.ravel(), codes, distinct, prior, weights, min_samples)

    @lazy
    def voters(self) -> list[Voters]:
        """For each forest, the distinct rankings in the nodes that vote."""
        return [forest.voters(self.groups, self.min_samples) for forest in self.forests]

    def pairs(self, X: Array) -> Pairs:
        """Pair probabilities of new rows."""
        codes = self._binned(X).codes

        def inputs(number: int) -> tuple[Voters, Codes, None]:
            return self.voters[number], codes, None

        return self._mix(len(X), inputs)[0]

    def unseen(self, rows: NDArray[np.intp]) -> list[Unseen]:
        """For each forest, a mask that is True where a tree did not draw a training row."""
        return [forest.unseen(rows) for forest in self.forests]

    def out_of_bag(
        self, rows: NDArray[np.intp], unseen: list[Unseen], n_jobs: int | None
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """Pair probabilities of training rows out of bag, and for which rows they are known."""

        def inputs(number: int) -> tuple[Voters, Codes, Unseen]:
            forest = self.forests[number]
            voters = forest.voters(self.groups, self.min_samples)
            return voters, forest.codes_[rows], unseen[number]

        return self._mix(len(rows), inputs, n_jobs)

    def row_weights(self, X: Array) -> Array:
        """The weights of all training rows in the leaves of one row, (n_forests, n_rows)."""
        binned = self._binned(X)
        weights = np.zeros((len(self.forests), len(self.groups)))
        for in_forest, forest in zip(weights, self.forests, strict=True):
            _, indices, shares = forest.leaf_members(binned, min_samples=self.min_samples)
            in_forest[indices] = shares
        return weights

    def _binned(self, X: Array) -> BinnedMatrix:
        binner = self.forests[0].binner_  # all forests share it
        return BinnedMatrix(binner.transform(X), binner)

    def _mix(
        self,
        n: int,
        inputs: Callable[[int], tuple[Voters, Codes, Unseen | None]],
        n_jobs: int | None = 1,
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """Pair probabilities of n rows, and a mask of those with votes in every forest.

        `inputs` returns a forest's voters, the codes of the rows, and which trees to use.
        """
        k, n_forests = len(self.places), len(self.forests)
        known, stop = np.ones((n_forests, n), np.bool_), np.zeros(1, np.uint8)
        votes = np.zeros((3, n, k, k), np.uint32)
        positions = np.zeros((n, k, int(self.places.max(initial=0)) + 1), np.uint32)
        complete = bool((self.codes[:, :k] >= 0).all())

        def count(number: int) -> None:
            label = label_of(number, n_forests, k)
            first, last = (0, k) if label is None else (label, label + 1)
            for part, members in members_in_parts(*inputs(number)):
                if stop[0]:
                    raise Stopped
                known[number, part] = np.diff(members[0]) > 0
                _votes.add_votes(
                    self.codes, self.places, complete, first, last, *members, *votes[:, part],
                    positions[part],
                )  # fmt: skip

        # Forests of single labels have lines of their own to add to, that of all labels has not.
        single = int(label_of(0, n_forests, k) is None)
        for number in range(single):
            count(number)
        run(count, [(number,) for number in range(single, n_forests)], n_jobs, stop, in_place=True)
        scale = 1 / votes_of_a_pair(len(self.forests), k) / _votes.UNIT
        mixed = Pairs(*np.empty((2, n, k, k)))
        step = max(_CELLS // k**2, 1)
        for some in (slice(at, at + step) for at in range(0, n, step)):
            _marginals.mix(
                *votes[:, some], scale, _marginals.orders(positions[some]),
                *self.prior, self.weights, mixed.P[some], mixed.Q[some],
            )  # fmt: skip
        return mixed, np.logical_and.reduce(known, axis=0)


def _codes(rankings: Positions) -> NDArray[np.int16]:
    """Ranks from 0, -1 if not ranked, with columns of -1 added to fill whole registers."""
    n, k = rankings.shape
    out = np.full((n, -(-k // _votes.LANES) * _votes.LANES), -1, np.int16)
    out[:, :k] = np.nan_to_num(dense_ranks(rankings) - 1, nan=-1)
    return out


def label_of(number: int, n_forests: int, k: int) -> int | None:
    """The label of the forest with this number, None for the shared forest."""
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
