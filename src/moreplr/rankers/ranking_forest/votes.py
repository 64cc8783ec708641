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

# Cells of pairs that are worked out at once: few enough to stay in the cache.
_CELLS = 1 << 17

Codes = NDArray[np.uint8]
Unseen = NDArray[np.bool_]


@dataclass(frozen=True)
class Leaves:
    """Grown forests and the training rankings in their leaves.

    Attributes
    ----------
    forests : list of a forest for all labels, or of one for each, or of both, in this order
    groups : the number of each training row's ranking among the distinct ones
    codes : int16 array (n_rankings, n_labels or more), the distinct rankings, as `add_votes` takes
    places : int16 array (n_labels, n_rankings), their positions likewise
    prior : the probabilities of a pair that no leaf compares
    weights : those of the labels' own distributions and of the prior, against 1 for the votes
    min_samples : the least number of rows in the node that votes
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
        """The leaves of forests by the rankings and places of all training rows."""
        filled = np.where(np.isnan(rankings), np.inf, rankings)  # a position is finite
        _, first, groups = np.unique(filled, axis=0, return_index=True, return_inverse=True)
        own = np.ascontiguousarray(places[first].T)
        codes = _codes(rankings[first])
        return cls(forests, groups.ravel(), codes, own, prior, weights, min_samples)

    @lazy
    def voters(self) -> list[Voters]:
        """For each forest, the distinct rankings in the nodes that vote."""
        return [forest.voters(self.groups, self.min_samples) for forest in self.forests]

    def pairs(self, X: Array) -> Pairs:
        """Pair probabilities of new rows."""
        codes = self._binned(X).codes

        def asked(number: int) -> tuple[Voters, Codes, None]:
            return self.voters[number], codes, None

        return self._mix(len(X), asked)[0]

    def unseen(self, rows: NDArray[np.intp]) -> list[Unseen]:
        """For each forest, which trees have not seen which training rows."""
        return [forest.unseen(rows) for forest in self.forests]

    def out_of_bag(
        self, rows: NDArray[np.intp], unseen: list[Unseen], n_jobs: int | None
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """Those of training rows by trees that have not seen them, and which are known."""

        def asked(number: int) -> tuple[Voters, Codes, Unseen]:
            forest = self.forests[number]
            voters = forest.voters(self.groups, self.min_samples)
            return voters, forest.codes_[rows], unseen[number]

        return self._mix(len(rows), asked, n_jobs)

    def row_weights(self, X: Array) -> Array:
        """The weights of all training rows in the leaves of one row, a line for each forest."""
        binned = self._binned(X)
        weights = np.zeros((len(self.forests), len(self.groups)))
        for own, forest in zip(weights, self.forests, strict=True):
            _, indices, shares = forest.leaf_members(binned, min_samples=self.min_samples)
            own[indices] = shares
        return weights

    def _binned(self, X: Array) -> BinnedMatrix:
        binner = self.forests[0].binner_  # that of all forests
        return BinnedMatrix(binner.transform(X), binner)

    def _mix(
        self,
        n: int,
        asked: Callable[[int], tuple[Voters, Codes, Unseen | None]],
        n_jobs: int | None = 1,
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        """Probabilities of n rows, and for which of them every forest has members.

        `asked` gives the voters of a forest, the codes of the rows, and which trees may speak.
        """
        k, n_forests = len(self.places), len(self.forests)
        known, stop = np.ones((n_forests, n), np.bool_), np.zeros(1, np.uint8)
        votes = np.zeros((3, n, k, k), np.uint32)
        positions = np.zeros((n, k, int(self.places.max(initial=0)) + 1), np.uint32)
        complete = bool((self.codes[:, :k] >= 0).all())

        def count(number: int) -> None:
            label = label_of(number, n_forests, k)
            first, last = (0, k) if label is None else (label, label + 1)
            for part, members in members_in_parts(*asked(number)):
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
    """Ranks from 0 and -1 for none, with columns of none up to full registers."""
    n, k = rankings.shape
    out = np.full((n, -(-k // _votes.LANES) * _votes.LANES), -1, np.int16)
    out[:, :k] = np.nan_to_num(dense_ranks(rankings) - 1, nan=-1)
    return out


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
