"""Choose how a ranking forest is grown and read, by rows that its trees have not seen.

A choice is an estimate from few rows. So candidates are few, one decision follows another, and
the default stays unless another gains more than a standard error or two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array
from moreplr.base import Pairs, decoded
from moreplr.forest import ForestBatch, ForestRegressor
from moreplr.metrics import tau_x_score
from moreplr.rankers.growth import Growth, Way
from moreplr.rankers.leaves import Reading, Tables, evenly, single_pairs
from moreplr.rankers.oblique import LARGEST
from moreplr.rankers.prediction_sets import merged, risk_curve

if TYPE_CHECKING:
    from moreplr.rankers.ranking_forest import RankingForest

LEAF_SIZES = (1, 2, 4, 8, 16, 32)
MARGINAL_WEIGHTS = (0.0, 0.5, 100.0)
PAIR_SHARES = (0.0, 0.25, 0.5, 1.0)
# The best cut of the labels in the order of their scores, or the best bucket order of all.
AGGREGATIONS = ("segments", "auto")
# A choice among a few candidates needs no more rows than this.
SCORED_ROWS = 800
PROBED_ROWS = 2_000
# What forests for each label must gain in τ_X, for each label and row, where rows are many.
PRICE = 5e-8
# One of many readings may be ahead by chance: so many standard errors are asked of it,
_SURE = 2.0
# and so many of a way to grow, or of a share of single pairs, which differ more.
_RATHER_SURE = 1.0
_ROUNDING = 1e-9  # a smaller gain is none
# Beyond this a forest for each label or pair, marginals of all pairs, and comparing numbers of
# features cost more than they tell.
MANY_LABELS = 64
MANY_FEATURES = 500  # beyond it sums of features take long


class OutOfBag:
    """Forests asked about their training rows: of each, the trees that have not drawn it.

    The ranker has its labels, its consensus and whether it predicts ties. If all rows are asked
    at once, what the last question counted is kept for the next one.
    """

    def __init__(
        self, ranker: RankingForest, growth: Growth, forests: list[ForestRegressor]
    ) -> None:
        self.ranker, self.growth, self.forests = ranker, growth, forests
        ranked = np.sum(~np.isnan(growth.Y), axis=1)
        self.rows = evenly(np.flatnonzero(ranked > 1), SCORED_ROWS)
        self._tables: tuple[int, Tables, NDArray[np.bool_]] | None = None
        self._single: tuple[ForestBatch, Pairs] | None = None

    def score(self, readings: list[Reading], batch: ForestBatch | None) -> Array:
        """The τ_X of each reading and row, NaN where no tree can be asked."""
        tau = np.full((len(readings), len(self.rows)), np.nan)
        for chunk in self.ranker._chunks(len(self.rows)):
            true = self.growth.Y[self.rows[chunk]]
            for at, pairs, asked in self._pairs(chunk, readings, batch):
                ranks = decoded(
                    pairs,
                    readings[at].aggregation,
                    self.ranker.objective,
                    total_order=not self.ranker.ties_,
                    random_state=0,
                )
                tau[at, chunk] = np.where(asked, tau_x_score(true, ranks, per_sample=True), np.nan)
        return tau

    def risk(self, reading: Reading, batch: ForestBatch | None) -> Array:
        """How often true relations have less than some probability."""
        curves = [risk_curve(Pairs(*np.empty((2, 0, 1, 1))), np.empty((0, 1)))]
        for chunk in self.ranker._chunks(len(self.rows)):
            for _, (P, Q), asked in self._pairs(chunk, [reading], batch):
                true = self.growth.Y[self.rows[chunk]][asked]
                curves.append(risk_curve(Pairs(P[asked], Q[asked]), true))
        return merged(curves)

    def _pairs(
        self, chunk: slice, readings: list[Reading], batch: ForestBatch | None
    ) -> Iterator[tuple[int, Pairs, NDArray[np.bool_]]]:
        """For each reading its number, pair probabilities, and which rows could be asked."""
        rows, single = self.rows[chunk], None
        if batch is not None and any(reading.pair_share > 0 for reading in readings):
            single = self._ask_pairs(rows, batch)
        # Small leaves last: they are the default, and most likely to be asked for again.
        for size in sorted({reading.min_samples for reading in readings}, reverse=True):
            tables, asked = self._ask_leaves(rows, size)
            for number, reading in enumerate(readings):
                if reading.min_samples == size:
                    yield number, tables.mix(reading, self.ranker.consensus_, single), asked

    def _ask_leaves(self, rows: NDArray[np.intp], size: int) -> tuple[Tables, NDArray[np.bool_]]:
        if self._tables is not None and self._tables[0] == size:
            return self._tables[1:]
        members = [
            forest.leaf_members(rows=rows, min_samples=size, oob=True) for forest in self.forests
        ]
        tables = Tables.count(members, self.growth.Y, self.growth.places)
        asked = np.all([np.diff(indptr) > 0 for indptr, _, _ in members], axis=0)
        if len(rows) == len(self.rows):
            self._tables = size, tables, asked
        return tables, asked

    def _ask_pairs(self, rows: NDArray[np.intp], batch: ForestBatch) -> Pairs:
        if self._single is not None and self._single[0] is batch:
            return self._single[1]
        single = single_pairs(batch, batch.oob_proba(rows), self.growth.Y.shape[1])
        if len(rows) == len(self.rows):
            self._single = batch, single
        return single


def takes_oblique(ranker: RankingForest, growth: Growth) -> bool:
    """Whether oblique features are asked for, or have something to tell at little cost."""
    (n, n_features), n_labels = growth.X.shape, growth.Y.shape[1]
    wanted = ranker.oblique
    if wanted == "auto":
        few = n <= PROBED_ROWS and n_features <= MANY_FEATURES and n_labels <= MANY_LABELS
        wanted = few and n_features > 1 and n_labels > 1
    return bool(wanted) and not (np.abs(growth.X) > LARGEST).any()


class Chooser:
    """Makes the choices that the parameters of a ranker leave open."""

    def __init__(self, ranker: RankingForest, growth: Growth) -> None:
        self.ranker, self.growth = ranker, growth
        self.n_labels = growth.Y.shape[1]
        self.part = growth.some(PROBED_ROWS)  # what ways are compared on
        self.many = self.part is not growth
        self._judges: dict[tuple[str, int], OutOfBag] = {}

    def way(self) -> Way:
        """How to grow; for many rows, how some of them are best grown."""
        way = self._way()
        if self.many:  # what was grown on some rows has served
            self._judges.clear()
            self.part = self.growth
        return way

    def _way(self) -> Way:
        ways = [Way(name, self._features(name)[0]) for name in self._structures()]
        way = self._best(ways, price=self._price)
        way = self._best([way._replace(features=n) for n in self._features(way.structure)])
        if not self._may_take_pairs():
            return way
        # The more rows, the dearer are features: in doubt few.
        numbers = sorted(self._features("pairs")) if self.many else self._features("pairs")
        with_pairs = [way._replace(pair_features=n) for n in numbers]
        best = self._best(with_pairs, self._default_reading._replace(pair_share=1.0))
        if self.many and self.ranker.pair_share == "auto":
            return self._best([best, way], self._default_reading)
        return best

    def reading(self, way: Way) -> tuple[Reading, dict[Reading, float], Array]:
        """How to read leaves, the τ_X of all readings tried, and the risk of the chosen one.

        The leaf size is chosen first, then the weight of marginals, then the share of pairs,
        then how a bucket order is found.
        """
        judge, batch = self._judge(way), self.part.pair_forests(way)
        reading = self._default_reading
        if batch is None:
            reading = reading._replace(pair_share=0.0)
        scores: dict[Reading, float] = {}
        for name, values, errors in self._open(reading, batch):
            readings = [reading._replace(**{name: value}) for value in values]
            tau = judge.score(readings, batch)
            if np.isnan(tau).all():
                continue
            scores |= dict(zip(readings, np.nanmean(tau, axis=1).tolist(), strict=True))
            reading = readings[surest(tau, readings.index(reading), errors)]
        return reading, scores, judge.risk(reading, batch)

    def _open(
        self, reading: Reading, batch: ForestBatch | None
    ) -> Iterator[tuple[str, tuple, float]]:
        """The parts of a reading that are to be chosen, their values, and how sure to be."""
        if self.n_labels == 1:
            return
        if self.ranker.min_samples == "auto":
            yield "min_samples", LEAF_SIZES, _SURE
        if self.ranker.marginal_weight == "auto" and self.n_labels <= MANY_LABELS:
            weights = tuple(sorted({*MARGINAL_WEIGHTS, reading.marginal_weight}))
            yield "marginal_weight", weights, _SURE
        if self.ranker.pair_share == "auto" and batch is not None:
            # Few rows may mislead about the share; of many the best is taken.
            yield "pair_share", PAIR_SHARES, 0.0 if self.many else _RATHER_SURE
        # Without ties neither is ahead on all kinds of data, and few rows do not tell which.
        if self.ranker.aggregation == "auto" and (self.ranker.ties_ or self.many):
            yield "aggregation", AGGREGATIONS, 0.0 if self.many else _SURE

    def _structures(self) -> list[str]:
        """In doubt one forest for each label."""
        if self.ranker.structure != "auto":
            return [self.ranker.structure]
        if not 3 <= self.n_labels <= MANY_LABELS:
            return ["shared"]
        return ["per_label", "shared"]

    def _features(self, kind: str) -> list[int]:
        numbers = self.part.features(kind)
        return numbers if self.n_labels <= MANY_LABELS else numbers[:1]

    def _may_take_pairs(self) -> bool:
        k, weight, share = self.n_labels, self.growth.weight, self.ranker.pair_share
        equal = weight is None or bool((weight == weight[0]).all())
        if not isinstance(share, str):
            return equal and k >= 2 and share > 0
        if self.many and self.ranker.structure == "shared":  # the least work is asked for
            return False
        return equal and 3 <= k <= MANY_LABELS and not self.growth.pairs_take_long

    @property
    def _price(self) -> float:
        """What forests for each label must gain over one for all."""
        return PRICE * self.n_labels * len(self.growth.X) if self.many else 0.0

    @property
    def _default_reading(self) -> Reading:
        """Leaves as they are; the marginals count little, or half where given positions miss.

        Labels that may tie are sorted: the best bucket order of all follows estimates where
        they err.
        """
        ranker = self.ranker
        size = 1 if ranker.min_samples == "auto" else int(ranker.min_samples)
        weight, share = ranker.marginal_weight, ranker.pair_share
        if weight == "auto":
            gaps = bool(np.isnan(self.growth.Y).any())
            weight = 1.0 if gaps and ranker.positions == "given" else 0.25
        share = 0.25 if share == "auto" else share
        method = ranker.aggregation
        if method == "auto" and ranker.ties_:
            method = "segments"
        return Reading(size, float(weight), float(share), method)

    def _best(self, ways: list[Way], reading: Reading | None = None, price: float = 0.0) -> Way:
        """The first way at its price, unless another is surely better."""
        if len(ways) == 1 or self.n_labels == 1:
            return ways[0]
        reading = reading or self._default_reading._replace(pair_share=0.0)
        tau = [self._judge(way).score([reading], self.part.pair_forests(way))[0] for way in ways]
        tau[0] -= price
        best = ways[surest(tau, 0, _RATHER_SURE)]
        self.part.keep(best)
        self._judges = {best[:2]: self._judge(best)}
        return best

    def _judge(self, way: Way) -> OutOfBag:
        key = way.structure, way.features
        if key not in self._judges:
            self._judges[key] = OutOfBag(self.ranker, self.part, self.part.forests(way))
        return self._judges[key]


def surest(tau: Sequence[Array] | Array, base: int, errors: float) -> int:
    """Which line of τ_X surely gains most over that of `base`; that line if none does."""
    gains = [sure_gain(one, tau[base], errors) for one in tau]
    best = int(np.argmax(gains))
    return best if gains[best] > 0 else base


def sure_gain(tau: Array, base: Array, errors: float) -> float:
    """The mean gain over the base if it exceeds so many standard errors, else 0."""
    gain = (tau - base)[~np.isnan(tau - base)]
    if len(gain) < 2:
        return 0.0
    mean, error = gain.mean(), gain.std(ddof=1) / np.sqrt(len(gain))
    return float(mean) if mean > max(errors * error, _ROUNDING) else 0.0
