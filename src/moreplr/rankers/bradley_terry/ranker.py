"""Linear utilities: the Bradley–Terry model with ties, given features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from scipy import sparse

from moreplr._types import Array, Seed, Weights
from moreplr._validation import check_name, integer_from, number_from, weighted_rows
from moreplr.base import PairRanker, Pairs
from moreplr.rankers._davidson import probabilities
from moreplr.rankers.bradley_terry._likelihood import Data, solve, standard_errors

ALPHAS = (1e5, 1e4, 1e3, 1e2, 1e1, 1e0, 1e-1)
TIES = ("label", "common")
STANDARD_ERRORS = ("fisher", "rows")
# Precise enough to choose among powers of ten.
_ROUGH = 1e-5


class BradleyTerryRanker(PairRanker):
    """Partial label ranking by linear utilities: the Bradley–Terry model with features and ties.

    Label i has the utility s_i(x) = w_i·x + b_i and the tie tendency t_i. Of two labels,

        P(i≻j) ∝ exp(s_i),   P(j≻i) ∝ exp(s_j),   P(i∼j) ∝ exp((s_i + s_j) / 2 + t_i + t_j),

    which is Davidson's (1970) model of ties. The likelihood is the product over all pairs of
    labels that a row ranks; missing labels are left out. Without features (one constant
    column) this is the Bradley–Terry model with ties, as used for votes between language models.

    Features are standardised internally, and a ridge penalty, chosen by cross-validation, keeps
    the weights small. Missing features are replaced by their mean. Sparse features stay sparse.

    Parameters
    ----------
    alpha : float, optional
        The ridge penalty: alpha / 2 times the sum of the squared weights of the standardised
        features is added to the loss. By default the value of `alphas` with the highest
        likelihood of held-out rankings.
    alphas : sequence of float
        The values to try, from the largest down, until the likelihood falls twice in succession.
    n_folds : int, default=3
        The number of folds of this cross-validation. Row i is in fold ``i % n_folds``, so that
        folds are not random.
    intercept_alpha : float, default=0.01
        The ridge penalty of intercepts and tie tendencies. It keeps them finite if a label always
        wins or no labels are ever tied, and has hardly any effect otherwise: it equals a normal
        prior with a standard deviation of 10.
    ties : {"label", "common"}, default="label"
        A tie tendency for each label, or one for all, as in Davidson's own model, whose ν is
        exp(2t).
    standard_errors : {None, "fisher", "rows"}, default=None
        Compute the standard errors of all coefficients. "fisher" assumes that all pairs are
        independent, which is right if each row compares two labels. "rows" assumes only that
        rows are independent (the sandwich estimator); use it if rows rank more labels. Both need
        a square matrix with a row for each coefficient.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix.
    random_state : int, RandomState instance or None
        Draws the pivots of aggregation "bpa".

    Attributes
    ----------
    coef_ : array (n_labels, n_features), for features on their own scale; each column sums to zero
    intercept_ : array (n_labels,), sums to zero
    ties_ : array (n_labels,), the tie tendencies
    mean_ : array (n_features,), which replaces missing features
    coef_error_, intercept_error_, ties_error_ : their standard errors, if `standard_errors` is set
    alpha_ : float, the ridge in use
    scores_ : dict, the mean log-likelihood of a held-out pair for each ridge that was tried
    labels_ : object array (n_labels,)

    Notes
    -----
    Adding a number to all utilities does not change any probability. Reported utilities sum to
    zero over the labels, and their standard errors are those of the distance to the mean label.

    References
    ----------
    Bradley and Terry (1952): Rank analysis of incomplete block designs. Davidson (1970): On
    extending the Bradley–Terry model to accommodate ties in paired comparison experiments.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> ranker = BradleyTerryRanker(alpha=0.1).fit(X, Y)
    >>> ranker.predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea ~ water']
    >>> ranker.predict_scores([[0.1]]).argmax(axis=1)
    array([1])
    """

    def __init__(
        self,
        alpha: float | None = None,
        *,
        alphas: Any = ALPHAS,
        n_folds: int = 3,
        intercept_alpha: float = 0.01,
        ties: str = "label",
        standard_errors: str | None = None,
        aggregation: str = "auto",
        objective: str = "tau_x",
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.alphas = alphas
        self.n_folds = n_folds
        self.intercept_alpha = intercept_alpha
        self.ties = ties
        self.standard_errors = standard_errors
        self.aggregation = aggregation
        self.objective = objective
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Maximise the penalised likelihood of all pairs that the rows rank.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            May hold NaN unless it is sparse.
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
            Only their ratios count.
        """
        alphas = self._check_parameters()
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        k = len(self.labels_)
        data = Data.of(X, Y, weight, k if self.ties == "label" else 1)
        self.scores_: dict[float, float] = {}
        self.alpha_ = alphas[0]
        if len(alphas) > 1 and data.features.vary and data.n_rows > 1:
            self.alpha_ = self._choose(data, alphas)
        solution = solve(data, np.arange(data.n_rows), self.alpha_, self.intercept_alpha)
        self._keep(solution, data)
        return self

    def _choose(self, data: Data, alphas: list[float]) -> float:
        """The ridge of the highest held-out likelihood; each solution starts from the last."""
        fold = np.arange(data.n_rows) % min(self.n_folds, data.n_rows)
        folds = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
        starts: list[Any] = [None] * len(folds)
        pairs = data.count_pairs()
        worse = 0
        for alpha in alphas:
            loss = 0.0
            for at, (train, test) in enumerate(folds):
                starts[at] = solve(data, train, alpha, self.intercept_alpha, starts[at], _ROUGH)
                loss += data.loss(starts[at], test)
            worse = worse + 1 if self.scores_ and -loss / pairs < max(self.scores_.values()) else 0
            self.scores_[alpha] = -loss / pairs
            if worse == 2:
                break
        return max(self.scores_, key=lambda alpha: self.scores_[alpha])

    def _keep(self, solution: Array, data: Data) -> None:
        k, features = len(self.labels_), data.features
        weights, intercept, ties = data.places(solution)
        self.coef_ = weights / features.scale
        self.coef_ -= self.coef_.mean(axis=0)
        self.intercept_ = intercept - self.coef_ @ features.mean
        self.intercept_ -= self.intercept_.mean()
        self.ties_ = np.broadcast_to(ties, k).copy()
        self.mean_ = features.mean
        if self.standard_errors is not None:
            self.coef_error_, self.intercept_error_, self.ties_error_ = standard_errors(
                solution, data, self.alpha_, self.intercept_alpha, self.standard_errors
            )

    def predict_scores(self, X: Any) -> Any:
        """Predict utilities of shape (n_samples, n_labels); the best label has the largest."""
        return self._output(self._scores(self._check_predict(X)), X)

    def _scores(self, X: Any) -> Array:
        if not sparse.issparse(X):
            X = np.where(np.isnan(X), self.mean_, X)
        return X @ self.coef_.T + self.intercept_

    def _pairs(self, X: Array) -> Pairs:
        n, k = X.shape[0], len(self.labels_)
        pairs = Pairs.zeros(n, k)
        scores = np.hstack([self._scores(X), np.broadcast_to(self.ties_, (n, k))])
        probabilities(np.ascontiguousarray(scores), *pairs)
        return pairs

    def _check_parameters(self) -> list[float]:
        """The ridges to choose from, the largest first."""
        self._check_decoding()
        check_name("ties", self.ties, TIES)
        integer_from("n_folds", self.n_folds, 2)
        if self.standard_errors is not None:
            check_name("standard_errors", self.standard_errors, STANDARD_ERRORS)
        number_from("intercept_alpha", self.intercept_alpha, 0)
        if self.alpha is not None:
            return [number_from("alpha", self.alpha, 0)]
        if not isinstance(self.alphas, Iterable):
            raise TypeError(f"alphas must be a sequence of ridges, got {self.alphas!r}")
        alphas = sorted({number_from("alphas", alpha, 0) for alpha in self.alphas}, reverse=True)
        if not alphas:
            raise ValueError("alphas is empty: give at least one ridge")
        return alphas

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
