"""A decision tree whose impurity is the disagreement of rankings, and its bagged ensemble.

Two rankings disagree on a pair of labels by 0 if they agree, by 1 if one of them ties the labels,
and by 2 if they are opposite. Summed over all pairs, this is the distance of Kemeny and Snell. Let
p, t and s be the shares of the three relations in a node. The expected disagreement of two random
rows of the node on the pair is

    4·p·s + 2·t·(1 − t) = Var(sign) + Var(tie),

where the sign is −1, 0 or 1 for before, tied and after, and the tie is an indicator. So the forest
reduces the disagreement if each pair has two targets: its sign and its tie, NaN if a ranking lacks
one of the labels. The means of these targets in a leaf give the probabilities of the relations.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import integer_from, weighted_rows
from moreplr.base import PairRanker, Pairs
from moreplr.forest import ForestRegressor
from moreplr.rankers._pairs import pair_codes, square, warn_unseen


class RankingTree(PairRanker):
    """A decision tree for partial label ranking, or an ensemble of bagged ones.

    A split minimises the disagreement of rankings on the same side: the distance of Kemeny and
    Snell over the pairs of labels that both rank. A leaf holds the shares of the three relations
    of each pair. If no ranking of the leaf has both labels of a pair, the nearest ancestor with
    such a ranking is used. The shares are aggregated into a bucket order.

    Rows with NaN in a feature go to the side that gives the larger gain.

    Parameters
    ----------
    n_estimators : int, default=1
        The number of trees. Two or more trees are grown on bootstrap samples, and the shares in
        their leaves are averaged before aggregation.
    max_depth : int, optional
        The most levels below the root.
    min_samples_leaf : int, optional
        The fewest rows in a leaf. By default 5 for a single tree, and 1 for several, whose shares
        are averaged.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        How many features a split considers; None means all, a float is a share.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix P(i≻j) + ½P(i∼j).
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None
        The seed of bootstraps, features, and of the pivots of aggregation "bpa".

    Attributes
    ----------
    forest_ : the fitted :class:`moreplr.forest.ForestRegressor` of signs and ties
    labels_ : object array (n_labels,)

    References
    ----------
    Alfaro, Aledo and Gámez (2021): Learning decision trees for the partial label ranking
    problem; (2023): Ensemble learning for the partial label ranking problem.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> RankingTree(min_samples_leaf=1).fit(X, Y).predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea ~ water']
    """

    def __init__(
        self,
        n_estimators: int = 1,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int | None = None,
        max_features: Any = None,
        aggregation: str = "auto",
        objective: str = "tau_x",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.aggregation = aggregation
        self.objective = objective
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Grow the tree or the trees.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        self._check_decoding()
        n_estimators = integer_from("n_estimators", self.n_estimators, 1)
        min_samples_leaf = self.min_samples_leaf
        if min_samples_leaf is None:
            min_samples_leaf = 1 if n_estimators > 1 else 5
        forest = ForestRegressor(
            n_estimators,
            max_depth=self.max_depth,
            min_samples_leaf=min_samples_leaf,
            max_features=self.max_features,
            bootstrap=n_estimators > 1,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        targets = signs_and_ties(Y)
        unseen: NDArray[np.bool_] = np.all(np.isnan(targets), axis=0)
        self._never = unseen[len(unseen) // 2 :]
        warn_unseen(int(self._never.sum()), len(self._never))
        targets[:, unseen] = 0.0  # a constant does not affect splits
        # A single label has no pair, so a constant target is used.
        self.forest_ = forest.fit(X, targets if targets.size else np.zeros(len(X)), weight)
        return self

    def _pairs(self, X: Array) -> Pairs:
        k = len(self.labels_)
        if k == 1:
            return square(np.empty((len(X), 0, 3)), 1)
        sign, tie = np.split(self.forest_.predict(X), 2, axis=1)
        three_way = np.stack([1 - tie - sign, 2 * tie, 1 - tie + sign], axis=2) / 2
        three_way[:, self._never] = 1 / 3
        # Single precision: means may be slightly outside [0, 1].
        return square(np.clip(three_way, 0.0, 1.0), k)

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the reduction of disagreement."""
        return self.forest_.feature_importances_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def signs_and_ties(Y: Positions) -> Array:
    """The signs of all pairs (−1 if i < j precedes), then the indicators of their ties.

    Examples
    --------
    >>> signs_and_ties(np.array([[1.0, 2.0, np.nan], [1.0, 1.0, 0.0]]))
    array([[-1., nan, nan,  0., nan, nan],
           [ 0.,  1.,  1.,  1.,  0.,  0.]])
    """
    codes = pair_codes(Y)
    unknown = codes < 0
    sign = np.where(unknown, np.nan, codes - 1.0)
    return np.hstack([sign, np.where(unknown, np.nan, codes == 1)])
