"""The weights of a mixture, by the likelihood of relations that its members have not seen."""

from __future__ import annotations

import numpy as np

from moreplr._types import Array

_MOST_STEPS = 1000
# Of the mean log-likelihood, from step to step.
_TOLERANCE = 1e-8


def mixture_weights(likelihoods: Array, weight: Array, prior: float = 1.0) -> Array:
    """Weights, of sum 1, that maximise the likelihood of the observations, by EM.

    Parameters
    ----------
    likelihoods : array (n_members, n_observations), what each member gave what was observed
    weight : array (n_observations,), how much each of them counts
    prior : how many observations speak for equal weights (a Dirichlet prior)

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
