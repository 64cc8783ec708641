"""The ranking forest: leaf members vote on every pair of labels, decoded for the metric."""

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
# Where positions are given, 1 gains 0.011 and 0.016 τ_X over 0.1 with 30 and 60 % of the labels
# missing; where they are observed, 0.1 to 1 are level (benchmarks/results/forest/marginals.txt).
_MARGINAL_WEIGHTS = {"observed": 0.3, "given": 1.0}
# Leaf sizes are compared, and prediction sets calibrated, on no more rows than this, or positions
# of labels: the standard error of a mean τ_X is then about 0.01, and differences of leaf sizes are
# far surer than that. Where labels are many, τ_X of fewer rows is as sure.
_SCORED_ROWS = 800
_SCORED_POSITIONS = 16_000
# `max_work` does not lower the draws of a tree, nor then the trees of a forest, below these: the
# votes of fewer say little.
_FEWEST_DRAWS = 1_000
_FEWEST_TREES = 10
# Times `n_estimators`. It votes on all pairs and is one of many forests: more trees of it gain
# more than more trees of the others, and cost less.
_SHARED_TREES = 3
# A label's forest looks at linear predictions of so many other labels, too. They help where
# rankings follow linear scores, and are noise elsewhere: on made data as a whole none, four and
# all are level. With a fixed number the cost does not grow with the square of the labels.
_OTHER_PREDICTIONS = 4
# Of a row and a feature: standardised, combined, binned, and what is made on the way.
_FEATURE_BYTES = 40
# Of a row and a pair: its votes, its probabilities, and those of the chunk before.
_CELL_BYTES = 44
# Of a row, a label and a place: its votes.
_PLACE_BYTES = 4


