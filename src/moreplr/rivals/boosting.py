"""Boosted label ranking trees, after AdaBoost.R2."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import compares, integer_from, take, weighted_rows
from moreplr.base import BaseRanker
from moreplr.metrics import tau_x_score
from moreplr.rivals.borda import expected_positions, ranks_of
from moreplr.rivals.tree import LabelRankingTree


class BoostLR(BaseRanker):
    """BoostLR: boosted rankers; rows that are hard to predict are drawn more often.

    In each round a ranker learns from n rows drawn with replacement, by their weights. The loss
    of a row is (1 − τ)/2 of its prediction, and of the round L the mean over all rows by their
    weights. With β = L/(1 − L) the weight of a row of loss l is multiplied by β^(1 − l), and the
    round's predictions count log(1/β).

    Choices made here: predictions are aggregated by Borda's count. τ is τ_X, which is Kendall's
    where no labels are tied, over the labels that a training row ranks. A round with L ≥ ½ ends
    the boosting and is thrown away, unless it is the first. A round without loss ends it, too,
    and predicts alone, as in the limit of the weights.

    Parameters
    ----------
    estimator : ranker, optional
        What learns in each round; by default a :class:`LabelRankingTree`.
    n_estimators : int, default=50
        The most rounds.
    random_state : int, RandomState instance or None
        Draws the rows, and the seeds of rankers that take one.

    Attributes
    ----------
    estimators_ : list of the fitted rankers
    estimator_weights_ : array of their weights log(1/β)
    losses_ : array of the mean loss L of each
    labels_ : object array (n_labels,)

    References
    ----------
    Dery and Shmueli (2020): BoostLR: a boosting-based learning ensemble for label ranking tasks
    (arXiv 2001.07744). Drucker (1997): Improving regressors using boosting techniques.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]
    >>> Y = ["a > b", "a > b", "a > b", "b > a", "b > a", "b > a"]
    >>> BoostLR(random_state=0).fit(X, Y).predict_text([[0.0], [1.0]])
    ['a > b', 'b > a']
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit a ranker in each round; `sample_weight` holds the weights of the first one."""
        rounds = integer_from("n_estimators", self.n_estimators, 1)
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        weight = np.ones(len(X)) if weight is None else weight
        X, Y, weight = take(compares(Y), X, Y, weight)
        rng = check_random_state(self.random_state)
        self.estimators_: list[Any] = []
        losses: list[float] = []
        betas: list[float] = []
        for _ in range(rounds):
            share = weight / weight.sum()
            drawn = rng.choice(len(X), len(X), p=share)
            ranker = self._new(rng).fit(X[drawn], Y[drawn])
            loss = row_losses(Y, np.asarray(ranker.predict(X)))
            mean = float(share @ loss)
            if mean >= 0.5 and self.estimators_:
                break
            beta = mean / (1 - mean) if mean < 1 else 1.0
            if mean == 0:
                self.estimators_, losses, betas = [], [], []
            self.estimators_.append(ranker)
            losses.append(mean)
            betas.append(beta)
            if mean == 0 or mean >= 0.5:
                break
            weight = share * beta ** (1 - loss)
        self.losses_ = np.array(losses)
        # A single ranker decides, whatever its weight.
        self.estimator_weights_ = np.log(1 / np.array(betas)) if len(betas) > 1 else np.ones(1)
        return self

    def _ranks(self, X: Array) -> Positions:
        sums = np.zeros((len(X), len(self.labels_)))
        for ranker, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            sums += weight * expected_positions(np.asarray(ranker.predict(X)))
        return ranks_of(sums / self.estimator_weights_.sum())

    def _new(self, rng: Any) -> Any:
        ranker = LabelRankingTree() if self.estimator is None else clone(self.estimator)
        if "random_state" in ranker.get_params(deep=False):
            ranker.set_params(random_state=rng.randint(2**31 - 1))
        return ranker


def row_losses(Y: Array, predicted: Array) -> Array:
    """(1 − τ_X)/2 of each row: 0 for the true ranking, 1 for its reverse.

    Examples
    --------
    >>> row_losses(np.array([[1.0, 2.0, 3.0]] * 2), np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    array([0., 1.])
    """
    # A single label has no pair, and no loss.
    return np.nan_to_num((1 - tau_x_score(Y, predicted, per_sample=True)) / 2)
