"""The penalised likelihood of linear utilities: its data, its maximum and standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.utils.sparsefuncs import mean_variance_axis
from threadpoolctl import threadpool_limits

from moreplr._types import Array, Positions
from moreplr.base import chunks
from moreplr.rankers._davidson import add_gradients, information, total_loss
from moreplr.rankings import dense_ranks

Ranks = NDArray[np.intp]


@dataclass(frozen=True)
class Features:
    """Standardised features, (X - mean) / scale, which are not stored if X is sparse."""

    X: Any
    mean: Array
    scale: Array
    standardised: bool

    @staticmethod
    def of(X: Any, weight: Array) -> Features:
        if sparse.issparse(X):
            if np.isnan(X.data).any():
                raise ValueError("sparse features can't hold NaN: make them dense, or fill them")
            mean, variance = mean_variance_axis(X, axis=0, weights=weight)
        else:
            known = ~np.isnan(X)
            total = np.maximum(weight @ known, 1e-300)
            mean = weight @ np.where(known, X, 0.0) / total
            # Missing features are replaced by the mean, and do not add to the variance.
            away = np.where(known, X - mean, 0.0)
            variance = weight @ away**2 / total
        scale = np.sqrt(variance)
        constant = scale <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
        scale[constant] = np.inf
        if sparse.issparse(X):
            return Features(X, mean, scale, False)
        return Features(np.ascontiguousarray(away / scale), mean, scale, True)

    @property
    def vary(self) -> bool:
        return bool(np.isfinite(self.scale).any())

    def times(self, weights: Array) -> Array:
        """The part of the utilities that depends on features, (n, k), for weights (k, p)."""
        if self.standardised:
            return self.X @ weights.T
        own = weights / self.scale
        return self.X @ own.T - own @ self.mean

    def transposed_times(self, slopes: Array) -> Array:
        """The derivatives (k, p) with respect to weights, from those of the utilities (n, k)."""
        if self.standardised:
            return slopes.T @ self.X
        return ((self.X.T @ slopes).T - np.outer(slopes.sum(axis=0), self.mean)) / self.scale

    def rows(self, at: slice) -> Array:
        if self.standardised:
            return self.X[at]
        return (self.X[at].toarray() - self.mean) / self.scale


@dataclass(frozen=True)
class Data:
    """Data of the likelihood: features, ranks (-1 where a label is missing) and weights."""

    features: Features
    ranks: Ranks
    weight: Array
    n_ties: int

    @staticmethod
    def of(X: Any, Y: Positions, weight: Array | None, n_ties: int) -> Data:
        weight = np.ones(len(Y)) if weight is None else weight
        ranks = np.nan_to_num(dense_ranks(Y), nan=-1.0).astype(np.intp)
        return Data(Features.of(X, weight), ranks, weight, n_ties)

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
        """Derivatives with respect to a solution, from those of utilities and tendencies."""
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


def solve(
    data: Data,
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
    # The products are so small that a second thread would mostly wait.
    with threadpool_limits(1, "blas"):
        return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x


def standard_errors(
    solution: Array, data: Data, alpha: float, intercept_alpha: float, kind: str
) -> tuple[Array, Array, Array]:
    """Standard errors of weights, intercepts and tie tendencies, on the scale of the features."""
    (n, k), p = data.ranks.shape, len(data.features.mean)
    m, scores = data.n_ties, data.scores(solution)
    total = np.diag(data.ridge(alpha, intercept_alpha))
    weights, intercepts, ties = data.places(np.arange(len(total)))
    places = np.column_stack([weights, intercepts])  # of a label, in the solution
    spread = np.zeros_like(total)
    for rows in chunks(n, 8 * (3 * k * k + len(total))):
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
    # The likelihood does not depend on the sum over labels, so any curvature of it is right.
    for column in places.T:
        total[np.ix_(column, column)] += 1.0
    covariance = np.linalg.inv(total)
    if kind == "rows":
        covariance = covariance @ spread @ covariance
    change = np.eye(p + 1)  # from standardised to original features
    change[:p, :p] = np.diag(1 / data.features.scale)
    change[p, :p] = -data.features.mean / data.features.scale
    grid = covariance[np.ix_(places.ravel(), places.ravel())].reshape(k, p + 1, k, p + 1)
    centred = np.eye(k) - 1 / k
    grid = np.einsum("ai,ifjg,aj->afg", centred, grid, centred, optimize=True)
    variance = np.einsum("ef,afg,eg->ae", change, grid, change, optimize=True)
    errors = np.sqrt(np.maximum(variance, 0.0))
    own_ties = np.broadcast_to(np.sqrt(np.diag(covariance)[ties]), k)
    return errors[:, :p], errors[:, p], own_ties.copy()