class RankingForest(SetRanker):
    """A random forest on positions whose leaf members vote on every pair of labels.

    One forest learns the positions of all labels, and one for each label those of this label.
    For a new row the training rows that share its leaves vote: their shares are the
    probabilities of i ≻ j, i ∼ j and j ≻ i. A pair has the votes of three forests, the one of
    all labels and those of its two. The bucket order of greatest expected τ_X is predicted. Where
    no training ranking has a tie, predictions have none.

    The forest of a single label also looks at oblique features, linear combinations of the
    features: linear predictions of the positions of this label and of up to four others, drawn at
    random. See :class:`moreplr.oblique.ObliqueFeatures`. The forest of all labels does not, so
    that the votes do not rely on them.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees of the forest of a label; that of all labels has three times as many.
    structure : {"both", "per_label", "shared"}, default="both"
        "per_label" does without the forest of all labels. "shared" has no other, costs little
        with many labels, and looks at all oblique features.
    min_samples : int or "auto", default="auto"
        The least number of rows in the node that votes: the leaf, or its lowest ancestor that is
        large enough. "auto" compares 1, 2, 4, … out of bag, by τ_X.
    marginal_weight : float, optional
        The weight of the labels' own distributions of positions, taken as independent, against
        1 for all pairs of a leaf. They also use the rows that rank only one of two labels, and
        say which comes first, not how often they tie. By default 1 where positions are given
        for all labels, and 0.3 where they are observed, so that gaps make them uncertain.
    prior_weight : float, default=0.01
        The weight of the consensus of all training rows, against 1 for all pairs of a leaf. It
        decides about pairs that few rows rank: where each ranks three labels of many, say.
    max_features : {"sqrt", "log2"}, int, float or None, default=1/3
        How many features a split looks at; a float is a share. Oblique features count.
    oblique : bool, default=True
        Whether forests of single labels look at oblique features, too.
    max_work : float or None, default=8e9
        A bound for the work of growing: draws · log₂(rows) · features, added up over all trees.
        A tree draws as many rows as there are, or as many as the bound allows, but at least
        1,000. Then there may be fewer trees, down to 10 of a label. None sets no bound.
    positions : {"observed", "given"}
        Whether the positions in incomplete rankings count the ranked labels only, or are given
        for all labels; see :func:`moreplr.encoders.encode`.
    aggregation : str, optional
        A method of :func:`moreplr.aggregation.aggregate`. By default "segments" where training
        rankings have ties, the best cut of the labels in the order of their scores, which
        follows errors of the probabilities less; and where they have none the best order of
        all, "auto".
    objective : {"tau_x", "l1"}, default="tau_x"
        What the bucket order is the best for.
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None
        The seed of bootstraps and features.

    Attributes
    ----------
    forests_ : list of the fitted forests: that of all labels, then one for each label
    min_samples_ : the leaf size in use
    scores_ : dict of the out-of-bag τ_X of each leaf size that was tried; empty if none was
    row_numbers_ : the numbers of the training rows that count: those of positive weight
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
            NaN is a value of its own.
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        self._check_parameters()
        X, Y, weight = self._check_fit(X, y, sample_weight)
        self.row_numbers_ = np.arange(len(X)) if weight is None else np.flatnonzero(weight)
        X, Y, weight = weighted_rows(X, Y, weight)
        self.consensus_ = consensus(Y, weight)
        ranked = np.sum(~np.isnan(Y), axis=1)
        # Rows that compare nothing are no evidence against ties.
        self.ties_ = bool((count_buckets(Y) < ranked).any() or not (ranked > 1).any())
        targets = encode(Y, "modified", "given" if self.positions == "given" else "expected")
        self.rankings_, self.places_ = Y, places(targets)
        rng = check_random_state(self.random_state)
        self.oblique_ = ObliqueFeatures(random_state=_seed(rng)) if self.oblique else None
        wide = X if self.oblique_ is None else self.oblique_.fit_transform(X, targets)
        self.forests_ = self._grow(wide, X.shape[1], targets, weight, rng)
        self._voting: Leaves | None = None  # not those of an earlier fit
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
        """The forests of all labels and of each; a label that is never ranked is constant."""
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
            len(wide), sum(len(own) * more for _, own, more in tasks)
        )
        binned = BinnedMatrix.of(wide)
        return [
            # Forests that draw the same rows would err alike.
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
        """How many trees of a label, of how many draws, `max_work` allows.

        `n_features` are those of all forests, times the trees for each of a label.
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
            # Twice as many rows as in a chunk: for each, all trees are pruned anew.
            for chunk in chunks(len(rows), self._row_bytes // 2):
                own = [trees[chunk] for trees in unseen]
                pairs, asked = of_size.out_of_bag(rows[chunk], own, self.n_jobs)
                ranks = self._decode(pairs, total_order=not self.ties_, random_state=0)
                true = self.rankings_[rows[chunk]]
                tau[chunk] = np.where(asked, tau_x_of_rows(true, ranks), np.nan)
            return tau

        return choose_leaf_size(score, len(self.rankings_))

    def _scored_rows(self) -> NDArray[np.intp]:
        """Rows that compare labels, at even distances."""
        rows = np.flatnonzero(np.sum(~np.isnan(self.rankings_), axis=1) > 1)
        most = min(_SCORED_ROWS, max(_SCORED_POSITIONS // len(self.labels_), 1), len(rows))
        return rows[np.linspace(0, max(len(rows) - 1, 0), most).astype(np.intp)]

    def _out_of_bag(
        self, rows: NDArray[np.intp]
    ) -> Iterator[tuple[slice, Pairs, NDArray[np.bool_]]]:
        """Chunks of training rows, their pair probabilities, and which of them are known."""
        leaves = self._leaves()
        for chunk in self._chunks(len(rows)):
            own = rows[chunk]
            yield chunk, *leaves.out_of_bag(own, leaves.unseen(own), self.n_jobs)

    def held_out_pairs(self, rows: ArrayLike | None = None) -> Pairs:
        """Pair probabilities of training rows, by the trees that have not seen them.

        An estimate of `predict_pairs` on new rows that costs no further fit.

        Parameters
        ----------
        rows : array-like of int, optional
            Positions in `row_numbers_`, so row numbers of the training data if all its rows
            have positive weight. By default all.

        Returns
        -------
        Pairs
            As of `predict_pairs`; NaN for a row that all trees of a forest have seen.

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
        """How often true relations have small probabilities out of bag."""
        rows = self._scored_rows()
        curves = [risk_curve(Pairs(*np.empty((2, 0, 1, 1))), np.empty((0, 1)))]
        for chunk, (P, Q), known in self._out_of_bag(rows):
            curves.append(
                risk_curve(Pairs(P[known], Q[known]), self.rankings_[rows[chunk]][known])
            )
        return merged(curves)

    def explain(self, x: Any) -> Explanation:
        """Say why one row is ranked as it is.

        Parameters
        ----------
        x : one row
            A sequence of the features, a Series, or an array or frame of one row.

        Returns
        -------
        Explanation
            The training rows that shaped the prediction; `pair(a, b)` says why two labels are
            tied or not. Printed, it is a text.
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

        That of an oblique feature is divided among its features by the size of their weights.
        """
        p, n, k = self.n_features_in_, len(self.forests_), len(self.labels_)
        total = np.zeros(p)
        for number, forest in enumerate(self.forests_):
            shares = forest.feature_importances_
            if self.oblique_ is not None:
                shares = self.oblique_.attribute(shares)
            # Forests of single labels vote on a pair each for one of its two labels.
            total += shares * (1 if label_of(number, n, k) is None else 2 / k)
        return total / votes_of_a_pair(n, k)

    def _pairs(self, X: Array) -> Pairs:
        return self._leaves().pairs(self._widened(X))

    def _widened(self, X: Array) -> Array:
        return X if self.oblique_ is None else self.oblique_.transform(X)

    def _leaves(self) -> Leaves:
        """Those of the fit, or put together anew after the ranker has been loaded."""
        voting: Leaves | None = getattr(self, "_voting", None)
        if voting is None:
            voting = self._voting = self._leaves_of(self.min_samples_)
        return voting

    def _leaves_of(self, min_samples: int) -> Leaves:
        weights = self._marginal_weight(), float(self.prior_weight)
        own = self.forests_, self.rankings_, self.places_, self.consensus_
        return Leaves.of(*own, weights, min_samples)

    def _marginal_weight(self) -> float:
        if self.marginal_weight is None:
            return _MARGINAL_WEIGHTS[self.positions]
        return float(self.marginal_weight)

    def __getstate__(self) -> dict[str, Any]:
        """Without what follows from the rest."""
        return {name: value for name, value in super().__getstate__().items() if name != "_voting"}

    @property
    def _row_bytes(self) -> int:
        features, oblique = self.n_features_in_, self.oblique_
        if oblique is not None:
            features = sum(oblique.weights_.shape)
        k, places = len(self.labels_), int(self.places_.max(initial=0)) + 1
        own = _CELL_BYTES * k**2 + _FEATURE_BYTES * features + _PLACE_BYTES * k * places
        return own * 4 // 3  # the rest of a chunk is for leaf members, and for decoding

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
