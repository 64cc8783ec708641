"""A label ranking tree: splits that make the Mallows models of both sides less spread."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions, Weights
from moreplr._validation import integer_from, weighted_rows
from moreplr.base import BaseRanker
from moreplr.rivals.borda import ROUNDING
from moreplr.rivals.mallows import distance, fit_centre, spread


class Tree(NamedTuple):
    """Nodes as arrays: a child of −1 is none, and its node a leaf."""

    feature: NDArray[np.intp]
    threshold: Array
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    centre: Positions
    spread: Array


class Split(NamedTuple):
    """Where to divide a node, and the mean spread parameter of the sides."""

    goodness: float
    feature: int
    threshold: float


class LabelRankingTree(BaseRanker):
    """LRT: a decision tree whose leaves are Mallows models.

    A split maximises the mean of the spread parameters θ of both sides, weighted by their
    rows: the greater θ, the nearer the rankings of a side are to their centre. A leaf predicts
    the centre of its rankings.

    Choices made here: incomplete rankings take part in a node's splits as the node's own model
    completes them. θ is infinite where all rankings are equal; the total
    distance to a centre counts as half a discordant pair at least. A node whose θ no split
    raises is a leaf, and grown trees are not pruned. A ranking that ties a pair which the centre
    orders, or the other way round, is half discordant, and labels with equal Borda counts are
    predicted as tied.

    Parameters
    ----------
    max_depth : int, optional
        The most levels below the root.
    min_samples_split : int, optional
        The fewest rows of a node that is split; by default one more than twice the number of
        labels.
    max_iter : int, default=20
        The most times that incomplete rankings are completed in a node.

    Attributes
    ----------
    tree_ : arrays of the nodes: feature, threshold, left, right, centre and spread
    labels_ : object array (n_labels,)

    References
    ----------
    Cheng, Hühn and Hüllermeier (2009): Decision tree and instance-based learning for label
    ranking.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]
    >>> Y = ["a > b", "a > b", "a > b", "b > a", "b > a", "b > a"]
    >>> LabelRankingTree().fit(X, Y).predict_text([[0.4], [0.6]])
    ['a > b', 'b > a']
    """

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int | None = None,
        max_iter: int = 20,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Grow the tree."""
        depth = np.inf if self.max_depth is None else integer_from("max_depth", self.max_depth, 0)
        least = self.min_samples_split
        if least is not None:
            integer_from("min_samples_split", least, 2)
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        weight = np.ones(len(X)) if weight is None else weight
        least = 2 * Y.shape[1] + 1 if least is None else least
        nodes: list[list[Any]] = []
        # Rows that wait for a node, its depth, and where to write its number.
        waiting: list[tuple[NDArray[np.intp], int, tuple[int, int] | None]]
        waiting = [(np.arange(len(X)), 0, None)]
        while waiting:
            rows, level, place = waiting.pop()
            if place is not None:
                nodes[place[0]][place[1]] = len(nodes)
            centre = fit_centre(Y[rows], weight[rows], self.max_iter)
            total = weight[rows] @ distance(centre.completed, centre.ranks)
            theta = float(node_spread(total, weight[rows].sum(), Y.shape[1]))
            node = [-1, np.nan, -1, -1, centre.ranks, theta]
            if total > 0 and len(rows) >= least and level < depth:
                split = best_split(X[rows], centre.completed, weight[rows])
                if split is not None and split.goodness > theta:
                    node[:2] = split.feature, split.threshold
                    goes_left = X[rows, split.feature] <= split.threshold
                    for child, part in ((3, rows[~goes_left]), (2, rows[goes_left])):
                        waiting.append((part, level + 1, (len(nodes), child)))
            nodes.append(node)
        self.tree_ = Tree(*(np.array(column) for column in zip(*nodes, strict=True)))
        return self

    def _ranks(self, X: Array) -> Positions:
        return self.tree_.centre[self._leaves(X)]

    def apply(self, X: Any) -> NDArray[np.intp]:
        """The number of the leaf that each row reaches."""
        return self._leaves(self._check_predict(X))

    def _leaves(self, X: Array) -> NDArray[np.intp]:
        tree = self.tree_
        node = np.zeros(len(X), np.intp)
        rows = np.flatnonzero(tree.left[node] >= 0)
        while len(rows):
            at = node[rows]
            left = X[rows, tree.feature[at]] <= tree.threshold[at]
            node[rows] = np.where(left, tree.left[at], tree.right[at])
            rows = rows[tree.left[node[rows]] >= 0]
        return node


def node_spread(total: Any, rows: Any, k: int) -> Array:
    """θ of rankings of this total distance to their centre, half a discordant pair at least."""
    return spread(np.maximum(total, 0.5) / rows, k)


def best_split(X: Array, positions: Array, weight: Array) -> Split | None:
    """The split of rows with complete rankings that leaves the greatest mean θ, if any.

    Examples
    --------
    >>> rankings = np.array([[1.0, 2.0]] * 4 + [[2.0, 1.0]] * 4)
    >>> best_split(np.arange(8.0)[:, None], rankings, np.ones(8)).threshold
    3.5
    """
    k = positions.shape[1]
    i, j = np.triu_indices(k, 1)
    signs = np.sign(positions[:, i] - positions[:, j])
    best = None
    for feature in range(X.shape[1]):
        order = np.argsort(X[:, feature], kind="stable")
        values = X[order, feature]
        cuts = np.flatnonzero(values[:-1] < values[1:])
        if not len(cuts):
            continue
        w = weight[order]
        columns = [np.ones((len(w), 1)), positions[order], signs[order], signs[order] ** 2]
        above = [np.cumsum(w[:, None] * column, axis=0) for column in columns]
        left = [part[cuts] for part in above]
        right = [part[-1] - taken for part, taken in zip(above, left, strict=True)]
        rows = above[0][-1, 0]
        goodness = sum(side[0][:, 0] * _side_spread(side, i, j) for side in (left, right)) / rows
        at = int(np.argmax(goodness))
        found = float(goodness[at])
        if best is None or found > best.goodness + ROUNDING:
            low, high = values[cuts[at]], values[cuts[at] + 1]
            middle = low + (high - low) / 2
            best = Split(found, feature, float(middle if middle < high else low))
    return best


def _side_spread(sums: list[Array], i: NDArray[np.intp], j: NDArray[np.intp]) -> Array:
    """θ of sides (n_cuts,) by sums of their weights, positions, signs and squares of signs."""
    rows, positions, ordered, strict = sums
    mean = positions / rows
    lead = mean[:, i] - mean[:, j]
    centre = np.where(np.abs(lead) > ROUNDING, np.sign(lead), 0.0)
    # As |s − t| = s² + t² − s²t² − st of signs s and t.
    total = (strict + centre**2 * (rows - strict) - centre * ordered).sum(axis=1) / 2
    return node_spread(total, rows[:, 0], positions.shape[1])
