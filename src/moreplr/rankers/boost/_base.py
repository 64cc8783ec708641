"""The model without features: the scores that boosting starts from."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from moreplr._types import Array, Positions
from moreplr.rankers import _counts
from moreplr.rankers._davidson import probabilities

# A normal prior with a standard deviation of 10. It keeps scores finite if a label always wins,
# and is too weak to matter otherwise.
_RIDGE = 0.01
# The tie tendency if no labels are ever tied: the probability of a tie is exp(-40) at most.
NEVER_TIED = -20.0


def featureless(Y: Positions, weights: Array) -> Array:
    """Scores and tie tendencies (2k,) that maximise the likelihood of the observed pairs.

    A label that is never compared gets an average score and tie tendency.
    """
    n, k = Y.shape
    wins, ties = np.zeros((1, k, k)), np.zeros((1, k, k))
    _counts.add_pairs(Y, np.array([0, n]), np.arange(n), weights, wins, ties)
    won, tied = wins[0], ties[0] + ties[0].T
    np.fill_diagonal(tied, 0.0)
    compared = won + won.T + tied
    P, Q = np.empty((1, k, k)), np.empty((1, k, k))

    def loss(scores: Array) -> tuple[float, Array]:
        probabilities(scores[None], P, Q)
        least = np.finfo(float).tiny
        value = -np.sum(won * np.log(np.maximum(P[0], least)))
        value -= np.sum(tied * np.log(np.maximum(Q[0], least))) / 2
        by_scores = compared * (P[0] + Q[0] / 2) - won - tied / 2
        by_ties = compared * Q[0] - tied
        slope = np.concatenate([by_scores.sum(axis=1), by_ties.sum(axis=1)])
        return value + _RIDGE / 2 * scores @ scores, slope + _RIDGE * scores

    scores: Array = minimize(loss, np.zeros(2 * k), jac=True, method="L-BFGS-B").x
    unknown = compared.sum(axis=1) == 0
    if compared.any() and not tied.any():
        scores[k:] = NEVER_TIED
    elif unknown.any() and compared.any():
        scores[k:][unknown] = scores[k:][~unknown].mean()
    return scores
