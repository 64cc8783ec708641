"""Instance-based label ranking: a model of rankings fitted to the nearest training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions, Weights
from moreplr._validation import integer_from, number_from, take, weighted_rows
from moreplr.base import BaseRanker, chunks
from moreplr.metrics import tau_x_score
from moreplr.rankers.neighbors import NeighborSearch
from moreplr.rivals.borda import ranks_of
from moreplr.rivals.mallows import fit_centre
from moreplr.rivals.plackett_luce import fit_skills

CANDIDATES = (5, 10, 15, 20)


class _InstanceBasedRanker(NeighborSearch, BaseRanker):
    """The common part of both models: neighbours, and the choice of their number."""

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Store the training rows and choose the number of neighbours."""
        self._search_among(*weighted_rows(*self._check_fit(X, y, sample_weight)))
        return self

    def _ranks(self, X: Array) -> Positions:
        near = self.index_.kneighbors(X, self.n_neighbors_, return_distance=False)
        return self._ranks_near(near)

    def _choose(self, X: Array) -> int:
        """The size of best leave-one-out τ_X, the smallest of equally good ones."""
        n = len(X)
        sizes = [size for size in CANDIDATES if size < n]
        if not sizes or self.rankings_.shape[1] == 1:
            return max(1, min(n - 1, CANDIDATES[0]))
        # Without rows, a row is not among its own neighbours.
        near = self.index_.kneighbors(n_neighbors=sizes[-1], return_distance=False)
        for size in sizes:
            self.scores_[size] = tau_x_score(
                self.rankings_, self._ranks_near(near[:, :size]), sample_weight=self.sample_weight_
            )
        return max(sizes, key=self.scores_.__getitem__)

    def _ranks_near(self, near: NDArray[np.intp]) -> Positions:
        k = self.rankings_.shape[1]
        ranks = np.empty((len(near), k))
        for rows in chunks(len(near), 32 * near.shape[1] * k * (2 * k + 1)):
            ranks[rows] = self._aggregate(*take(near[rows], self.rankings_, self.sample_weight_))
        return ranks

    def _aggregate(self, Y: Positions, weight: Array | None) -> Positions:
        """Dense ranks (n, k) of the rankings (n, n_neighbors, k) of neighbours."""
        raise NotImplementedError


class MallowsNeighborsRanker(_InstanceBasedRanker):
    """IBLR-M: the centre of a Mallows model of the nearest neighbours' rankings.

    Neighbours with incomplete rankings are completed, the likeliest way under the model, and the
    model is fitted again, until nothing changes; see :mod:`moreplr.rivals.mallows`. Distances
    depend on the scale of the features: put a scaler in front.

    Choices made here: tied labels share the mean of their places, labels with equal Borda
    counts are predicted as tied, and neighbours of equal distance are taken in the order of
    the training rows as the search gives them.

    Parameters
    ----------
    n_neighbors : int, optional
        By default that of 5, 10, 15 and 20 whose leave-one-out predictions of the training rows
        have the highest mean τ_X; with fewer rows all but one.
    metric : str or callable, default="euclidean"
        As in :class:`sklearn.neighbors.NearestNeighbors`.
    max_iter : int, default=20
        The most times that incomplete rankings are completed; the centre seldom moves more than
        twice.
    n_jobs : int, optional
        The number of threads of the search.

    Attributes
    ----------
    n_neighbors_ : int, the size in use
    scores_ : dict of the leave-one-out τ_X of each size that was tried
    index_ : the fitted :class:`sklearn.neighbors.NearestNeighbors`
    rankings_, sample_weight_ : positions and weights (or None) of the rows in the index
    labels_ : object array (n_labels,)

    References
    ----------
    Cheng, Hühn and Hüllermeier (2009): Decision tree and instance-based learning for label
    ranking.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]
    >>> Y = ["a > b > c", "a > c", "a > b > c", "c > b > a", "c > a", "c > b > a"]
    >>> MallowsNeighborsRanker(3).fit(X, Y).predict_text([[0.1], [0.9]])
    ['a > b > c', 'c > b > a']
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        metric: Any = "euclidean",
        max_iter: int = 20,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _aggregate(self, Y: Positions, weight: Array | None) -> Positions:
        return fit_centre(Y, weight, self.max_iter).ranks


class PlackettLuceNeighborsRanker(_InstanceBasedRanker):
    """IBLR-PL: labels by their skills in a Plackett–Luce model of the nearest neighbours.

    The likelihood of an incomplete ranking is that of its labels among themselves, so that
    nothing is completed; see :mod:`moreplr.rivals.plackett_luce`. Distances depend on the scale
    of the features: put a scaler in front.

    Choices made here: a weak prior holds the skills where the likelihood has no maximum, ties
    are drawn in Breslow's way, and labels of equal skill are predicted as tied.

    Parameters
    ----------
    n_neighbors, metric, n_jobs
        As in :class:`MallowsNeighborsRanker`, and so are the attributes.
    prior : float, default=0.1
        The strength of the prior, in rankings; at 0 the skills are those of the greatest
        likelihood.
    tol : float, default=1e-6
        Stop when no log skill changes by more.
    max_iter : int, default=200
        The most iterations.

    References
    ----------
    Cheng, Dembczyński and Hüllermeier (2010): Label ranking methods based on the Plackett–Luce
    model. Hunter (2004): MM algorithms for generalized Bradley–Terry models. Caron and Doucet
    (2012): Efficient Bayesian inference for generalized Bradley–Terry models.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]
    >>> Y = ["a > b > c", "a > c", "a > b > c", "c > b > a", "c > a", "c > b > a"]
    >>> PlackettLuceNeighborsRanker(3).fit(X, Y).predict_text([[0.1], [0.9]])
    ['a > b > c', 'c > b > a']
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        metric: Any = "euclidean",
        prior: float = 0.1,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Store the training rows and choose the number of neighbours."""
        number_from("prior", self.prior, 0)
        integer_from("max_iter", self.max_iter, 1)
        return super().fit(X, y, sample_weight)

    def _aggregate(self, Y: Positions, weight: Array | None) -> Positions:
        skills = fit_skills(Y, weight, prior=self.prior, tol=self.tol, max_iter=self.max_iter)
        return ranks_of(-skills)
