"""Random forest label ranking: trees on the top label, rankings aggregated in two steps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import take, weighted_rows
from moreplr.base import BaseRanker
from moreplr.forest import ForestRegressor
from moreplr.forest.growing import counts_of
from moreplr.rivals.borda import expected_positions, ranks_of


class LabelRankingForest(BaseRanker):
    """LR-RF: classification trees on the top label whose leaves hold rankings.

    The trees of a random forest are grown with the top label of each ranking as its class: a
    node whose rankings agree on it is a leaf, whatever the order of the other labels is. The
    rankings of a leaf are aggregated by Borda's count, generalised to incomplete rankings; so
    are, in a second step, the rankings of the leaves that a new row reaches in all trees.

    Choices made here: splits reduce Gini's impurity. The class of an incomplete ranking is the
    first label among the ranked ones, and labels that share the top share the row equally. A
    label that no ranking holds gets the mean of all places. Labels with equal Borda counts are
    predicted as tied.

    Parameters
    ----------
    n_estimators : int, default=50
        The number of trees, as in the paper's experiments.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        How many features a split looks at; None means all, a float is a share.
    max_depth : int or None, default=8
        The most levels below the root, as in the paper's experiments.
    min_samples_leaf : int, default=1
        The fewest rows in a leaf.
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None
        The seed of bootstraps and features.

    Attributes
    ----------
    forest_ : the fitted :class:`moreplr.forest.ForestRegressor` of the classes' indicators
    positions_ : list of arrays (n_nodes, n_labels), one a tree: the positions of the labels in
        the ranking of each leaf, NaN in other nodes
    labels_ : object array (n_labels,)

    References
    ----------
    Zhou and Qiu (2018): Random forest for label ranking (arXiv 1608.07710).

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]
    >>> Y = ["a > b > c", "a > c", "a > b > c", "c > b > a", "c > a", "c > b > a"]
    >>> LabelRankingForest(random_state=0).fit(X, Y).predict_text([[0.1], [0.9]])
    ['a > b > c', 'c > b > a']
    """

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        max_features: Any = "sqrt",
        max_depth: int | None = 8,
        min_samples_leaf: int = 1,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Grow the trees and aggregate the rankings in their leaves."""
        forest = ForestRegressor(
            self.n_estimators,
            max_features=self.max_features,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        X, Y, weight = take(~np.isnan(Y).all(axis=1), X, Y, weight)
        self.forest_ = forest.fit(X, top_shares(Y), weight)
        positions = expected_positions(Y)
        leaves = forest.apply(X)
        self.positions_ = []
        for tree, seed in enumerate(forest.seeds_):
            mass = counts_of(seed, len(X), len(X)).astype(np.float64)
            if weight is not None:
                mass *= weight
            self.positions_.append(_leaf_positions(leaves[:, tree], positions, mass))
        return self

    def _ranks(self, X: Array) -> Positions:
        leaves = self.forest_.apply(X)
        sums = np.zeros((len(X), len(self.labels_)))
        for tree, positions in enumerate(self.positions_):
            sums += positions[leaves[:, tree]]
        return ranks_of(sums / len(self.positions_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def top_shares(Y: Positions) -> Array:
    """Indicators of the top label of each ranking; tied ones share it.

    With them as targets, the squared error of a node is its Gini impurity.

    Examples
    --------
    >>> top_shares(np.array([[2.0, np.nan, 3.0], [1.0, 1.0, 2.0]]))
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ]])
    """
    top = np.nanmin(Y, axis=1, keepdims=True) == Y
    return top / top.sum(axis=1, keepdims=True)


def _leaf_positions(leaf: NDArray[np.int32], positions: Array, mass: Array) -> Array:
    """Positions in the Borda ranking of each leaf's rows, NaN for nodes without rows."""
    numbers, of_row = np.unique(leaf[mass > 0], return_inverse=True)
    mass, positions = mass[mass > 0], positions[mass > 0]
    total = np.bincount(of_row, mass)
    mean = np.stack([np.bincount(of_row, mass * column) / total for column in positions.T], axis=1)
    out = np.full((int(leaf.max()) + 1, positions.shape[1]), np.nan)
    out[numbers] = expected_positions(ranks_of(mean))
    return out
