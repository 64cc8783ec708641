"""The ranking forest: leaves that answer the pairwise question, decoded for the metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from moreplr._types import Array, Positions
from moreplr._validation import check_name, integer_from, weighted_rows
from moreplr.base import PairRanker, Pairs, decoded
from moreplr.rankers._pairs import consensus
from moreplr.rankers.choosing import Chooser, takes_oblique
from moreplr.rankers.explanation import Explanation, explanation, one_row
from moreplr.rankers.growth import Growth, Trees
from moreplr.rankers.leaves import Leaves
from moreplr.rankers.oblique import Oblique
from moreplr.rankers.prediction_sets import PredictionSets, prediction_sets, threshold
from moreplr.rankings import count_buckets

STRUCTURES = ("auto", "shared", "per_label")
POSITIONS = ("observed", "given")
# Of a row and a feature: standardised, widened, and what is made on the way.
_FEATURE_BYTES = 32


class RankingForest(PairRanker):
    """A random forest on positions whose leaf members vote on every pair of labels.

    The forest is grown on the rankings as vectors of positions. For a new row, the training
    rows that share its leaves tell how probable each of i ≻ j, i ∼ j and j ≻ i is, and a bucket
    order of great expected τ_X is predicted. Where no training ranking has a tie, predictions
    have none.

    Forests of single pairs, as in :class:`PairwiseRanker`, have a share in these probabilities:
    they see a difference between two labels that is lost among the positions of all.

    A third of the trees look at oblique features too, sums of the features as they are: principal
    components, and each label's position as a ridge regression predicts it. A border that runs
    slantwise takes a tree many splits otherwise; as the other trees do without, the forest does
    not rely on it.

    What decides accuracy is chosen out of bag. Of the forests: whether all labels share one,
    and how many features a split looks at. Of their leaves: how many rows one must hold (a
    forest grown deep serves every size), how much the labels' own distributions of positions
    count beside the pairs that are ranked together, and the share of the forests of single
    pairs. Of bucket orders: whether the best of all is predicted, or the best in which labels are
    sorted by their scores. A choice leaves the default only for a gain in τ_X beyond a standard
    error; for leaf sizes, distributions and bucket orders, beyond two.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        The number of trees of a forest. "auto" is 300, and 100 for more than 2,000 rows and for
        the forests of single pairs. These have fewer, down to 10, where all their trees would
        draw more than 75 million rows.
    structure : {"auto", "shared", "per_label"}
        One forest for all labels, or one for each, where a pair asks the forests of its two
        labels. "auto" compares them out of bag, and takes one for all if its gain in τ_X
        exceeds the standard error. With n > 2,000 rows 2,000 of them are compared, and one for
        all of k labels may be worse by 5e-8·n·k, since the others take longer to grow; beyond
        64 labels it is always taken.
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
        default ¼, and "auto" tries others. With more than 2,000 rows "auto" takes the best
        share out of bag, and grows none if they lose more than a standard error on 2,000 rows,
        or if `structure="shared"` asks for the least work; and never for more than 64 labels,
        for pairs that have more than 7.5 million rows together, nor for rows of different
        `sample_weight`.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        How many features a split looks at; a float is a share. "auto" is a third for one
        forest for all labels, and 0.6 for one of a single label or pair; or √n_features, each
        time, if its gain in τ_X out of bag exceeds the standard error, as where many features
        tell much the same. Oblique features count, and trees that do without them draw among
        all, too, and look at those they may. Of more than 2,000 rows 2,000 decide, and pairs
        take the fewer features in doubt; beyond 64 labels none decide.
    oblique : bool or "auto", default="auto"
        Whether a third of the trees look at sums of features too. "auto" does so for up to 2,000
        rows, 64 labels and 500 features, if there is more than one. In these sums all rows weigh
        the same, and a missing feature counts as the mean. There are none if a feature is
        beyond 1e150.
    positions : {"observed", "given"}
        Whether the positions in incomplete rankings count the ranked labels only, or are given
        for all labels; see :func:`moreplr.encoders.encode`.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`. "auto" is the best bucket order of all
        for rankings without ties. With ties it is "segments", the best cut of the labels sorted
        by their scores, which follows the estimates less where they err; the best of all if it
        gains more than two standard errors out of bag. With more than 2,000 rows, whichever of
        the two is better out of bag.
    objective : {"tau_x", "l1"}, default="tau_x"
        What the bucket order is the best for.
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None
        The seed of bootstraps and features.

    Attributes
    ----------
    structure_ : the structure in use
    reading_ : the leaf size, the weight of the marginals, the share of pairs and the aggregation
        in use
    scores_ : dict of the out-of-bag τ_X of each reading that was tried; empty if none was
    risk_ : array, how often true relations have small probabilities out of bag, for `predict_set`
    row_numbers_ : the numbers of the training rows that count: those of positive weight
    forests_ : list of the fitted forests, one, or one for each label; their `max_features`
        is the number in use
    pair_forests_ : the batch of a forest for each pair of labels, or None
    oblique_ : what gives the sums of features to new rows, or None
    labels_ : object array (n_labels,)

    References
    ----------
    Zhou and Qiu (2018): Random forest for label ranking. Meinshausen (2006): Quantile regression
    forests. Hüllermeier, Fürnkranz, Cheng and Brinker (2008): Label ranking by learning pairwise
    preferences. Rodríguez, Kuncheva and Alonso (2006): Rotation forest. Menze, Kelm, Splitthoff,
    Koethe and Hamprecht (2011): On oblique random forests.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> RankingForest(random_state=0).fit(X, Y).predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea > water']
    """

    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        structure: str = "auto",
        min_samples: int | str = "auto",
        marginal_weight: float | str = "auto",
        pair_share: float | str = "auto",
        max_features: Any = "auto",
        oblique: bool | str = "auto",
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
        self.oblique = oblique
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
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        growth = Growth(
            X,
            Y,
            weight,
            positions=self.positions,
            trees=Trees.of(self.n_estimators, Y),
            max_features=self.max_features,
            n_jobs=self.n_jobs,
            seed=self._seed,
        )
        self.rankings_, self.places_, self.weight_ = Y, growth.places, weight
        self.oblique_: Oblique | None = None
        if takes_oblique(self, growth):
            growth, self.oblique_ = growth.oblique()
        chooser = Chooser(self, growth)
        way = chooser.way()
        self.structure_ = way.structure
        self.forests_, self.pair_forests_ = growth.forests(way), growth.pair_forests(way)
        self.reading_, self.scores_, self.risk_ = chooser.reading(way)
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
            self._leaves().row_weights(self._widen(X), self.reading_),
            objective=self.objective,
            ties=self.ties_,
        )

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the reduction of squared error of all positions.

        What a sum of features tells is divided among them by the size of their weights.
        """
        shares = np.mean([forest.feature_importances_ for forest in self.forests_], axis=0)
        return shares if self.oblique_ is None else self.oblique_.told_by(shares)

    def _pairs(self, X: Array) -> Pairs:
        return self._leaves().pairs(self._widen(X), self.reading_)

    def _decode(self, pairs: Pairs, **options: Any) -> Positions:
        return decoded(pairs, self.reading_.aggregation, self.objective, **options)

    def _widen(self, X: Array) -> Array:
        return X if self.oblique_ is None else self.oblique_.widen(X)

    @property
    def _row_bytes(self) -> int:
        features = 0 if self.oblique_ is None else sum(self.oblique_.weights.shape)
        return super()._row_bytes + _FEATURE_BYTES * features

    def _leaves(self) -> Leaves:
        rankings = self.rankings_, self.places_
        return Leaves(self.forests_, self.pair_forests_, *rankings, self.consensus_)

    def _check_parameters(self) -> None:
        self._check_decoding()
        if self.n_estimators != "auto":
            integer_from("n_estimators", self.n_estimators, 1)
        check_name("structure", self.structure, STRUCTURES)
        check_name("positions", self.positions, POSITIONS)
        if self.min_samples != "auto":
            integer_from("min_samples", self.min_samples, 1)
        weight = self.marginal_weight
        if weight != "auto" and (isinstance(weight, str) or not 0 <= weight < np.inf):
            raise ValueError(f"marginal_weight must be 'auto' or at least 0, got {weight!r}")
        if self.oblique != "auto" and not isinstance(self.oblique, bool):
            raise ValueError(f"oblique must be True, False or 'auto', got {self.oblique!r}")
        share = self.pair_share
        if share != "auto" and (isinstance(share, str) or not 0 <= share <= 1):
            raise ValueError(f"pair_share must be 'auto' or from 0 to 1, got {share!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
