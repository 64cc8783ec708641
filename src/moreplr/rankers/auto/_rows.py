"""The rows that members are fitted on and judged by, and the relations that were observed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers._pairs import pair_codes
from moreplr.rankers.auto._members import Rows, three_way

# Seven weights need no more relations than this.
_WEIGHED_PAIRS = 500_000
# Out-of-fold pairs of one member.
_HELD_OUT_BYTES = 1 << 28


class Data(NamedTuple):
    """Rows that compare labels, the folds that are held out, and all rows of these."""

    X: Array
    Y: Positions
    weight: Array | None
    folds: list[tuple[Rows, Rows]]
    judged: Rows
    grouped: bool
    order: Rows

    @staticmethod
    def of(
        X: Array,
        Y: Positions,
        weight: Array | None,
        groups: NDArray[np.intp] | None,
        rng: np.random.RandomState,
        *,
        n_folds: int,
        most: int,
    ) -> Data:
        n, k = Y.shape
        units = np.arange(n) if groups is None else groups
        n_units = int(units.max()) + 1
        n_folds = min(n_folds, n_units)
        fold = rng.permutation(np.arange(n_units) % max(n_folds, 1))[units]
        order = rng.permutation(n)
        most = max(1, min(most, _HELD_OUT_BYTES // max(4 * k * k, 1)))
        folds: list[tuple[Rows, Rows]] = []
        if n_folds > 1:
            for held in range(n_folds):
                left = most - sum(len(test) for _, test in folds)
                if left <= 0:
                    break
                test = np.flatnonzero(fold == held)
                if len(test) > left:
                    test = np.sort(order[fold[order] == held][:left])
                folds.append((np.flatnonzero(fold != held), test))
        judged = np.concatenate([np.empty(0, np.intp), *(test for _, test in folds)])
        return Data(X, Y, weight, folds, np.sort(judged), groups is not None, order)

    @property
    def judged_weight(self) -> Array | None:
        return None if self.weight is None else self.weight[self.judged]

    def drawn(self, count: int) -> Rows:
        """So many rows, drawn at random: the same ones each time."""
        return np.sort(self.order[:count])

    def part(self, rows: Rows) -> tuple[Array, Positions, Array | None]:
        """Features, rankings and weights of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return self.X[rows], self.Y[rows], weight


class Observed(NamedTuple):
    """The relations of judged rows: where they are among the pairs, and how much they count."""

    row: Rows
    pair: Rows
    code: NDArray[np.int8]
    weight: Array

    @staticmethod
    def of(data: Data) -> Observed:
        codes = pair_codes(data.Y[data.judged])
        known = codes >= 0
        per_row = np.maximum(known.sum(axis=1), 1)
        weight = data.judged_weight
        weights = np.ones(len(codes)) if weight is None else weight
        row, pair = np.nonzero(known)
        step = -(-len(row) // _WEIGHED_PAIRS) or 1
        row, pair = row[::step], pair[::step]
        # Each row counts as one observation, however many pairs it ranks.
        return Observed(row, pair, codes[row, pair], step * (weights / per_row)[row])

    def calibration(self, pairs: NDArray[np.float32]) -> PairCalibration:
        """Fitted on the observed relations; leaves all as it is where there are none."""
        seen = three_way(pairs[self.row, self.pair])
        return PairCalibration().fit(seen, self.code, self.weight)

    def likelihoods(self, pairs: NDArray[np.float32]) -> Array:
        """The probabilities that a member gave to what was observed."""
        seen = three_way(pairs[self.row, self.pair])
        return np.take_along_axis(seen, self.code[:, None].astype(np.intp), axis=1)[:, 0]
