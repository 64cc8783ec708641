"""From the leaves that a row falls into to pair probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions
from moreplr.base import Pairs
from moreplr.forest import ForestBatch, ForestRegressor
from moreplr.rankers import _counts, _marginals
from moreplr.rankers._pairs import square
from moreplr.rankers.explanation import RowWeights

Members = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


class Reading(NamedTuple):
    """How leaves are read.

    The least rows of a node that answers, the weight of marginals beside counted pairs, the
    share of the forests of single pairs in the mean, and how pairs are made into a bucket order.
    """

    min_samples: int
    marginal_weight: float
    pair_share: float = 0.0
    aggregation: str = "auto"


@dataclass
class Tables:
    """What the members of some rows' leaves say: counted pairs, and where the labels stand."""

    P: Array
    Q: Array
    positions: Array

    @classmethod
    def count(
        cls, members: list[Members], rankings: Positions, places: NDArray[np.int16]
    ) -> Tables:
        """Count over the members of one forest for all labels, or of one for each label."""
        n, k = len(members[0][0]) - 1, rankings.shape[1]
        P, Q = np.zeros((n, k, k)), np.zeros((n, k, k))
        positions = np.zeros((n, k, int(places.max()) + 1))
        if len(members) == 1:
            _counts.add_pairs(rankings, *members[0], P, Q)
            _marginals.add_positions(places, 0, k, *members[0], positions)
        else:
            for label, (indptr, indices, weights) in enumerate(members):
                where = indptr, indices
                _marginals.add_pairs_of(rankings, label, *where, weights / 2, P, Q)
                _marginals.add_positions(places, label, label + 1, *where, weights, positions)
        # Weights are of single precision: what they differ by beyond it is no difference.
        return cls(P.round(6), Q.round(6), positions)

    @cached_property
    def marginals(self) -> tuple[Array, Array]:
        """Probabilities as if the labels' positions were independent."""
        return _marginals.marginals(self.positions)

    def mix(self, reading: Reading, prior: Pairs, single: Pairs | None = None) -> Pairs:
        """Probabilities from counts and marginals; where a pair has neither, the prior's.

        `single` is what forests of single pairs say, NaN where they know nothing.
        """
        counts = self.P, self.Q
        mixed = Pairs(np.empty_like(self.P), np.empty_like(self.Q))
        marginals = self.marginals if reading.marginal_weight > 0 else counts
        _marginals.mix(*counts, *marginals, reading.marginal_weight, *prior, *mixed)
        if single is None or reading.pair_share == 0:
            return mixed
        return Pairs(
            *(
                np.where(np.isnan(own), both, both + reading.pair_share * (own - both))
                for both, own in zip(mixed, single, strict=True)
            )
        )


@dataclass
class Leaves:
    """Grown forests and the training rankings in their leaves.

    Attributes
    ----------
    forests : list of one forest for all labels, or of one for each
    pair_forests : the batch of a forest for each pair of labels, or None
    rankings : array of shape (n_rows, n_labels), of the training rows
    places : their positions as small integers
    prior : what is predicted of a pair that no leaf compares
    """

    forests: list[ForestRegressor]
    pair_forests: ForestBatch | None
    rankings: Positions
    places: NDArray[np.int16]
    prior: Pairs

    def pairs(self, X: Array, reading: Reading) -> Pairs:
        """The pair probabilities of new rows."""
        single = None
        if self.pair_forests is not None and reading.pair_share > 0:
            shares = self.pair_forests.predict_proba(X)
            single = single_pairs(self.pair_forests, shares, self.rankings.shape[1])
        tables = Tables.count(self._members(X, reading), self.rankings, self.places)
        return tables.mix(reading, self.prior, single)

    def row_weights(self, X: Array, reading: Reading) -> RowWeights:
        """How much each training row counts for a single row."""
        batch, n = self.pair_forests, len(self.rankings)
        singles = []
        if batch is not None and reading.pair_share > 0:
            singles = [batch.leaf_members(X, forest=f) for f in range(batch.n_forests_)]
        positions = _dense(self._members(X, reading), n)
        return RowWeights(positions, _dense(singles, n), reading.pair_share)

    def _members(self, X: Array, reading: Reading) -> list[Members]:
        return [forest.leaf_members(X, min_samples=reading.min_samples) for forest in self.forests]


def single_pairs(batch: ForestBatch, shares: Array, k: int) -> Pairs:
    """What forests of single pairs of k labels say; NaN for a pair that no row has shown."""
    shares /= shares.sum(axis=2, keepdims=True)  # leaves answer in single precision
    shares[:, ~batch.has_rows] = np.nan
    return square(shares, k)


def _dense(members: list[Members], n: int) -> Array:
    """The weights of all training rows in the leaves of one row, a line for each forest."""
    weights = np.zeros((len(members), n))
    for own, (_, indices, shares) in zip(weights, members, strict=True):
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


def evenly(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """All rows, or so many of them at even distances."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
