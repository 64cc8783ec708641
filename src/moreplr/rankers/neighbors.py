"""Nearest neighbours: the aggregated relations of the nearest training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import check_name, compares, integer_from, take, weighted_rows
from moreplr.base import PairRanker, Pairs
from moreplr.metrics._rankings import tau_x_of_rows
from moreplr.rankers import _counts
from moreplr.rankers._pairs import consensus

WEIGHTS = ("distance", "uniform")
CANDIDATES = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90)
# More rows than this would hardly improve the choice among a dozen sizes.
_SCORED_ROWS = 1_000
_NO_DISTANCE = 1e-300


class NeighborSearch:
    """The training rows as an index, and the number of neighbours."""

    n_neighbors: int | None
    metric: Any
    n_jobs: int | None

    def _search_among(self, X: Array, Y: Positions, weight: Array | None) -> None:
        """Index the rows that compare labels, and choose the number of neighbours."""
        if self.n_neighbors is not None:
            integer_from("n_neighbors", self.n_neighbors, 1)
        comparing = compares(Y)  # other rows would be neighbours without votes
        if comparing.any():
            X, Y, weight = take(comparing, X, Y, weight)
        self.rankings_, self.sample_weight_ = Y, weight
        self.index_ = NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(X)
        self.scores_: dict[int, float] = {}
        if self.n_neighbors is None:
            self.n_neighbors_ = self._choose(X)
        elif self.n_neighbors > len(X):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is more than the {len(X)} training rows that "
                f"compare labels (n_samples={len(X)})"
            )
        else:
            self.n_neighbors_ = int(self.n_neighbors)

    def _choose(self, X: Array) -> int:
        raise NotImplementedError


class NearestNeighborsRanker(NeighborSearch, PairRanker):
    """Partial label ranking by the preferences of the nearest neighbours.

    The relations of each pair of labels are counted in the training rows nearest to a new one,
    and aggregated into a bucket order. If no neighbour ranks both labels of a pair, the shares of
    the whole training set are used. Distances depend on the scale of the features, so put a
    scaler in front.

    Parameters
    ----------
    n_neighbors : int, optional
        The number of neighbours. By default it is chosen from 1 to 90, by the mean τ_X of
        leave-one-out predictions of at most 1,000 training rows.
    weights : {"distance", "uniform"}, default="distance"
        Weigh neighbours by the inverse of their distance, or equally.
    metric : str or callable, default="euclidean"
        As in :class:`sklearn.neighbors.NearestNeighbors`; "nan_euclidean" takes features with
        missing values.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix P(i≻j) + ½P(i∼j).
    n_jobs : int, optional
        The number of threads of the search.
    random_state : int, RandomState instance or None
        Draws the pivots of aggregation "bpa".

    Attributes
    ----------
    n_neighbors_ : int, the size in use
    scores_ : dict of the leave-one-out τ_X of each size that was tried; empty if none was
    index_ : the fitted :class:`sklearn.neighbors.NearestNeighbors`
    rankings_, sample_weight_ : positions and weights (or None) of the rows in the index
    consensus_ : (P, Q), matrices of the shares in the whole training set
    labels_ : object array (n_labels,)

    References
    ----------
    Alfaro, Aledo and Gámez (2021): Learning decision trees for the partial label ranking
    problem (its instance-based IBPLR).

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> NearestNeighborsRanker(n_neighbors=2).fit(X, Y).predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea ~ water']
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        weights: str = "distance",
        metric: Any = "euclidean",
        aggregation: str = "auto",
        objective: str = "tau_x",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.aggregation = aggregation
        self.objective = objective
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Store the training rows and choose the number of neighbours.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
            The weight of a row among the neighbours; rows of weight 0 are left out.
        """
        self._check_decoding()
        check_name("weights", self.weights, WEIGHTS)
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        self.consensus_ = consensus(Y, weight)
        self._search_among(X, Y, weight)
        return self

    def _choose(self, X: Array) -> int:
        """The size with the best leave-one-out τ_X; all sizes share one search."""
        n, k = self.rankings_.shape
        sizes = [size for size in CANDIDATES if size < n]
        if len(sizes) < 2 or k == 1:
            return 1
        scored = np.unique(np.linspace(0, n - 1, min(n, _SCORED_ROWS)).astype(np.intp))
        found = self.index_.kneighbors(X[scored], sizes[-1] + 1)
        distances, indices = _without_itself(scored, *found)
        totals = np.zeros(len(sizes))
        for chunk in self._chunks(len(scored)):
            rows = scored[chunk]
            counts = Pairs.zeros(len(rows), k)
            weights = self._neighbor_weights(distances[chunk], indices[chunk])
            done = 0
            for at, size in enumerate(sizes):
                self._count(indices[chunk, done:size], weights[:, done:size], counts)
                ranks = self._decode(self._shares(counts), random_state=0)
                tau = tau_x_of_rows(self.rankings_[rows], ranks)
                totals[at] += (tau * self._weights_of(rows)).sum()
                done = size
        means = totals / self._weights_of(scored).sum()
        self.scores_ = dict(zip(sizes, means.tolist(), strict=True))
        return sizes[int(np.argmax(means))]

    def _pairs(self, X: Array) -> Pairs:
        distances, indices = self.index_.kneighbors(X, self.n_neighbors_)
        counts = Pairs.zeros(len(X), len(self.labels_))
        self._count(indices, self._neighbor_weights(distances, indices), counts)
        _counts.to_shares(*counts, *self.consensus_)
        return counts

    def _count(self, indices: NDArray[np.intp], weights: Array, counts: Pairs) -> None:
        n, size = indices.shape
        indptr = np.arange(0, n * size + 1, size)
        _counts.add_pairs(self.rankings_, indptr, indices.ravel(), weights.ravel(), *counts)

    def _shares(self, counts: Pairs) -> Pairs:
        shares = Pairs(counts.P.copy(), counts.Q.copy())
        _counts.to_shares(*shares, *self.consensus_)
        return shares

    def _neighbor_weights(self, distances: Array, indices: NDArray[np.intp]) -> Array:
        weights = self._weights_of(indices)
        if self.weights == "uniform":
            return weights
        # Only neighbours at distance zero count if there are any. Tiny distances, whose inverse
        # would be infinite, are taken as zero.
        same = distances < _NO_DISTANCE
        inverse = 1 / np.where(same, 1.0, distances)
        return weights * np.where(same.any(axis=1, keepdims=True), same, inverse)

    def _weights_of(self, rows: NDArray[np.intp]) -> Array:
        return np.ones(rows.shape) if self.sample_weight_ is None else self.sample_weight_[rows]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags


def _without_itself(
    rows: NDArray[np.intp], distances: Array, indices: NDArray[np.intp]
) -> tuple[Array, NDArray[np.intp]]:
    """Drop each row from its own neighbours, or the farthest if duplicates have displaced it."""
    drop = indices == rows[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = len(rows), indices.shape[1] - 1
    return distances[~drop].reshape(shape), indices[~drop].reshape(shape)
