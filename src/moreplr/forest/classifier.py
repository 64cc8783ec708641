"""A random forest classifier: the Gini index is the squared error of class indicators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length

from moreplr._types import AnyArray, Seed, Weights
from moreplr.forest.base import BaseForest
from moreplr.forest.checks import codes_of, features_of, limits_of


class ForestClassifier(ClassifierMixin, BaseForest):
    """A random forest classifier on binned features.

    Trees are split by the Gini index, and a leaf's class shares are averaged over the trees.
    Rows with NaN go to the side that gives the larger gain. Encode categorical features as
    integers first, for example with scikit-learn's OrdinalEncoder.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        How many features a split considers; a float is a share.
    max_depth, min_samples_leaf, min_samples_split, bootstrap, max_samples, \
max_bins, n_jobs, random_state
        As in `ForestRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    trees_, binner_, codes_, seeds_
        As in `ForestRegressor`.

    Examples
    --------
    >>> from moreplr.forest import ForestClassifier
    >>> forest = ForestClassifier(10, random_state=0).fit([[0], [1], [8], [9]], list("aabb"))
    >>> forest.predict([[0.5], [8.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = "sqrt",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        bootstrap: bool = True,
        max_samples: float | None = None,
        max_bins: int = 255,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            n_estimators,
            max_features=max_features,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            min_samples_split=min_samples_split,
            bootstrap=bootstrap,
            max_samples=max_samples,
            max_bins=max_bins,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> ForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or BinnedMatrix
            Features. NaN is treated as a separate value; infinity raises an error.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, multiplied by the bootstrap's counts.

        Returns
        -------
        ForestClassifier
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        limits_of(self, 1)
        features, weight = features_of(self, X, self.max_bins, sample_weight)
        y = _one_column(y)
        check_consistent_length(features.codes, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._fit_trees(features, np.eye(len(self.classes_))[codes], weight)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The share of each class, averaged over the trees, (n_samples, n_classes)."""
        return _shares(self._mean(codes_of(self, X)))

    def predict(self, X: ArrayLike) -> AnyArray:
        """The class with the largest share; of equal shares, the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Class shares of each training row from trees that did not draw it, or NaN."""
        return _shares(self._out_of_bag_mean())


def _one_column(y: ArrayLike) -> AnyArray:
    if np.ma.is_masked(y):
        raise ValueError("y has masked cells: leave out the rows whose class is not known")
    column: AnyArray = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if column.ndim == 2 and column.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        column = column.ravel()
    if column.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {column.shape}")
    return column


def _shares(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correct rounding errors, so that shares are not negative and sum to 1."""
    mean = mean.clip(min=0.0)
    return mean / mean.sum(axis=1, keepdims=True)
