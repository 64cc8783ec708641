"""Grow the forests of a ranking forest: for all labels, for each label, for each pair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from moreplr._types import Array, Positions
from moreplr.encoders import encode
from moreplr.forest import ForestBatch, ForestRegressor
from moreplr.forest.checks import number_of_features
from moreplr.rankers._pairs import pair_codes
from moreplr.rankers.leaves import evenly, places
from moreplr.rankers.oblique import Oblique, widened

# Few features keep trees of many labels different; those of one or two need the right ones.
_USUAL_FEATURES = {"shared": 1 / 3, "per_label": 0.6, "pairs": 0.6}
# Where features tell much the same, the square root of their number does; of many that is fewer.
_OTHER_FEATURES = "sqrt"
# A choice out of bag hears a third of the trees, and many are cheap where rows are few. Forests
# of pairs are many as they are,
_TREES = 300
_FEWER_TREES = 100
_MANY_ROWS = 2_000
# and all their trees together draw no more rows than this, unless that leaves them too few.
PAIR_ROWS = 75_000_000
_FEWEST_TREES = 10


class Trees(NamedTuple):
    """How many trees a forest of positions has, and one of a pair."""

    positions: int
    pairs: int

    @classmethod
    def of(cls, n_estimators: int | str, Y: Positions) -> Trees:
        """As many as are asked for, or "auto"; for pairs fewer where these have many rows."""
        if n_estimators == "auto":
            positions, pairs = _TREES if len(Y) <= _MANY_ROWS else _FEWER_TREES, _FEWER_TREES
        else:
            positions = pairs = int(n_estimators)
        enough = PAIR_ROWS // max(rows_of_pairs(Y), 1)
        return cls(positions, min(pairs, max(enough, _FEWEST_TREES)))


def rows_of_pairs(Y: Positions) -> int:
    """How many rows all forests of pairs have together: a row is in those it ranks both of."""
    ranked = np.sum(~np.isnan(Y), axis=1)
    return int(np.sum(ranked * (ranked - 1) // 2))


class Way(NamedTuple):
    """A way to grow: a structure, and how many features a split looks at.

    `features` is for the forests of the structure, `pair_features` for those of pairs: 0 if
    there are none.
    """

    structure: str
    features: int
    pair_features: int = 0


@dataclass(frozen=True)
class Growth:
    """Rows to grow forests on, and what these have in common.

    A forest that was asked for is kept for the next question, until another way is decided on.
    """

    X: Array
    Y: Positions
    weight: Array | None
    positions: str
    trees: Trees
    max_features: Any
    n_jobs: int | None
    seed: int
    n_plain: int | None = None
    _grown: dict[tuple, Any] = field(default_factory=dict, init=False, repr=False)

    def some(self, most: int) -> Growth:
        """The same on some of the rows that compare labels, if there are more rows in all."""
        if len(self.X) <= most:
            return self
        ranked = np.sum(~np.isnan(self.Y), axis=1)
        rows = evenly(np.flatnonzero(ranked >= min(2, ranked.max())), most)
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], Y=self.Y[rows], weight=weight)

    def oblique(self) -> tuple[Growth, Oblique]:
        """The same with oblique features too, and what gives these to new rows.

        Two trees in three look at the plain features only.
        """
        X, oblique = widened(self.X, self.targets, self.seed)
        return replace(self, X=X, n_plain=self.X.shape[1]), oblique

    @cached_property
    def targets(self) -> Positions:
        """The positions that forests predict, NaN for labels that a row does not rank."""
        return encode(self.Y, "modified", "given" if self.positions == "given" else "expected")

    @cached_property
    def places(self) -> NDArray[np.int16]:
        """These positions as small integers."""
        return places(self.targets)

    def features(self, kind: str) -> list[int]:
        """How many features a split may look at; the usual number is the first."""
        if isinstance(self.max_features, str) and self.max_features == "auto":
            wanted = [_USUAL_FEATURES[kind], _OTHER_FEATURES]
        else:
            wanted = [self.max_features]
        return list(dict.fromkeys(number_of_features(each, self.X.shape[1]) for each in wanted))

    @property
    def pairs_take_long(self) -> bool:
        """Whether even the fewest trees of all pairs draw very many rows."""
        return self.trees.pairs * rows_of_pairs(self.Y) > PAIR_ROWS

    def forests(self, way: Way) -> list[ForestRegressor]:
        """One forest for all labels, or one for each."""
        key = way.structure, way.features
        if key not in self._grown:
            unseen = np.isnan(self.targets).all(axis=0)
            filled = np.where(unseen, np.nanmean(self.targets), self.targets)
            columns = [filled] if way.structure == "shared" else list(filled.T[:, :, None])
            # Forests that draw the same rows would err alike.
            rng = check_random_state(self.seed)
            seeds = rng.randint(np.iinfo(np.int32).max, size=len(columns))
            self._grown[key] = [
                ForestRegressor(self.trees.positions, **self._options(way.features, seed)).fit(
                    self.X, column, self.weight, n_plain=self.n_plain
                )
                for seed, column in zip(seeds.tolist(), columns, strict=True)
            ]
        return self._grown[key]

    def pair_forests(self, way: Way) -> ForestBatch | None:
        """A forest for each pair of labels, if there are to be any; all rows weigh the same."""
        if way.pair_features == 0:
            return None
        key = "pairs", way.pair_features
        if key not in self._grown:
            batch = ForestBatch(self.trees.pairs, **self._options(way.pair_features, self.seed))
            self._grown[key] = batch.fit(
                self.X, pair_codes(self.Y), n_classes=3, n_plain=self.n_plain
            )
        return self._grown[key]

    def keep(self, way: Way) -> None:
        """Forget the forests of all other ways."""
        kept = (way.structure, way.features), ("pairs", way.pair_features)
        for key in [key for key in self._grown if key not in kept]:
            del self._grown[key]

    def _options(self, features: int, seed: int) -> dict[str, Any]:
        return {"max_features": features, "n_jobs": self.n_jobs, "random_state": seed}
