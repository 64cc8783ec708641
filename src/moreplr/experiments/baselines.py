"""Modern baselines for plans, with fixed settings that were not tuned, on one thread each.

LightGBM and extremely randomised trees predict pairs of labels, XGBoost scores rows and labels,
CatBoost predicts all positions at once. Their libraries belong to the extra "baselines" and are
imported by the first fit: without them, a plan can be loaded and reported, and its other methods
run.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier

from moreplr import MORERanker, PairwiseRanker
from moreplr._types import Array, Positions, Seed, Weights
from moreplr.base import BaseRanker, PositionRegressor
from moreplr.layers import EpsilonCloseness, RoundRank
from moreplr.rankings import check_rankings, count_buckets, dense_ranks


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{error}; pip install 'moreplr[baselines]' for it") from error


class _TakesGaps:
    """Features may be NaN, which all three libraries accept."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


class LightGBM(_TakesGaps, ClassifierMixin, BaseEstimator):
    """LightGBM's classifier with its defaults."""

    def __init__(self, random_state: Seed = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit boosted trees."""
        classifier = _extra("lightgbm").LGBMClassifier
        self.model_ = classifier(n_jobs=1, random_state=self.random_state, verbose=-1)
        self.model_.fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class."""
        return self.model_.predict_proba(X)


class XGBoostRanker(_TakesGaps, BaseRanker):
    """XGBoost's pairwise ranking of (row, label), with the label one-hot encoded."""

    def __init__(self, random_state: Seed = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a model of how relevant each label is to a row."""
        X, Y, _ = self._check_fit(X, y)
        row, label = np.nonzero(~np.isnan(Y))
        relevance = (Y.shape[1] - dense_ranks(Y))[row, label]
        ranker = _extra("xgboost").XGBRanker
        self.model_ = ranker(objective="rank:pairwise", n_jobs=1, random_state=self.random_state)
        self.model_.fit(self._joined(X, row, label), relevance, qid=row)
        return self

    def predict(self, X: Any) -> Positions:
        """Sort the labels by their scores."""
        X = self._check_predict(X)
        n, k = len(X), len(self.labels_)
        row, label = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
        scores = self.model_.predict(self._joined(X, row, label)).reshape(n, k)
        return dense_ranks(-scores)

    def _joined(self, X: Array, row: NDArray[np.intp], label: NDArray[np.intp]) -> Array:
        return np.hstack([X[row], np.eye(len(self.labels_))[label]])


class CatBoostPositions(PositionRegressor):
    """All positions by one model of CatBoost.

    It refuses some targets with gaps as all equal, depending on which rows come first, which a
    plan records as a failure.
    """

    base = None  # so that gaps in features are accepted

    def __init__(self, random_state: Seed = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit boosted trees of 300 steps on the positions that are there."""
        X, Y, weight = self._check_fit(X, y, sample_weight)
        loss = "MultiRMSEWithMissingValues" if np.isnan(Y).any() else "MultiRMSE"
        self.model_ = _extra("catboost").CatBoostRegressor(
            loss_function=loss,
            iterations=300,
            thread_count=1,
            random_seed=self.random_state,
            verbose=False,
            allow_writing_files=False,
        )
        self.model_.fit(X, Y, sample_weight=weight)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        return self.model_.predict(self._check_predict(X))


class CatBoostRanker(_TakesGaps, BaseRanker):
    """Positions by CatBoost, rounded if rankings have ties, else sorted."""

    def __init__(self, random_state: Seed = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit positions and choose the layer that suits the rankings."""
        Y = check_rankings(y)[0]
        ties = bool((count_buckets(Y) < (~np.isnan(Y)).sum(axis=1)).any())
        layer = RoundRank() if ties else EpsilonCloseness(0.0)
        positions = "expected" if np.isnan(Y).any() else "observed"
        regressor = CatBoostPositions(self.random_state)
        self.ranker_ = MORERanker("dense", regressor, layer, positions=positions).fit(X, y)
        self.labels_ = self.ranker_.labels_
        return self

    def predict(self, X: Any) -> Positions:
        """Predict bucket orders."""
        return self.ranker_.predict(X)


BASELINES: dict[str, Callable[[int], Any]] = {
    "LightGBM pairs": lambda seed: PairwiseRanker(LightGBM(seed)),
    "ExtraTrees pairs": lambda seed: PairwiseRanker(
        ExtraTreesClassifier(100, min_samples_leaf=2, random_state=seed)
    ),
    "XGBoost rank": XGBoostRanker,
    "CatBoost": CatBoostRanker,
}
"""Baselines by their names in plans: functions from a seed to an unfitted ranker."""
