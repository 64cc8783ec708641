"""Calibration of pair probabilities, with three parameters that all pairs share.

Calibrating each pair separately would need many rows for each of its three relations. Shared
parameters must treat ≻ and ≺ alike, since the order of the labels in a pair is arbitrary. So there
is one power for both strict relations, and a power and a factor for the tie.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from moreplr._types import Array

# Smaller probabilities are raised to this: a forest of 100 trees has steps of 0.01.
_FLOOR = 0.005
_IDENTITY = np.array([1.0, 1.0, 0.0])
# The strength of the prior for unchanged probabilities, as a number of observations.
_PRIOR = 1.0


class PairCalibration:
    """Maps (p, t, s) to (p^a, t^b · e^c, s^a), normalised, to fit held-out data best.

    Attributes
    ----------
    powers_ : array (a, b, c)

    Examples
    --------
    >>> sure = np.array([[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]] * 20)
    >>> codes = np.array([0, 2] * 15 + [2, 0] * 5)
    >>> PairCalibration().fit(sure, codes).transform(sure[:1]).round(2)
    array([[0.75, 0.  , 0.25]])
    """

    powers_: Array

    def fit(
        self, probabilities: Array, codes: NDArray[np.int8], weight: Array | None = None
    ) -> Self:
        """Fit the powers to held-out probabilities (m, 3) and the true codes (m,)."""
        logs = _logs(probabilities)
        hit = np.eye(3)[codes]
        weights = np.ones(len(logs)) if weight is None else weight

        def loss(powers: Array) -> tuple[float, Array]:
            shares = log_softmax(_apply(logs, powers), axis=1)
            residual = weights[:, None] * (np.exp(shares) - hit)
            strict = residual[:, 0] @ logs[:, 0] + residual[:, 2] @ logs[:, 2]
            tie = residual[:, 1] @ logs[:, 1]
            slope = np.array([strict, tie, residual[:, 1].sum()])
            away = powers - _IDENTITY
            value = -(weights @ (hit * shares).sum(axis=1)) + _PRIOR / 2 * away @ away
            return value, slope + _PRIOR * away

        bounds = [(0.0, None), (0.0, None), (None, None)]
        self.powers_ = minimize(loss, _IDENTITY, jac=True, method="L-BFGS-B", bounds=bounds).x
        return self

    def transform(self, probabilities: Array) -> Array:
        """Calibrated probabilities, of the same shape (…, 3)."""
        return np.exp(log_softmax(_apply(_logs(probabilities), self.powers_), axis=-1))


def _logs(probabilities: Array) -> Array:
    return np.log(np.maximum(probabilities, _FLOOR))


def _apply(logs: Array, powers: Array) -> Array:
    strict, tie, factor = powers
    return logs * np.array([strict, tie, strict]) + np.array([0.0, factor, 0.0])
