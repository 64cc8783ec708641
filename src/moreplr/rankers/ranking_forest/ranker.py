"""The ranking forest: rows that share leaves vote on pairs of labels, decoded for the metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from moreplr._frames import one_row
from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import check_name, integer_from, number_from, weighted_rows
from moreplr.base import Pairs, chunks
from moreplr.encoders import encode
from moreplr.forest import BinnedMatrix, ForestRegressor
from moreplr.metrics._rankings import tau_x_of_rows
from moreplr.oblique import ObliqueFeatures
from moreplr.rankers._pairs import consensus
from moreplr.rankers.ranking_forest.explanation import Explanation, explanation
from moreplr.rankers.ranking_forest.leaf_size import choose_leaf_size
from moreplr.rankers.ranking_forest.prediction_sets import SetRanker, merged, risk_curve
from moreplr.rankers.ranking_forest.votes import Leaves, label_of, places, votes_of_a_pair
from moreplr.rankings import count_buckets

STRUCTURES = ("both", "per_label", "shared")
POSITIONS = ("observed", "given")
# With given positions, a weight of 1 gains 0.011 and 0.016 τ_X over 0.1 if 30 and 60 % of the
# labels are missing. With observed ones, 0.1 to 1 are about equal
# (benchmarks/results/forest/marginals.txt).
_MARGINAL_WEIGHTS = {"observed": 0.3, "given": 1.0}
# Leaf sizes are compared, and prediction sets calibrated, on at most this many rows and positions
# of labels. The standard error of a mean τ_X is then about 0.01, and that of a difference of leaf
# sizes far smaller. With many labels, fewer rows are as precise.
_SCORED_ROWS = 800
_SCORED_POSITIONS = 16_000
# `max_work` first lowers the draws of a tree, then the trees of a forest, but not below these:
# fewer votes are too noisy.
_FEWEST_DRAWS = 1_000
_FEWEST_TREES = 10
# Trees of the shared forest, times `n_estimators`. It votes on all pairs: more trees of it gain
# more than more trees of the other forests, and cost less.
_SHARED_TREES = 3
# How many other labels' linear predictions the forest of a label uses. They help where rankings
# follow linear scores, and are noise elsewhere: over all made data none, four and all of them are
# about equal. With a fixed number, the cost is linear in the number of labels.
_OTHER_PREDICTIONS = 4
# Bytes for each row and feature: standardised, combined, binned, and temporary arrays.
_FEATURE_BYTES = 40
# Bytes for each row and pair: votes, probabilities, and those of the chunk before.
_CELL_BYTES = 44
# Bytes for each row, label and place: votes.
_PLACE_BYTES = 4


class RankingForest(SetRanker):
    """Random forests on positions, in whose leaves training rows vote on each pair of labels.

    A shared forest learns the positions of all labels, and each label has a forest for its own
    position. The training rows that share leaves with a new row vote on each pair. The shares of
    their votes are the probabilities of i ≻ j, i ∼ j and j ≻ i. Three forests vote on a pair: the
    shared one and those of its two labels. The bucket order with the highest expected τ_X is
    predicted. If no training ranking has ties, predictions have none.

    The forest of a single label also uses oblique features: linear predictions of the positions
    of this label and of up to four others, drawn at random, from all features. See
    :class:`moreplr.oblique.ObliqueFeatures`. The shared forest does not use them, so that not all
    votes depend on them.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees for each label; the shared forest has three times as many.
    structure : {"both", "per_label", "shared"}, default="both"
        "per_label" leaves out the shared forest. "shared" grows only the shared forest, which is
        fast with many labels, and uses all oblique features in it.
    min_samples : int or "auto", default="auto"
        The fewest rows in the node that votes: the leaf, or its lowest ancestor that is large
        enough. "auto" compares 1, 2, 4, … by out-of-bag τ_X.
    marginal_weight : float, optional
        The weight of the distributions of single labels' positions, taken as independent,
        against 1 for the votes on pairs. These also use rows that rank only one label of a pair,
        and affect which label comes first, not how often the two tie. By default 1 if positions
        are given for all labels, and 0.3 if they are observed, since gaps then make them
        uncertain.
    prior_weight : float, default=0.01
        The weight of the consensus of all training rows, against 1 for the votes on pairs. It
        matters for pairs that few rows rank, for example if each row ranks three of many labels.
    max_features : {"sqrt", "log2"}, int, float or None, default=1/3
        How many features a split considers; a float is a share. Oblique features count.
    oblique : bool, default=True
        Whether the forests of single labels use oblique features as well.
    max_work : float or None, default=8e9
        A bound on the work of growing: draws · log₂(rows) · features, summed over all trees. A
        tree draws as many rows as there are. If that exceeds the bound, it draws fewer, but at
        least 1,000; then there are fewer trees, but at least 10 for each label. None sets no
        bound.
    positions : {"observed", "given"}
        Whether the positions in incomplete rankings count the ranked labels only, or are given
        for all labels; see :func:`moreplr.encoders.encode`.
    aggregation : str, optional
        A method of :func:`moreplr.aggregation.aggregate`. By default "segments" if training
        rankings have ties: it sorts labels by score and finds the best cuts, which is less
        sensitive to errors of the probabilities. Without ties, the default is "auto", the best
        of all orders.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix.
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None
        The seed of bootstraps and features.

    Attributes
    ----------
    forests_ : list of the fitted forests: the shared one, then one for each label
    min_samples_ : the leaf size in use
    scores_ : dict of the out-of-bag τ_X of each leaf size that was tried; empty if none was
    row_numbers_ : the numbers of the training rows with positive weight
    rankings_ : array (n_rows, n_labels), their rankings
    oblique_ : the fitted :class:`moreplr.oblique.ObliqueFeatures`, or None
    labels_ : object array (n_labels,)

    References
    ----------
    Zhou and Qiu (2018): Random forest for label ranking. Meinshausen (2006): Quantile regression
    forests. Hüllermeier, Fürnkranz, Cheng and Brinker (2008): Label ranking by learning pairwise
    preferences.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> RankingForest(random_state=0).fit(X, Y).predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea > water']
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        structure: str = "both",
        min_samples: int | str = "auto",
        marginal_weight: float | None = None,
        prior_weight: float = 0.01,
        max_features: Any = 1 / 3,
        oblique: bool = True,
        max_work: float | None = 8e9,
        positions: str = "observed",
        aggregation: str | None = None,
        objective: str = "tau_x",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.structure = structure
        self.min_samples = min_samples
        self.marginal_weight = marginal_weight
        self.prior_weight = prior_weight
        self.max_features = max_features
        self.oblique = oblique
        self.max_work = max_work
        self.positions = positions
        self.aggregation = aggregation
        self.objective = objective
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Grow the forests and choose the leaf size.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            NaN is treated as a separate value.
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        self._check_parameters()
        X, Y, weight = self._check_fit(X, y, sample_weight)
        self.row_numbers_ = np.arange(len(X)) if weight is None else np.flatnonzero(weight)
        X, Y, weight = weighted_rows(X, Y, weight)
        self.consensus_ = consensus(Y, weight)
        ranked = np.sum(~np.isnan(Y), axis=1)
        # Rows that do not compare any labels are no evidence against ties.
        self.ties_ = bool((count_buckets(Y) < ranked).any() or not (ranked > 1).any())
        targets = encode(Y, "modified", "given" if self.positions == "given" else "expected")
        self.rankings_, self.places_ = Y, places(targets)
        rng = check_random_state(self.random_state)
        self.oblique_ = ObliqueFeatures(random_state=_seed(rng)) if self.oblique else None
        wide = X if self.oblique_ is None else self.oblique_.fit_transform(X, targets)
        self.forests_ = self._grow(wide, X.shape[1], targets, weight, rng)
        self._voting: Leaves | None = None  # forget those of an earlier fit
        leaves = self._leaves_of(1)
        self.min_samples_, self.scores_ = self._leaf_size(leaves)
        self._voting = replace(leaves, min_samples=self.min_samples_)
        return self

    def _grow(
        self,
        wide: Array,
        n_features: int,
        targets: Positions,
        weight: Array | None,
        rng: np.random.RandomState,
    ) -> list[ForestRegressor]:
        """Grow the shared forest and those of the labels; never ranked labels are constant."""
        unseen = np.isnan(targets).all(axis=0)
        filled = np.where(unseen, np.nanmean(targets), targets)
        every = np.arange(wide.shape[1])
        tasks: list[tuple[Array, NDArray[np.intp], int]] = []  # targets, features, trees
        if self.structure != "per_label":
            features = every if self.structure == "shared" else every[:n_features]
            tasks.append((filled, features, _SHARED_TREES))
        if self.structure != "shared":
            predicts = np.full(len(every), -1)
            if self.oblique_ is not None:
                predicts[n_features:] = self.oblique_.label_numbers_
            for label, column in enumerate(filled.T):
                others = rng.permutation(np.delete(np.arange(filled.shape[1]), label))
                seen = np.isin(predicts, [-1, label, *others[:_OTHER_PREDICTIONS]])
                tasks.append((column[:, None], every[seen], 1))
        n_trees, draws = self._affordable(
            len(wide), sum(len(features) * more for _, features, more in tasks)
        )
        binned = BinnedMatrix.of(wide)
        return [
            # A seed for each: forests that draw the same rows would make the same errors.
            ForestRegressor(
                n_trees * more,
                max_features=self.max_features,
                max_samples=draws,
                n_jobs=self.n_jobs,
                random_state=_seed(rng),
            ).fit(binned, columns, weight, features)
            for columns, features, more in tasks
        ]

    def _affordable(self, n: int, n_features: int) -> tuple[int, int]:
        """The numbers of trees for each label, and of draws for each tree, within `max_work`.

        `n_features` is summed over all forests; the shared one counts three times for its trees.
        """
        if self.max_work is None:
            return self.n_estimators, n
        most = self.max_work / (np.log2(n + 1) * n_features)
        draws = np.clip(most / self.n_estimators, min(_FEWEST_DRAWS, n), n)
        fewest = min(_FEWEST_TREES, self.n_estimators)
        return int(np.clip(most / draws, fewest, self.n_estimators)), int(draws)

    def _leaf_size(self, leaves: Leaves) -> tuple[int, dict[int, float]]:
        if self.min_samples != "auto":
            return int(self.min_samples), {}
        if len(self.labels_) == 1:
            return 1, {}
        rows = self._scored_rows()
        unseen = leaves.unseen(rows)

        def score(min_samples: int) -> Array:
            tau = np.full(len(rows), np.nan)
            of_size = replace(leaves, min_samples=min_samples)
            # Chunks of twice the usual size, since each chunk prunes all trees again.
            for chunk in chunks(len(rows), self._row_bytes // 2):
                some = [trees[chunk] for trees in unseen]
                pairs, known = of_size.out_of_bag(rows[chunk], some, self.n_jobs)
                ranks = self._decode(pairs, total_order=not self.ties_, random_state=0)
                true = self.rankings_[rows[chunk]]
                tau[chunk] = np.where(known, tau_x_of_rows(true, ranks), np.nan)
            return tau

        return choose_leaf_size(score, len(self.rankings_))

    def _scored_rows(self) -> NDArray[np.intp]:
        """Evenly spaced rows, from those that compare labels."""
        rows = np.flatnonzero(np.sum(~np.isnan(self.rankings_), axis=1) > 1)
        most = min(_SCORED_ROWS, max(_SCORED_POSITIONS // len(self.labels_), 1), len(rows))
        return rows[np.linspace(0, max(len(rows) - 1, 0), most).astype(np.intp)]

    def _out_of_bag(
        self, rows: NDArray[np.intp]
    ) -> Iterator[tuple[slice, Pairs, NDArray[np.bool_]]]:
        """Yield chunks of training rows, their out-of-bag pairs, and which rows have them."""
        leaves = self._leaves()
        for chunk in self._chunks(len(rows)):
            some = rows[chunk]
            yield chunk, *leaves.out_of_bag(some, leaves.unseen(some), self.n_jobs)

    def held_out_pairs(self, rows: ArrayLike | None = None) -> Pairs:
        """Predict pair probabilities of training rows by the trees that did not draw them.

        They estimate those of new rows, without a further fit.

        Parameters
        ----------
        rows : array-like of int, optional
            Indices into `row_numbers_`; these are row numbers of the training data if all rows
            have positive weight. By default all.

        Returns
        -------
        Pairs
            As of `predict_pairs`; NaN for a row that all trees of a forest drew.

        Examples
        --------
        >>> from moreplr.checks import make_rankings
        >>> X, Y = make_rankings(n=50, k=4)
        >>> RankingForest(random_state=0).fit(X, Y).held_out_pairs().P.shape
        (50, 4, 4)
        """
        check_is_fitted(self)
        n, k = self.rankings_.shape
        picked = np.arange(n) if rows is None else np.asarray(rows, np.intp)
        whole = Pairs(*np.empty((2, len(picked), k, k)))
        for chunk, (P, Q), known in self._out_of_bag(picked):
            P[~known], Q[~known] = np.nan, np.nan
            whole.P[chunk], whole.Q[chunk] = P, Q
        return whole

    def _risk(self) -> Array:
        """The risk curve of out-of-bag predictions."""
        rows = self._scored_rows()
        curves = [risk_curve(Pairs(*np.empty((2, 0, 1, 1))), np.empty((0, 1)))]
        for chunk, (P, Q), known in self._out_of_bag(rows):
            curves.append(
                risk_curve(Pairs(P[known], Q[known]), self.rankings_[rows[chunk]][known])
            )
        return merged(curves)

    def explain(self, x: Any) -> Explanation:
        """Explain why one row is ranked as it is.

        Parameters
        ----------
        x : one row
            A sequence of the features, a Series, or an array or frame of one row.

        Returns
        -------
        Explanation
            The training rows that the prediction is based on; `pair(a, b)` explains why two
            labels are tied or not. Printed, it is a text.
        """
        X = self._check_predict(one_row(x))
        P, Q = self._pairs(X)
        ranks = self._decode(Pairs(P, Q), total_order=not self.ties_, random_state=0)
        return explanation(
            self.labels_,
            ranks[0],
            Pairs(P[0], Q[0]),
            self.rankings_,
            self.row_numbers_,
            self._leaves().row_weights(self._widened(X)),
            objective=self.objective,
            ties=self.ties_,
        )

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the reduction of squared error of all positions.

        The share of an oblique feature is divided among its features by the size of their weights.
        """
        p, n, k = self.n_features_in_, len(self.forests_), len(self.labels_)
        total = np.zeros(p)
        for number, forest in enumerate(self.forests_):
            shares = forest.feature_importances_
            if self.oblique_ is not None:
                shares = self.oblique_.attribute(shares)
            # The forest of a single label votes on 2 / k of all pairs.
            total += shares * (1 if label_of(number, n, k) is None else 2 / k)
        return total / votes_of_a_pair(n, k)

    def _pairs(self, X: Array) -> Pairs:
        return self._leaves().pairs(self._widened(X))

    def _widened(self, X: Array) -> Array:
        return X if self.oblique_ is None else self.oblique_.transform(X)

    def _leaves(self) -> Leaves:
        """The leaves, which are computed again after the ranker has been loaded."""
        voting: Leaves | None = getattr(self, "_voting", None)
        if voting is None:
            voting = self._voting = self._leaves_of(self.min_samples_)
        return voting

    def _leaves_of(self, min_samples: int) -> Leaves:
        weights = self._marginal_weight(), float(self.prior_weight)
        fitted = self.forests_, self.rankings_, self.places_, self.consensus_
        return Leaves.of(*fitted, weights, min_samples)

    def _marginal_weight(self) -> float:
        if self.marginal_weight is None:
            return _MARGINAL_WEIGHTS[self.positions]
        return float(self.marginal_weight)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the leaves, which can be computed from it."""
        return {name: value for name, value in super().__getstate__().items() if name != "_voting"}

    @property
    def _row_bytes(self) -> int:
        features, oblique = self.n_features_in_, self.oblique_
        if oblique is not None:
            features = sum(oblique.weights_.shape)
        k, places = len(self.labels_), int(self.places_.max(initial=0)) + 1
        size = _CELL_BYTES * k**2 + _FEATURE_BYTES * features + _PLACE_BYTES * k * places
        return size * 4 // 3  # a quarter of the memory is for leaves and decoding

    @property
    def _never_ties(self) -> bool:
        return not self.ties_

    def _check_parameters(self) -> None:
        self._check_decoding()
        integer_from("n_estimators", self.n_estimators, 1)
        check_name("structure", self.structure, STRUCTURES)
        check_name("positions", self.positions, POSITIONS)
        if self.min_samples != "auto":
            integer_from("min_samples", self.min_samples, 1)
        if self.marginal_weight is not None:
            number_from("marginal_weight", self.marginal_weight, 0)
        number_from("prior_weight", self.prior_weight, 0)
        if not isinstance(self.oblique, bool):
            raise ValueError(f"oblique must be True or False, got {self.oblique!r}")
        if self.max_work is not None:
            number_from("max_work", self.max_work, 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))
