"""What all rankers share: rankings in any form at the door, labels, texts and the τ_X score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from moreplr.metrics import tau_x_score
from moreplr.rankings import Labels, Positions, check_rankings, to_text
from moreplr.regressors._base import Array, check_sample_weight, finite_or_nan


class BaseRanker(BaseEstimator):
    """A scikit-learn estimator that predicts bucket orders; subclasses fit and predict.

    Attributes
    ----------
    labels_ : object array (n_labels,), the label names in the order of the columns
    n_features_in_, feature_names_in_ : as in scikit-learn
    """

    labels_: Labels

    def predict(self, X: Any) -> Positions:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket."""
        raise NotImplementedError

    def predict_text(self, X: Any, *, signs: str = ">~") -> list[str]:
        """Predict bucket orders as texts such as ``"b > a ~ c"``."""
        return to_text(self.predict(X), self.labels_, signs=signs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean τ_X of the predictions; only pairs of labels that y ranks count."""
        predicted = self.predict(X)
        true, _ = check_rankings(y, self.labels_)
        return tau_x_score(true, predicted, sample_weight=sample_weight)

    def _check_fit(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Array, Positions, Array | None]:
        """Validate what `fit` gets, once; learn the labels and the features' names."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=finite_or_nan(self))
        positions, self.labels_ = check_rankings(y)
        if len(positions) != len(X):
            raise ValueError(f"X has {len(X)} rows, but y has {len(positions)}")
        unranked = int(np.isnan(positions).all(axis=1).sum())
        if unranked == len(positions):
            raise ValueError("y ranks no label in any row: there is nothing to learn")
        if unranked:
            warnings.warn(
                f"{unranked} of {len(positions)} rows rank no label and teach nothing",
                UserWarning,
                stacklevel=3,
            )
        return X, positions, check_sample_weight(sample_weight, len(X))

    def _check_predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite=finite_or_nan(self)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
