"""The ranking forest: leaves that answer the pairwise question, decoded for the metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from moreplr.encoders import encode
from moreplr.forest import ForestBatch, ForestRegressor
from moreplr.forest.checks import integer_from
from moreplr.metrics import tau_x_score
from moreplr.rankers._pairs import (
    PairRanker,
    Pairs,
    check_name,
    consensus,
    pair_codes,
    weighted_rows,
)
from moreplr.rankers.explanation import Explanation, explanation, one_row
from moreplr.rankers.leaves import Leaves, Reading, evenly, places, sure_gain
from moreplr.rankers.prediction_sets import (
    PredictionSets,
    merged,
    prediction_sets,
    risk_curve,
    threshold,
)
from moreplr.rankings import Positions, count_buckets
from moreplr.regressors._base import Array

STRUCTURES = ("auto", "shared", "per_label")
POSITIONS = ("observed", "given")
LEAF_SIZES = (1, 2, 4, 8, 16, 32)
MARGINAL_WEIGHTS = (0.0, 0.5, 100.0)
PAIR_SHARES = (0.0, 0.25, 0.5, 1.0)
# A choice among a few candidates needs no more rows than this.
_SCORED_ROWS = 800
_PROBED_ROWS = 2_000
# One of many readings may be ahead by chance: so many standard errors are asked of it.
_SURE = 2.0
# The least gain in τ_X that each of many forests must bring where growing them takes long.
_GAIN_A_FOREST = 0.001
# Beyond this a forest for each label, and marginals of all pairs, cost more than they tell.
_MANY_LABELS = 64
# Beyond this a forest for each pair of labels costs more than all others.
_MANY_PAIRS = 200


class RankingForest(PairRanker):
    """A random forest on positions whose leaf members vote on every pair of labels.

    The forest is grown on the rankings as vectors of positions, so that its cost hardly depends
    on the number of pairs. For a new row, the training rows that share its leaves tell how
    probable each of i ≻ j, i ∼ j and j ≻ i is, and the bucket order of the greatest expected τ_X
    is predicted. Where no training ranking has a tie, predictions have none.

    Forests of single pairs, as in :class:`PairwiseRanker`, have a share in these probabilities:
    they see a difference between two labels that is lost among the positions of all.

    What decides accuracy is chosen out of bag: how many rows a leaf must hold (one forest grown
    deep serves every size), how much the labels' own distributions of positions count beside
    the pairs that are ranked together, and the share of the forests of single pairs. A choice
    leaves the default only for a gain in τ_X beyond two standard errors, or one for this share.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees of a forest.
    structure : {"auto", "shared", "per_label"}
        One forest for all labels, or one for each, where a pair asks the forests of its two
        labels. "auto" compares them out of bag. Up to 2,000 rows both are grown, and one for
        all is taken if its gain in τ_X exceeds the standard error. With more rows 2,000 of
        them are compared, and one for each of k labels is taken if its gain exceeds the
        standard error and 0.001·k, since growing them takes longer; beyond 64 labels never.
    min_samples : int or "auto"
        The least number of rows in the node that answers: the leaf, or its lowest ancestor that
        is large enough.
    marginal_weight : float or "auto"
        The weight of the labels' own distributions of positions, taken as independent, against
        1 for all pairs of a leaf. They also use the rows that rank only one of two labels.
        By default ¼, or 1 for incomplete rankings with `positions="given"`; "auto" tries
        others for up to 64 labels.
    pair_share : float from 0 to 1, or "auto"
        The share of forests of single pairs of labels in the probabilities; 0 grows none. By
        default ¼, and "auto" tries others. With more than 2,000 rows "auto" grows them only if
        they gain on 2,000 what `structure` asks of many forests; never for more than 200 pairs.
        None are grown for rows of different `sample_weight`.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        How many features a split looks at; a float is a share. "auto" is a third for one
        forest for all labels, and 0.6 for one of a single label or pair.
    positions : {"observed", "given"}
        Whether the positions in incomplete rankings count the ranked labels only, or are given
        for all labels; see :func:`moreplr.encoders.encode`.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        What the bucket order is the best for.
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None
        The seed of bootstraps and features.

    Attributes
    ----------
    structure_ : the structure in use
    reading_ : the leaf size, the weight of the marginals and the share of pairs in use
    scores_ : dict of the out-of-bag τ_X of each reading that was tried; empty if none was
    risk_ : array, how often true relations have small probabilities out of bag, for `predict_set`
    row_numbers_ : the numbers of the training rows that count: those of positive weight
    forests_ : list of the fitted forests, one, or one for each label
    pair_forests_ : the batch of a forest for each pair of labels, or None
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
        structure: str = "auto",
        min_samples: int | str = "auto",
        marginal_weight: float | str = "auto",
        pair_share: float | str = "auto",
        max_features: Any = "auto",
        positions: str = "observed",
        aggregation: str = "auto",
        objective: str = "tau_x",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.structure = structure
        self.min_samples = min_samples
        self.marginal_weight = marginal_weight
        self.pair_share = pair_share
        self.max_features = max_features
        self.positions = positions
        self.aggregation = aggregation
        self.objective = objective
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest or forests and choose how to read their leaves.

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
        self._incomplete = bool((ranked < Y.shape[1]).any())
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._grow_chosen(X, Y, weight)
        self._choose_reading()
        self.risk_ = self._calibrate()
        return self

    def predict(
        self,
        X: Any,
        *,
        n_buckets: int | None = None,
        top: int | None = None,
        total_order: bool | None = None,
    ) -> Positions:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_buckets : int, optional
            Predict exactly this many buckets.
        top : int, optional
            Resolve this many labels only; all others share the last bucket.
        total_order : bool, optional
            Predict no ties, but for the last bucket of `top`. By default where the training
            rankings have none, unless a number of buckets is asked for.
        """
        self._check_predict(X)
        if total_order is None:
            total_order = not self.ties_ and n_buckets is None
        return super().predict(X, n_buckets=n_buckets, top=top, total_order=total_order)

    def predict_set(self, X: Any, alpha: float = 0.1) -> PredictionSets:
        """Leave the pairs undecided whose relation is uncertain at the wanted level.

        For each pair the relations that are not ruled out: sets that miss the true relation in
        a share `alpha` of a new row's pairs, in expectation. Calibrated out of bag, on up to
        800 training rows, which stand in for new rows of the same kind.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        alpha : float between 0 and 1, default=0.1
            With less than 1 / alpha - 1 training rows, nothing is ruled out.

        Returns
        -------
        PredictionSets
            Its `relation` is 1, 0, -1, or NaN where undecided.

        Examples
        --------
        >>> from moreplr.datasets import load
        >>> X, Y = load("iris")
        >>> forest = RankingForest(random_state=0).fit(X[::2], Y[::2])
        >>> forest.predict_set(X.iloc[[3, 77, 129]], alpha=0.05).to_text()
        [['setosa > versicolor', 'setosa > virginica', 'versicolor ~ virginica'], \
['versicolor > setosa', 'virginica > setosa'], ['virginica > setosa']]
        """
        X = self._check_predict(X)
        if not (isinstance(alpha, (int, float)) and 0 < alpha < 1):
            raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}")
        least = threshold(self.risk_, alpha)
        k = len(self.labels_)
        precedes, tied = np.empty((2, len(X), k, k), bool)
        for rows in self._chunks(len(X)):
            part = prediction_sets(self._pairs(X[rows]), self.labels_, least)
            precedes[rows], tied[rows] = part.precedes, part.tied
        return PredictionSets(precedes, tied, self.labels_)

    def explain(self, x: Any) -> Explanation:
        """Tell why one row is ranked as it is.

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
            self._leaves().row_weights(X, self.reading_),
            objective=self.objective,
            ties=self.ties_,
        )

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the reduction of squared error of all positions."""
        return np.mean([forest.feature_importances_ for forest in self.forests_], axis=0)

    def _grow(self, structure: str, X: Array, Y: Positions, weight: Array | None) -> None:
        kind = "given" if self.positions == "given" else "expected"
        targets = encode(Y, "modified", kind)
        unseen = np.isnan(targets).all(axis=0)
        filled = np.where(unseen, np.nanmean(targets), targets)
        columns = [filled] if structure == "shared" else list(filled.T[:, :, None])
        self.rankings_, self.places_ = Y, places(targets)
        self.weight_ = weight
        self.forests_ = [
            ForestRegressor(
                self.n_estimators,
                max_features=self._features_for(structure),
                n_jobs=self.n_jobs,
                random_state=self._seed,
            ).fit(X, column, weight)
            for column in columns
        ]

    def _features_for(self, structure: str) -> Any:
        """Few features keep trees of many labels different; those of one need the right ones."""
        if isinstance(self.max_features, str) and self.max_features == "auto":
            return 1 / 3 if structure == "shared" else 0.6
        return self.max_features

    def _grow_pairs(self, X: Array, Y: Positions) -> ForestBatch:
        return ForestBatch(
            self.n_estimators,
            max_features=self._features_for("pair"),
            n_jobs=self.n_jobs,
            random_state=self._seed,
        ).fit(X, pair_codes(Y), n_classes=3)

    def _grow_chosen(self, X: Array, Y: Positions, weight: Array | None) -> None:
        """Grow forests for all labels or for each, and for pairs, as is better out of bag.

        What is to be chosen for many rows is chosen on some of them.
        """
        k = Y.shape[1]
        rows = evenly(np.arange(len(X)), _PROBED_ROWS)
        many = len(rows) < len(X)
        part = X[rows], Y[rows], None if weight is None else weight[rows]
        self.structure_ = "shared" if self.structure == "auto" else self.structure
        self.pair_forests_: ForestBatch | None = None
        probing = self.structure == "auto" and 3 <= k <= _MANY_LABELS
        pairs = self._takes_pairs(k, weight)
        if probing:
            self._choose_structure(*part, many=many)
        elif not many or (pairs and self.pair_share == "auto"):
            self._grow(self.structure_, *part)
        if many:
            if pairs and self.pair_share == "auto":
                self.pair_forests_ = self._grow_pairs(*part[:2])
                pairs = self._gain_of_pairs() > _GAIN_A_FOREST * k
            self._grow(self.structure_, X, Y, weight)
        self.pair_forests_ = self._grow_pairs(X, Y) if pairs else None

    def _choose_structure(
        self, X: Array, Y: Positions, weight: Array | None, *, many: bool
    ) -> None:
        """Grow one forest for all labels and one for each; keep the better one."""
        grown, scores = {}, {}
        for structure in ("per_label", "shared"):
            self._grow(structure, X, Y, weight)
            grown[structure] = self.forests_
            scores[structure] = self._score([self._default_reading()])[0]
        if many:
            gain = sure_gain(scores["per_label"], scores["shared"])
            chosen = "per_label" if gain > _GAIN_A_FOREST * Y.shape[1] else "shared"
        else:  # in doubt one for each label
            gain = sure_gain(scores["shared"], scores["per_label"])
            chosen = "shared" if gain > 0 else "per_label"
        self.structure_, self.forests_ = chosen, grown[chosen]

    def _gain_of_pairs(self) -> float:
        reading = self._default_reading()
        return sure_gain(*self._score([reading, reading._replace(pair_share=0.0)]))

    def _takes_pairs(self, k: int, weight: Array | None) -> bool:
        equal = weight is None or bool((weight == weight[0]).all())
        if isinstance(self.pair_share, str):
            return equal and k >= 3 and k * (k - 1) // 2 <= _MANY_PAIRS
        return equal and k >= 2 and self.pair_share > 0

    def _default_reading(self) -> Reading:
        """Leaves as they are; the marginals count little, or half where given positions miss."""
        size = 1 if self.min_samples == "auto" else int(self.min_samples)
        weight, share = self.marginal_weight, self.pair_share
        if weight == "auto":
            weight = 1.0 if self._incomplete and self.positions == "given" else 0.25
        if share == "auto":
            share = 0.25
        return Reading(size, float(weight), 0.0 if self.pair_forests_ is None else float(share))

    def _choose_reading(self) -> None:
        """Leave the default for a sure gain in τ_X: first in leaf size, then in the weight."""
        self.reading_ = self._default_reading()
        self.scores_: dict[Reading, float] = {}
        if len(self.labels_) == 1:
            return
        if self.min_samples == "auto":
            self._choose_among([self.reading_._replace(min_samples=size) for size in LEAF_SIZES])
        if self.marginal_weight == "auto" and len(self.labels_) <= _MANY_LABELS:
            weights = sorted({*MARGINAL_WEIGHTS, self.reading_.marginal_weight})
            self._choose_among([self.reading_._replace(marginal_weight=w) for w in weights])
        if self.pair_share == "auto" and self.pair_forests_ is not None:
            shares = [self.reading_._replace(pair_share=share) for share in PAIR_SHARES]
            self._choose_among(shares, errors=1.0)  # these differ more than other readings do

    def _choose_among(self, readings: list[Reading], errors: float = _SURE) -> None:
        """Take the reading that gains most over the present one, if that is sure."""
        tau = self._score(readings)
        if np.isnan(tau).all():
            return
        base = tau[readings.index(self.reading_)]
        gains = [sure_gain(one, base, errors) for one in tau]
        if max(gains) > 0:
            self.reading_ = readings[int(np.argmax(gains))]
        self.scores_ |= dict(zip(readings, np.nanmean(tau, axis=1).tolist(), strict=True))

    def _score(self, readings: list[Reading]) -> Array:
        """Out-of-bag τ_X of each reading on some rows, NaN where there is none."""
        leaves = self._leaves()
        rows = leaves.comparing_rows(_SCORED_ROWS)
        tau = np.full((len(readings), len(rows)), np.nan)
        for chunk in self._chunks(len(rows)):
            for at, pairs, asked in leaves.out_of_bag(rows[chunk], readings):
                ranks = self._decode(pairs, total_order=not self.ties_, random_state=0)
                own = tau_x_score(leaves.rankings[rows[chunk]], ranks, per_sample=True)
                tau[at, chunk] = np.where(asked, own, np.nan)
        return tau

    def _calibrate(self) -> Array:
        """How often true relations have less than some probability, out of bag."""
        leaves = self._leaves()
        rows = leaves.comparing_rows(_SCORED_ROWS)
        curves = [risk_curve(Pairs(*np.empty((2, 0, 1, 1))), np.empty((0, 1)))]
        for chunk in self._chunks(len(rows)):
            for _, (P, Q), asked in leaves.out_of_bag(rows[chunk], [self.reading_]):
                true = leaves.rankings[rows[chunk]][asked]
                curves.append(risk_curve(Pairs(P[asked], Q[asked]), true))
        return merged(curves)

    def _pairs(self, X: Array) -> Pairs:
        return self._leaves().pairs(X, self.reading_)

    def _leaves(self) -> Leaves:
        rankings = self.rankings_, self.places_
        return Leaves(self.forests_, self.pair_forests_, *rankings, self.consensus_)

    def _check_parameters(self) -> None:
        self._check_decoding()
        integer_from("n_estimators", self.n_estimators, 1)
        check_name("structure", self.structure, STRUCTURES)
        check_name("positions", self.positions, POSITIONS)
        if self.min_samples != "auto":
            integer_from("min_samples", self.min_samples, 1)
        weight = self.marginal_weight
        if weight != "auto" and (isinstance(weight, str) or not 0 <= weight < np.inf):
            raise ValueError(f"marginal_weight must be 'auto' or at least 0, got {weight!r}")
        share = self.pair_share
        if share != "auto" and (isinstance(share, str) or not 0 <= share <= 1):
            raise ValueError(f"pair_share must be 'auto' or from 0 to 1, got {share!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
