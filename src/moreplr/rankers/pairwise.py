"""Ranking by pairwise comparison (RPC): a classifier for each pair of labels, then aggregation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import get_tags

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import check_name, take, weighted_rows
from moreplr.aggregation import aggregate
from moreplr.base import PairRanker, Pairs
from moreplr.forest import ForestClassifier
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers._pair_models import Codes, PairClassifiers, PairForests
from moreplr.rankers._pairs import pair_codes, square, warn_unseen
from moreplr.regressors._fitting import seeded

TIES = ("probability", "published")
_FOLDS = 5
# Three parameters need no more held-out probabilities than this.
_CALIBRATION_PAIRS = 200_000


class PairwiseRanker(PairRanker):
    """Partial label ranking by pairwise comparison (RPC).

    For every pair of labels, a classifier learns whether the first precedes, is tied with or
    succeeds the second, from the rows that rank both. Aggregation turns the probabilities of all
    pairs into a bucket order.

    If no row ranks both labels of a pair, each relation gets probability 1/3. If all rows agree
    on a pair, their relation gets probability 1.

    Parameters
    ----------
    classifier : classifier with predict_proba, optional
        It is cloned for each pair. By default a
        :class:`moreplr.forest.ForestClassifier` of 100 trees. Without sample weights such
        forests are fitted as one batch.
    aggregation : str, default="segments"
        A method of :func:`moreplr.aggregation.aggregate`. The bucket options of `predict` need
        "auto", "exact", "local" or "segments". The default sorts labels by score and finds the
        best cuts. The best of all bucket orders would also fit the errors of the estimates.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix P(i≻j) + ½P(i∼j),
        which is the optimal bucket order problem.
    ties : {"probability", "published"}, default="probability"
        "published" uses the pair order matrix of the published experiments, in which the tied
        share is halved twice: (p + t/4) / (p + t/2 + s) for probabilities p, t and s of
        preceding, tied and succeeding. It holds no tie probabilities, so that the objective is
        always "l1". The aggregation "auto" then means the published "bpa_lia_mp2", unless
        `predict` gets bucket options.
    calibrated : bool, default=False
        Calibrate the probabilities on held-out rows. Three parameters, which all pairs share,
        correct overconfidence, underconfidence and the share of ties.
    n_jobs : int, optional
        The number of pairs fitted and predicted at the same time.
    random_state : int, RandomState instance or None
        The seed of each pair's classifier, if it takes one, of the folds of calibration, and of
        the pivots of aggregation "bpa".

    Attributes
    ----------
    model_ : the fitted model of all pairs, in the order of ``numpy.triu_indices(n_labels, 1)``
    calibration_ : the fitted calibration, or None
    labels_ : object array (n_labels,)

    References
    ----------
    Hüllermeier, Fürnkranz, Cheng and Brinker (2008): Label ranking by learning pairwise
    preferences. Alfaro, Aledo and Gámez (2023): Pairwise learning for the partial label ranking
    problem.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> ranker = PairwiseRanker(LogisticRegression(C=100)).fit(X, Y)
    >>> ranker.predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea ~ water']
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        aggregation: str = "segments",
        objective: str = "tau_x",
        ties: str = "probability",
        calibrated: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.classifier = classifier
        self.aggregation = aggregation
        self.objective = objective
        self.ties = ties
        self.calibrated = calibrated
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit a classifier for each pair of labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        self._check_decoding()
        check_name("ties", self.ties, TIES)
        classifier = self._classifier()
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        codes = pair_codes(Y)
        warn_unseen(int((codes < 0).all(axis=0).sum()), codes.shape[1])
        self.model_ = self._fit_pairs(classifier, X, codes, weight)
        self.calibration_ = None
        if self.calibrated:
            self.calibration_ = self._calibrate(classifier, X, codes, weight)
        return self

    def _fit_pairs(
        self, classifier: Any, X: Array, codes: Codes, weight: Array | None
    ) -> PairForests | PairClassifiers:
        if PairForests.suits(classifier, codes, weight):
            return PairForests.fit(classifier, X, codes, self.n_jobs)
        return PairClassifiers.fit(classifier, X, codes, weight, self.labels_, self.n_jobs)

    def _calibrate(
        self, classifier: Any, X: Array, codes: Codes, weight: Array | None
    ) -> PairCalibration | None:
        """Calibrate on cross-validated probabilities."""
        known = (codes >= 0) & self.model_.learned
        if len(X) < 2 or not known.any():
            return None
        held_out = np.empty((*codes.shape, 3))
        folds = KFold(min(_FOLDS, len(X)), shuffle=True, random_state=self.random_state)
        for train, test in folds.split(X):
            model = self._fit_pairs(classifier, *take(train, X, codes, weight))
            held_out[test] = model.predict(X[test])
        rows, pairs = np.nonzero(known)
        step = -(-len(rows) // _CALIBRATION_PAIRS)
        rows, pairs = rows[::step], pairs[::step]
        (weight,) = take(rows, weight)
        return PairCalibration().fit(held_out[rows, pairs], codes[rows, pairs], weight)

    def _pairs(self, X: Array) -> Pairs:
        three_way = self.model_.predict(X)
        if self.calibration_ is not None:
            learned = self.model_.learned
            three_way[:, learned] = self.calibration_.transform(three_way[:, learned])
        return square(three_way, len(self.labels_))

    def _decode(self, pairs: Pairs, **options: Any) -> Positions:
        if self.ties == "probability":
            return super()._decode(pairs, **options)
        method = self._aggregation
        plain = not any(options.get(name) for name in ("n_buckets", "top", "total_order"))
        if method == "auto" and plain:
            method = "bpa_lia_mp2"
        return aggregate(_published_order(pairs), method, "l1", **options)

    def _classifier(self) -> Any:
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            # An integer, since the draws of a generator would depend on the order of fits.
            seed = seed.randint(2**31 - 1)
        if self.classifier is None:
            return ForestClassifier(random_state=seed)
        if isinstance(self.classifier, type) or not hasattr(self.classifier, "fit"):
            raise TypeError(
                f"classifier must be a classifier object or None, got {self.classifier!r}"
            )
        if not hasattr(self.classifier, "predict_proba"):
            raise ValueError(
                f"classifier {self.classifier!r} has no predict_proba, which pairs need; wrap "
                "it in sklearn.calibration.CalibratedClassifierCV"
            )
        return seeded(self.classifier, seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.classifier, "fit") and not isinstance(self.classifier, type):
            tags.input_tags.allow_nan = get_tags(self.classifier).input_tags.allow_nan
        else:
            tags.input_tags.allow_nan = self.classifier is None
        return tags


def _published_order(pairs: Pairs) -> Array:
    """Pair order matrices in which the tied share is halved twice, as published."""
    P, Q = pairs
    C = (P + Q / 4) / (P + Q / 2 + P.swapaxes(1, 2))
    upper = np.triu(np.ones(C.shape[1:], dtype=bool), 1)
    return np.where(upper, C, 1 - C.swapaxes(1, 2))
