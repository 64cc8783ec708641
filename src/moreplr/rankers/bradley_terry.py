"""Linear utilities: the Bradley–Terry model with ties, given features."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.utils.sparsefuncs import mean_variance_axis

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import check_name, integer_from, weighted_rows
from moreplr.base import CHUNK_BYTES, PairRanker, Pairs
from moreplr.rankers._davidson import add_gradients, information, probabilities, total_loss
from moreplr.rankings import dense_ranks

Ranks = NDArray[np.intp]
ALPHAS = (1e5, 1e4, 1e3, 1e2, 1e1, 1e0, 1e-1)
TIES = ("label", "common")
STANDARD_ERRORS = ("fisher", "rows")
# A choice among powers of ten needs no more of each solution; its start is near it.
_ROUGH = 1e-5


class BradleyTerryRanker(PairRanker):
    """Partial label ranking by linear utilities: the Bradley–Terry model with features and ties.

    Label i has the utility s_i(x) = w_i·x + b_i and the tie tendency t_i. Of two labels,

        P(i≻j) ∝ exp(s_i),   P(j≻i) ∝ exp(s_j),   P(i∼j) ∝ exp((s_i + s_j) / 2 + t_i + t_j),

    which is Davidson's (1970) model of ties. The likelihood is the product over all pairs of
    labels that a row ranks; a missing label says nothing. Without features (one constant
    column) this is the Bradley–Terry model with ties, as used for votes between language models.

    Features are standardised inside, and a ridge, chosen by cross-validation, keeps the weights
    small. A missing feature counts as its mean. Sparse features are not made dense.

    Parameters
    ----------
    alpha : float, optional
        The ridge: the loss grows by alpha / 2 times the sum of the squared weights of the
        standardised features. By default the one of `alphas` under which rankings that were
        held out are most likely.
    alphas : sequence of float
        What is tried, from the largest down, until the likelihood falls twice in succession.
    n_folds : int, default=3
        The number of folds of this cross-validation. Row i is in fold ``i % n_folds``, so that
        nothing is drawn at random.
    intercept_alpha : float, default=0.01
        The same for the intercepts and tie tendencies. It keeps them finite where a label always
        wins or nothing is ever tied, and is too weak to be seen elsewhere: it is that of a
        normal prior with a standard deviation of 10.
    ties : {"label", "common"}, default="label"
        A tie tendency for each label, or one for all, as in Davidson's own model, whose ν is
        exp(2t).
    standard_errors : {None, "fisher", "rows"}, default=None
        Compute the standard errors of all coefficients. With "fisher" all pairs count as
        independent observations, as is right where a row compares two labels. With "rows" only
        rows do (the sandwich estimator), as is right where they rank more. Takes a square
        matrix with a row for each coefficient.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix.
    random_state : int, RandomState instance or None
        Draws the pivots of aggregation "bpa".

    Attributes
    ----------
    coef_ : array (n_labels, n_features), for the features as they are; each column sums to zero
    intercept_ : array (n_labels,), sums to zero
    ties_ : array (n_labels,), the tie tendencies
    mean_ : array (n_features,), what counts for a missing feature
    coef_error_, intercept_error_, ties_error_ : their standard errors, if wanted
    alpha_ : float, the ridge in use
    scores_ : dict, the mean log-likelihood of a held-out pair for each ridge that was tried
    labels_ : object array (n_labels,)

    Notes
    -----
    Adding a number to all utilities changes no probability. Utilities that sum to zero over the
    labels are the ones reported, and their standard errors are those of the distance to the
    mean label.

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
        data = _Data.of(X, Y, weight, k if self.ties == "label" else 1)
        self.scores_: dict[float, float] = {}
        self.alpha_ = alphas[0]
        if len(alphas) > 1 and data.features.vary and data.n_rows > 1:
            self.alpha_ = self._choose(data, alphas)
        solution = _solve(data, np.arange(data.n_rows), self.alpha_, self.intercept_alpha)
        self._keep(solution, data)
        return self

    def _choose(self, data: _Data, alphas: list[float]) -> float:
        """The ridge of the highest held-out likelihood; each solution starts from the last."""
        fold = np.arange(data.n_rows) % min(self.n_folds, data.n_rows)
        folds = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
        starts: list[Any] = [None] * len(folds)
        pairs = data.count_pairs()
        worse = 0
        for alpha in alphas:
            loss = 0.0
            for at, (train, test) in enumerate(folds):
                starts[at] = _solve(data, train, alpha, self.intercept_alpha, starts[at], _ROUGH)
                loss += data.loss(starts[at], test)
            worse = worse + 1 if self.scores_ and -loss / pairs < max(self.scores_.values()) else 0
            self.scores_[alpha] = -loss / pairs
            if worse == 2:
                break
        return max(self.scores_, key=lambda alpha: self.scores_[alpha])

    def _keep(self, solution: Array, data: _Data) -> None:
        k, features = len(self.labels_), data.features
        weights, intercept, ties = data.places(solution)
        self.coef_ = weights / features.scale
        self.coef_ -= self.coef_.mean(axis=0)
        self.intercept_ = intercept - self.coef_ @ features.mean
        self.intercept_ -= self.intercept_.mean()
        self.ties_ = np.broadcast_to(ties, k).copy()
        self.mean_ = features.mean
        if self.standard_errors is not None:
            self.coef_error_, self.intercept_error_, self.ties_error_ = _standard_errors(
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
        pairs = Pairs(np.empty((n, k, k)), np.empty((n, k, k)))
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
        _check_ridge("intercept_alpha", self.intercept_alpha)
        if self.alpha is not None:
            return [_check_ridge("alpha", self.alpha)]
        alphas = sorted({_check_ridge("alphas", alpha) for alpha in self.alphas}, reverse=True)
        if not alphas:
            raise ValueError("alphas is empty: give at least one ridge")
        return alphas

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class _Features:
    """Features X as the model sees them, (X - mean) / scale; never computed if X is sparse."""

    X: Any
    mean: Array
    scale: Array
    standardised: bool

    @staticmethod
    def of(X: Any, weight: Array) -> _Features:
        if sparse.issparse(X):
            if np.isnan(X.data).any():
                raise ValueError("sparse features can't hold NaN: make them dense, or fill them")
            mean, variance = mean_variance_axis(X, axis=0, weights=weight)
        else:
            known = ~np.isnan(X)
            total = np.maximum(weight @ known, 1e-300)
            mean = weight @ np.where(known, X, 0.0) / total
            # A missing feature is its mean, so that it does not count for the spread either.
            away = np.where(known, X - mean, 0.0)
            variance = weight @ away**2 / total
        scale = np.sqrt(variance)
        constant = scale <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
        scale[constant] = np.inf
        if sparse.issparse(X):
            return _Features(X, mean, scale, False)
        return _Features(np.ascontiguousarray(away / scale), mean, scale, True)

    @property
    def vary(self) -> bool:
        return bool(np.isfinite(self.scale).any())

    def times(self, weights: Array) -> Array:
        """The part of the utilities that depends on features, (n, k), by weights (k, p)."""
        if self.standardised:
            return self.X @ weights.T
        own = weights / self.scale
        return self.X @ own.T - own @ self.mean

    def transposed_times(self, slopes: Array) -> Array:
        """The derivatives by the weights, (k, p), by those by the utilities, (n, k)."""
        if self.standardised:
            return slopes.T @ self.X
        return ((self.X.T @ slopes).T - np.outer(slopes.sum(axis=0), self.mean)) / self.scale

    def rows(self, at: slice) -> Array:
        if self.standardised:
            return self.X[at]
        return (self.X[at].toarray() - self.mean) / self.scale


@dataclass(frozen=True)
class _Data:
    """What the likelihood needs: features, ranks (-1 where a label is missing) and weights."""

    features: _Features
    ranks: Ranks
    weight: Array
    n_ties: int

    @staticmethod
    def of(X: Any, Y: Positions, weight: Array | None, n_ties: int) -> _Data:
        weight = np.ones(len(Y)) if weight is None else weight / weight.mean()
        ranks = np.nan_to_num(dense_ranks(Y), nan=-1.0).astype(np.intp)
        return _Data(_Features.of(X, weight), ranks, weight, n_ties)

    @property
    def n_rows(self) -> int:
        return len(self.ranks)

    def count_pairs(self) -> float:
        m = (self.ranks >= 0).sum(axis=1)
        return max(float(self.weight @ (m * (m - 1) / 2)), 1e-300)

    def scores(self, solution: Array) -> Array:
        """Utilities and tie tendencies (n, 2k) of all rows."""
        n, k = self.ranks.shape
        weights, intercept, ties = self.places(solution)
        scores = np.empty((n, 2 * k))
        scores[:, :k] = self.features.times(weights) + intercept
        scores[:, k:] = ties
        return scores

    def places(self, solution: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Weights (k, p), intercepts (k,) and tie tendencies (n_ties,) of a solution."""
        k, m = self.ranks.shape[1], self.n_ties
        return solution[: -k - m].reshape(k, -1), solution[-k - m : -m], solution[-m:]

    def slope(self, slopes: Array) -> Array:
        """Derivatives by a solution, from those of all rows by utilities and tendencies."""
        k = self.ranks.shape[1]
        by_intercept, by_ties = np.split(slopes.sum(axis=0), 2)
        by_weights = self.features.transposed_times(slopes[:, :k]).ravel()
        by_ties = by_ties if self.n_ties == k else by_ties.sum(keepdims=True)
        return np.concatenate([by_weights, by_intercept, by_ties])

    def ridge(self, alpha: float, intercept_alpha: float) -> Array:
        k, p = self.ranks.shape[1], len(self.features.mean)
        ridge = np.full(k * p + k + self.n_ties, intercept_alpha)
        ridge[: k * p] = alpha
        return ridge

    def loss(self, solution: Array, rows: Ranks) -> float:
        return float(total_loss(rows, self.scores(solution), self.ranks, self.weight))


def _solve(
    data: _Data,
    rows: Ranks,
    alpha: float,
    intercept_alpha: float,
    start: Array | None = None,
    tolerance: float = 1e-12,
) -> Array:
    """Minimise the penalised loss of some rows by L-BFGS."""
    n, k = data.ranks.shape
    slopes, curves = np.zeros((n, 2 * k)), np.zeros((n, 2 * k))
    ridge = data.ridge(alpha, intercept_alpha)

    def loss(solution: Array) -> tuple[float, Array]:
        scores = data.scores(solution)
        add_gradients(rows, scores, data.ranks, data.weight, slopes, curves)
        value = total_loss(rows, scores, data.ranks, data.weight) + ridge @ solution**2 / 2
        return value, data.slope(slopes) + ridge * solution

    start = np.zeros(len(ridge)) if start is None else start
    # Slopes are sums over the rows.
    options = {"maxiter": 1000, "ftol": tolerance, "gtol": np.sqrt(tolerance) * len(rows) / 10}
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x


def _standard_errors(
    solution: Array, data: _Data, alpha: float, intercept_alpha: float, kind: str
) -> tuple[Array, Array, Array]:
    """Standard errors of weights, intercepts and tie tendencies, for features as they are."""
    (n, k), p = data.ranks.shape, len(data.features.mean)
    m, scores = data.n_ties, data.scores(solution)
    total = np.diag(data.ridge(alpha, intercept_alpha))
    weights, intercepts, ties = data.places(np.arange(len(total)))
    places = np.column_stack([weights, intercepts])  # of a label, in the solution
    spread = np.zeros_like(total)
    step = max(1, CHUNK_BYTES // (8 * (3 * k * k + len(total))))
    for rows in (slice(at, at + step) for at in range(0, n, step)):
        X = np.column_stack([data.features.rows(rows), np.ones(len(scores[rows]))])
        blocks = [np.empty((len(X), k, k)) for _ in range(3)]
        information(scores[rows], data.ranks[rows], data.weight[rows], *blocks)
        by_scores, by_ties, mixed = blocks
        for i in range(k):
            for j in range(k):
                total[np.ix_(places[i], places[j])] += X.T @ (by_scores[:, i, j, None] * X)
            across = X.T @ mixed[:, i]
            across = across if m == k else across.sum(axis=1, keepdims=True)
            total[np.ix_(places[i], ties)] += across
            total[np.ix_(ties, places[i])] += across.T
        summed = by_ties.sum(axis=0)
        total[np.ix_(ties, ties)] += summed if m == k else summed.sum()
        if kind == "rows":
            slopes, curves = np.empty((2, len(X), 2 * k))
            every = np.arange(len(X))
            add_gradients(every, scores[rows], data.ranks[rows], data.weight[rows], slopes, curves)
            own = np.empty((len(X), len(total)))
            own[:, places.ravel()] = (slopes[:, :k, None] * X[:, None]).reshape(len(X), -1)
            own[:, ties] = slopes[:, k:] if m == k else slopes[:, k:].sum(axis=1, keepdims=True)
            spread += own.T @ own
    # Nothing depends on what all labels have in common, which may have any curvature therefore.
    for column in places.T:
        total[np.ix_(column, column)] += 1.0
    covariance = np.linalg.inv(total)
    if kind == "rows":
        covariance = covariance @ spread @ covariance
    change = np.eye(p + 1)  # from standardised features to features as they are
    change[:p, :p] = np.diag(1 / data.features.scale)
    change[p, :p] = -data.features.mean / data.features.scale
    grid = covariance[np.ix_(places.ravel(), places.ravel())].reshape(k, p + 1, k, p + 1)
    centred = np.eye(k) - 1 / k
    grid = np.einsum("ai,ifjg,aj->afg", centred, grid, centred, optimize=True)
    variance = np.einsum("ef,afg,eg->ae", change, grid, change, optimize=True)
    errors = np.sqrt(np.maximum(variance, 0.0))
    own_ties = np.broadcast_to(np.sqrt(np.diag(covariance)[ties]), k)
    return errors[:, :p], errors[:, p], own_ties.copy()


def _check_ridge(name: str, value: Any) -> float:
    known = isinstance(value, Real) and not isinstance(value, bool)
    if not (known and 0 <= float(value) < np.inf):
        raise ValueError(f"{name} must be finite numbers of at least 0, got {value!r}")
    return float(value)
