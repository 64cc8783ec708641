"""From the leaves that a row reaches to pair probabilities.

The training rows in the leaves vote. A member that ranks both labels of a pair votes for one of
the three relations. One that ranks only one of them still tells where this label stands: the
labels' own distributions of positions, taken as independent, vote for the pair as well, with a
small fixed weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions
from moreplr.base import Pairs
from moreplr.forest import ForestRegressor
from moreplr.rankers import _counts
from moreplr.rankers.ranking_forest import _marginals


@dataclass(frozen=True)
class Leaves:
    """Grown forests and the training rankings in their leaves.

    Attributes
    ----------
    forests : list of one forest for all labels, or of one for each
    rankings : array (n_rows, n_labels), of the training rows
    places : their positions as small integers
    prior : the probabilities of a pair that no leaf compares
    marginal_weight : the weight of the labels' own distributions, against 1 for a pair's votes
    """

    forests: list[ForestRegressor]
    rankings: Positions
    places: NDArray[np.int16]
    prior: Pairs
    marginal_weight: float

    def pairs(self, min_samples: int, **rows: Any) -> tuple[Pairs, NDArray[np.bool_]]:
        """Pair probabilities, and for which rows every forest has a tree to ask.

        `rows` are the arguments of `ForestRegressor.leaf_members` that name them.
        """
        members = [forest.leaf_members(min_samples=min_samples, **rows) for forest in self.forests]
        n, k = len(members[0][0]) - 1, self.rankings.shape[1]
        P, Q = np.zeros((2, n, k, k))
        positions = np.zeros((n, k, int(self.places.max(initial=0)) + 1))
        if len(members) == 1:
            _counts.add_pairs(self.rankings, *members[0], P, Q)
            _marginals.add_positions(self.places, 0, k, *members[0], positions)
        else:
            for label, (indptr, indices, weights) in enumerate(members):
                where = indptr, indices
                _marginals.add_pairs_of(self.rankings, label, *where, weights / 2, P, Q)
                _marginals.add_positions(self.places, label, label + 1, *where, weights, positions)
        # Weights are of single precision: what they differ by beyond it is no difference.
        P, Q = P.round(6), Q.round(6)
        marginals = _marginals.marginals(positions) if self.marginal_weight > 0 else (P, Q)
        mixed = Pairs(np.empty_like(P), np.empty_like(Q))
        _marginals.mix(P, Q, *marginals, self.marginal_weight, *self.prior, *mixed)
        asked = np.all([np.diff(indptr) > 0 for indptr, _, _ in members], axis=0)
        return mixed, asked

    def row_weights(self, X: Array, min_samples: int) -> Array:
        """The weights of all training rows in the leaves of one row, a line for each forest."""
        weights = np.zeros((len(self.forests), len(self.rankings)))
        for own, forest in zip(weights, self.forests, strict=True):
            _, indices, shares = forest.leaf_members(X, min_samples=min_samples)
            own[indices] = shares
        return weights


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
