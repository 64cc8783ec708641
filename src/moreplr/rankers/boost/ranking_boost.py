"""Boosted trees on the likelihood of pairs, with ties."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import integer_from
from moreplr.base import PairRanker, Pairs
from moreplr.forest.binning import BinnedMatrix, check_max_bins
from moreplr.forest.checks import number_of_features
from moreplr.forest.gradient import sum_of_trees
from moreplr.forest.parallel import run
from moreplr.forest.trees import join
from moreplr.rankers._davidson import probabilities
from moreplr.rankers.boost._base import NEVER_TIED, featureless
from moreplr.rankers.boost._member import Growth, Observed, grow_member
from moreplr.rankings import dense_ranks

Codes = NDArray[np.uint8]
Rows = NDArray[np.intp]


class RankingBoost(PairRanker):
    """Partial label ranking by boosted trees that maximise the likelihood of all pairs.

    Each row gets a utility s and a tie tendency t for every label. Of two labels,

        P(i≻j) ∝ exp(s_i),   P(j≻i) ∝ exp(s_j),   P(i∼j) ∝ exp((s_i + s_j) / 2 + t_i + t_j),

    which is Davidson's (1970) model of ties. The likelihood is the product over all pairs of
    labels that a row ranks; labels that are not ranked are left out. Each step of boosting grows
    one tree for all utilities and tendencies together, so that the number of trees does not depend
    on the number of labels.

    No validation set is needed. The training rows are split into `n_members` folds, and each
    member is trained without one of them. The number of steps is the one with the highest
    likelihood of the held-out rows. Predictions use the mean of the members' utilities and
    tendencies. Features may be missing and need no scaling.

    Parameters
    ----------
    n_estimators : int, default=1000
        The most steps, which is the most trees of a member.
    learning_rate : float, default=0.2
        The factor of each step.
    max_depth : int, default=4
        The most levels of a tree below its root.
    n_members : int, default=6
        The number of folds and of members.
    patience : int, default=20
        A member stops if the likelihood of its held-out rows has not risen for this many steps.
    subsample : float, default=0.7
        The share of a member's rows that each tree is grown on.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        How many features are drawn for each tree, a number or a share; by default all.
    l2 : float, default=2.0
        Shrinks the values of leaves with few rows: it is added to the sum of second derivatives,
        to which a row contributes at most a quarter for each label that it ranks.
    n_directions : int, default=5
        Splits are chosen by the gradients in this many random directions of all utilities and
        tendencies, drawn again for each tree. The time and memory to grow a tree are
        proportional to it. Leaves fit all utilities and tendencies.
    max_bins : int, default=64
        The largest number of bins of a feature, from 2 to 255.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix.
    n_jobs : int, optional
        The number of threads; members are shared among them. The result does not depend on it.
    random_state : int, RandomState instance or None
        Draws folds, rows, features and directions.

    Attributes
    ----------
    base_scores_ : array (2 · n_labels,), utilities, then tie tendencies, without features
    members_ : list of the trees of each member; empty if no tree lowers the held-out loss
    held_out_loss_ : array (n_steps + 1,), the loss of the held-out rows before and after each step
    oof_scores_ : array (n_samples, 2 · n_labels), for each training row the prediction of the
        member that was trained without it
    feature_importances_ : array (n_features,), the shares of features in the gain of all splits
    labels_ : object array (n_labels,)

    Notes
    -----
    In a row that ranks m labels, each pair has the weight 1 / (m - 1). So each label counts as one
    comparison, and the weight of a row grows with m instead of m².

    References
    ----------
    Davidson (1970): On extending the Bradley–Terry model to accommodate ties in paired comparison
    experiments. Friedman (2001): Greedy function approximation: a gradient boosting machine.
    Iosipoi and Vakhrushev (2022): SketchBoost: fast gradient boosted decision tree for multioutput
    problems.

    Examples
    --------
    >>> from moreplr.datasets import load
    >>> X, Y = load("iris")
    >>> boost = RankingBoost(random_state=0).fit(X[::2], Y[::2])
    >>> boost.score(X[1::2], Y[1::2]) > 0.8
    True
    >>> P, Q = boost.predict_pairs(X[:1])
    >>> P.shape
    (1, 3, 3)
    """

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        learning_rate: float = 0.2,
        max_depth: int = 4,
        n_members: int = 6,
        patience: int = 20,
        subsample: float = 0.7,
        max_features: int | float | str | None = None,
        l2: float = 2.0,
        n_directions: int = 5,
        max_bins: int = 64,
        aggregation: str = "auto",
        objective: str = "tau_x",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.n_members = n_members
        self.patience = patience
        self.subsample = subsample
        self.max_features = max_features
        self.l2 = l2
        self.n_directions = n_directions
        self.max_bins = max_bins
        self.aggregation = aggregation
        self.objective = objective
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Grow trees until the likelihood of held-out rows no longer rises.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), may hold NaN
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
            Only their ratios count. Rows of weight 0 are left out.
        """
        self._check_parameters()
        X, Y, sample_weight = self._check_fit(X, y, sample_weight)
        weights = _weights(Y, sample_weight)
        rows = np.flatnonzero(weights)
        _warn_never_compared(Y[rows])
        binned = BinnedMatrix.of(X, self.max_bins, weights if len(rows) else None)
        self.binner_ = binned.binner
        self.base_scores_ = featureless(Y[rows], weights[rows])
        growth = self._growth(X.shape[1])
        ranks = np.nan_to_num(dense_ranks(Y[rows]), nan=-1.0).astype(np.int16)
        data = Observed(binned.take(rows), ranks, weights[rows])
        rng = check_random_state(self.random_state)
        n_members = min(self.n_members, len(rows)) if len(rows) > 1 else 0
        fold = rng.permutation(np.arange(len(rows)) % max(n_members, 1))
        seeds = rng.randint(np.iinfo(np.int32).max, size=n_members)
        stop = np.zeros(1, np.uint8)
        tasks = [
            (data, self.base_scores_, fold == member, growth, seed, stop)
            for member, seed in enumerate(seeds)
        ]
        grown = run(grow_member, tasks, self.n_jobs, stop)
        self.held_out_loss_ = _sum_of_curves([losses for _, losses in grown])
        steps = int(np.argmin(self.held_out_loss_))
        self.members_ = [join(trees[:steps]) for trees, _ in grown] if steps else []
        self._predict_out_of_fold(binned, rows, fold)
        return self

    def predict_scores(self, X: Any) -> Array:
        """Predict utilities of shape (n_samples, n_labels); the best label has the largest."""
        return self._scores(self._codes(self._check_predict(X)))[:, : len(self.labels_)]

    def staged_predict_pairs(self, X: Any) -> Iterator[Pairs]:
        """Predict pair probabilities after each step of boosting.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Yields
        ------
        P, Q : as of `predict_pairs`; first those without a tree, last those with all trees
        """
        codes = self._codes(self._check_predict(X))
        scores = self._scores(codes, 0, 0)
        yield self._pairs_of(scores)
        for step in range(max((trees.n_trees for trees in self.members_), default=0)):
            scores += self._scores(codes, step, step + 1) - self.base_scores_
            yield self._pairs_of(scores)

    def held_out_pairs(self, rows: ArrayLike | None = None) -> Pairs:
        """Predict pair probabilities of training rows, each by the member trained without it.

        Rows of weight 0, or without two ranked labels, are not trained on by any member.

        Parameters
        ----------
        rows : array-like of int, optional
            Row numbers of the training data. By default all.

        Returns
        -------
        P, Q : as of `predict_pairs`
        """
        check_is_fitted(self)
        scores = self.oof_scores_
        return self._pairs_of(scores if rows is None else scores[np.asarray(rows, np.intp)])

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the gain of all splits; zeros if there are none."""
        check_is_fitted(self)
        gains = [trees.importance.sum(axis=0) for trees in self.members_]
        total = np.sum(gains, axis=0) if gains else np.zeros(self.n_features_in_)
        shares: Array = total / (total.sum() or 1.0)
        return shares

    def _predict_out_of_fold(self, binned: BinnedMatrix, rows: Rows, fold: Rows) -> None:
        new = np.ones(len(binned), bool)
        new[rows] = False
        self.oof_scores_ = np.tile(self.base_scores_, (len(binned), 1))
        self.oof_scores_[new] = self._scores(binned.codes[new])
        for member, trees in enumerate(self.members_):
            own = rows[fold == member]
            sums = sum_of_trees(trees, binned.codes[own])
            self.oof_scores_[own, : sums.shape[1]] += sums

    def _pairs(self, X: Array) -> Pairs:
        return self._pairs_of(self._scores(self._codes(X)))

    def _pairs_of(self, scores: Array) -> Pairs:
        n, k = len(scores), len(self.labels_)
        pairs = Pairs(np.empty((n, k, k)), np.empty((n, k, k)))
        probabilities(scores, *pairs)
        return pairs

    def _codes(self, X: Array) -> Codes:
        return self.binner_.transform(X)

    def _scores(self, codes: Codes, first: int = 0, end: int | None = None) -> Array:
        """The mean utilities and tie tendencies of the members, by trees `first` to `end` - 1."""
        scores = np.tile(self.base_scores_, (len(codes), 1))
        for trees in self.members_:
            sums = sum_of_trees(trees, codes, first, end)
            scores[:, : sums.shape[1]] += sums / len(self.members_)
        return scores

    def _check_parameters(self) -> None:
        self._check_decoding()
        integer_from("n_members", self.n_members, 2)
        check_max_bins(self.max_bins)
        for name, least in (("learning_rate", 0.0), ("subsample", 0.0)):
            value = getattr(self, name)
            if not _is_number(value) or not least < value <= 1:
                raise ValueError(f"{name} must be in (0, 1], got {value!r}")
        if not _is_number(self.l2) or not 0 < self.l2 < np.inf:
            raise ValueError(f"l2 must be a positive number, got {self.l2!r}")

    def _growth(self, n_features: int) -> Growth:
        """Validate the parameters of growing; ties are learned only if there are any."""
        tied = (self.base_scores_[len(self.labels_) :] > NEVER_TIED).any()
        whole = ("n_estimators", "max_depth", "patience", "n_directions")
        return Growth(
            **{name: integer_from(name, getattr(self, name), 1) for name in whole},
            n_features=number_of_features(self.max_features, n_features),
            n_outputs=len(self.base_scores_) // (1 if tied else 2),
            learning_rate=float(self.learning_rate),
            subsample=float(self.subsample),
            l2=float(self.l2),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _weights(Y: Positions, sample_weight: Array | None) -> Array:
    """The weight of each pair of a row, such that each label counts as one comparison.

    Rows with fewer than two labels get weight 0. The scale of `sample_weight` has no effect.
    """
    n_ranked = (~np.isnan(Y)).sum(axis=1)
    weight = np.where(n_ranked > 1, 1.0 if sample_weight is None else sample_weight, 0.0)
    if weight.any():
        weight /= weight[weight > 0].mean()
    return weight / np.maximum(n_ranked - 1, 1)


def _warn_never_compared(Y: Positions) -> None:
    never = int(np.isnan(Y).all(axis=0).sum())
    if never and Y.shape[1] > 1:
        warnings.warn(
            f"{never} of {Y.shape[1]} labels are never compared with another; they are predicted "
            "as average labels",
            UserWarning,
            stacklevel=3,
        )


def _sum_of_curves(curves: list[Array]) -> Array:
    """The sum of losses after each step; members that have stopped keep their last loss."""
    longest = max(map(len, curves), default=1)
    total = np.zeros(longest)
    for curve in curves:
        total[: len(curve)] += curve
        total[len(curve) :] += curve[-1]
    return total
