"""The weights of members, from the likelihood of held-out relations, and the leaderboard."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._types import Array
from moreplr.metrics._means import mean_of_known
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers._pairs import pair_codes
from moreplr.rankers.auto._judging import Data, Judged
from moreplr.rankers.auto._members import Rows, three_way

# More relations than this would not make a few weights more precise.
_WEIGHED_PAIRS = 500_000
_MOST_STEPS = 1000
# EM stops when the mean log-likelihood rises by less than this in a step.
_TOLERANCE = 1e-8


class Observed(NamedTuple):
    """The observed relations of judged rows: row, pair, code and weight of each."""

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
        """Calibrate on the observed relations; without any, probabilities stay unchanged."""
        seen = three_way(pairs[self.row, self.pair])
        return PairCalibration().fit(seen, self.code, self.weight)

    def likelihoods(self, pairs: NDArray[np.float32]) -> Array:
        """The probabilities of the observed relations according to a member."""
        seen = three_way(pairs[self.row, self.pair])
        return np.take_along_axis(seen, self.code[:, None].astype(np.intp), axis=1)[:, 0]


def mixture_weights(likelihoods: Array, weight: Array, prior: float = 1.0) -> Array:
    """Weights, of sum 1, that maximise the likelihood of the observations, by EM.

    Parameters
    ----------
    likelihoods : array (n_members, n_observations), the probability of each observation
    weight : array (n_observations,)
    prior : the weight, in observations, of equal weights (a Dirichlet prior)

    Examples
    --------
    >>> surer = np.array([[0.9, 0.8, 0.7], [0.5, 0.5, 0.5]])
    >>> mixture_weights(surer, np.ones(3), prior=0.1).round(2)
    array([0.96, 0.04])
    """
    m = len(likelihoods)
    weights = np.full(m, 1 / m)
    total = weight.sum() + prior
    before = -np.inf
    for _ in range(_MOST_STEPS):
        mixed = np.maximum(weights @ likelihoods, np.finfo(float).tiny)
        gain = (weight @ np.log(mixed) + prior * np.log(weights).mean()) / total
        if gain - before < _TOLERANCE:
            break
        before = gain
        shares = likelihoods @ (weight / mixed)
        weights = (weights * shares + prior / m) / total
        weights /= weights.sum()
    return weights


def leaderboard(
    judged: dict[str, Judged],
    left_out: dict[str, str],
    weights: dict[str, float],
    scores: dict[str, tuple[float, float]],
    n_rows: int,
) -> pd.DataFrame:
    """A row for each member, by decreasing weight; `scores` are τ_X and log loss."""
    board = [
        {
            "member": name,
            "weight": weights.get(name, 0.0),
            "tau_x": scores[name][0],
            "log_loss": scores[name][1],
            "seconds": one.seconds,
            "status": _status(one, weights.get(name, 0.0), n_rows),
        }
        for name, one in judged.items()
    ]
    board += [
        {"member": name, "weight": 0.0, "status": f"left out: {reason}"}
        for name, reason in left_out.items()
    ]
    return pd.DataFrame(board).sort_values(
        "weight", ascending=False, kind="stable", ignore_index=True
    )


def _status(one: Judged, weight: float, n_rows: int) -> str:
    status = "mixed" if weight > 0 else "dropped: hardly any weight"
    return status if one.rows is None else f"{status}, fitted on {len(one.rows)} of {n_rows} rows"


def summary(weights: dict[str, float], tau: float, gains: Array, weight: Array | None) -> str:
    """Sentences with the members of the mixture, and whether it is better than the consensus."""
    parts = ", ".join(f"{name} {share:.0%}" for name, share in weights.items())
    text = f"A mixture of {parts}: τ_X {tau:.3f} on held-out rows"
    known = ~np.isnan(gains)
    if known.sum() < 2:
        return f"{text}; too few rows to compare it with the consensus."
    gain = mean_of_known(gains, weight)
    error = float(gains[known].std(ddof=1) / np.sqrt(known.sum()))
    if gain > error:
        return f"{text}, {gain:.3f} ± {error:.3f} more than the consensus."
    return (
        f"{text}. Nothing beats the consensus ({gain:+.3f} ± {error:.3f}): the features do not "
        "seem to help, and predictions are hardly better than one ranking for all rows."
    )
