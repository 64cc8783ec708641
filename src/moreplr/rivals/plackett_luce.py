"""The Plackett–Luce model: a ranking is drawn label by label, each by its share of the skill.

The probability of a ranking is the product over its places of v_l / Σ v, where l is the label
in the place and the sum is over the labels not yet placed. Absent labels take no part, so that
incomplete rankings need no completion.

Ties are not in the paper. Here each label of a bucket is drawn from the same set, of those not
yet placed before the bucket: Breslow's likelihood of the proportional hazards model, which this
one is.
"""

from __future__ import annotations

import numpy as np

from moreplr._types import Array, Positions


def fit_skills(
    Y: Positions,
    weight: Array | None = None,
    *,
    prior: float = 0.1,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> Array:
    """Fit log skills (…, k) to rankings (…, n, k) with weights (…, n).

    Hunter's (2004) minorisation-maximisation, with the gamma prior of Caron and Doucet (2012)
    of shape 1 + `prior` and rate `prior`. Without it the likelihood has no maximum where a
    label always wins or always loses, as it often does among a few neighbours. A label that no
    ranking holds has log skill 0.

    Examples
    --------
    >>> fit_skills(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]), prior=0).round(3)
    array([ 0.347, -0.347])
    """
    weight = np.ones(Y.shape[:-1]) if weight is None else weight
    # Y[m] ≥ Y[s]: label m is among those that s was drawn from.
    drawn_from = (Y[..., None, :] >= Y[..., :, None]).astype(float)
    choice = weight[..., None] * (drawn_from.sum(axis=-1) > 1)  # a single label is no choice
    wins = choice.sum(axis=-2)
    log_skill = np.zeros(wins.shape)
    for _ in range(max_iter):
        skill = np.exp(log_skill)
        sums = np.matmul(drawn_from, skill[..., None, :, None])[..., 0]
        shares = choice / np.where(sums > 0, sums, 1.0)
        expected = np.einsum("...ns,...nsm->...m", shares, drawn_from)
        found = expected + prior > 0  # else no ranking holds the label
        ratio = (wins + prior) / np.where(found, expected + prior, 1.0)
        # Without a prior, a label that never wins has skill 0; this also ranks it last.
        new = np.where(found, np.log(np.maximum(ratio, 1e-100)), 0.0)
        if prior == 0:  # only ratios of skills count
            new -= new.mean(axis=-1, keepdims=True)
        change = np.abs(new - log_skill).max(initial=0.0)
        log_skill = new
        if change < tol:
            break
    return log_skill
