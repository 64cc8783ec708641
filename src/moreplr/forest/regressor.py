"""A random forest regressor for many targets, some of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from moreplr._types import AnyArray, Weights
from moreplr.forest.base import BaseForest
from moreplr.forest.binning import BinnedMatrix
from moreplr.forest.checks import codes_of, features_of, limits_of, targets_of
from moreplr.forest.kernels import traverse


class ForestRegressor(RegressorMixin, BaseForest):
    """A random forest on binned features, for several targets that may have missing values.

    A split reduces the squared error summed over all targets; missing values are left out. Where
    no row of a leaf has a value for a target, the nearest ancestor with one predicts it. A target
    without any value is predicted as NaN.

    Rows with NaN in the feature of a split go to the side that gives the larger gain. If a node
    had no such rows in training, they go to the larger child. Encode categorical features as
    integers first, for example with scikit-learn's OrdinalEncoder in a pipeline.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        How many features a split considers; a float is a share.
    max_depth : int, optional
        The most levels below the root.
    min_samples_leaf : int, default=1
        The fewest rows in a leaf.
    min_samples_split : int, default=2
        The fewest rows of a node that is split.
    bootstrap : bool, default=True
        Grow each tree on rows drawn with replacement instead of all rows.
    max_samples : int or float, optional
        How many rows are drawn for each tree; a float is a share. By default as many as there
        are rows.
    max_bins : int, default=255
        The most bins of a feature; with as many distinct values or fewer, splits are exact.
    n_jobs : int, optional
        The number of threads. The result does not depend on it.
    random_state : int, RandomState or None
        The seed of bootstraps and features.

    Attributes
    ----------
    trees_ : Trees
        All trees as flat arrays.
    binner_ : Binner
        How features became bins.
    offset_ : ndarray of shape (n_targets,)
        Is added to the leaf values.
    codes_ : ndarray of uint8, shape (n_samples, n_features)
        The binned training rows.
    seeds_ : ndarray of uint64, shape (n_estimators,)
        The seed of each tree, from which its bootstrap sample can be drawn again.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest import ForestRegressor
    >>> X = np.arange(20.0)[:, None]
    >>> Y = np.column_stack([X.ravel() > 9, np.full(20, np.nan)])
    >>> Y[15:, 1] = 3
    >>> ForestRegressor(10, random_state=0).fit(X, Y).predict([[2.0], [18.0]])
    array([[0., 3.],
           [1., 3.]])
    """

    handles_missing_targets = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(
        self,
        X: ArrayLike | BinnedMatrix,
        y: ArrayLike,
        sample_weight: Weights = None,
        features: ArrayLike | None = None,
    ) -> ForestRegressor:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or BinnedMatrix
            Features. NaN is treated as a separate value; infinity raises an error.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets. NaN is a missing value; at least one value must be present.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, multiplied by the bootstrap's counts.
        features : array-like of int, optional
            The features that trees may split on; by default all. `max_features` counts these.

        Returns
        -------
        ForestRegressor
        """
        limits_of(self, 1)
        binned, weight = features_of(self, X, self.max_bins, sample_weight)
        targets = targets_of(y, binned.codes, type(self).__name__)
        self.n_outputs_ = 1 if targets.ndim == 1 else targets.shape[1]
        self._flat = targets.ndim == 1
        some = None if features is None else np.unique(np.asarray(features, np.intp))
        if some is not None and (len(some) == 0 or some[0] < 0 or some[-1] >= binned.shape[1]):
            raise ValueError(f"features must be from 0 to {binned.shape[1] - 1}, got {features!r}")
        self._fit_trees(binned, targets.reshape(-1, self.n_outputs_), weight, some)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The mean over the trees, of shape (n_samples,) or (n_samples, n_targets)."""
        return self._shaped(self._mean(codes_of(self, X)))

    def predict_trees(self, X: ArrayLike) -> NDArray[np.float64]:
        """Each tree's prediction, (n_trees, n_samples) or (n_trees, n_samples, n_targets)."""
        leaves = self.apply(X)
        trees = self.trees_
        leaf = trees.leaf_offsets[:-1] - 1 - trees.right[leaves + trees.offsets[:-1]]
        return self._shaped(trees.values[leaf.T] + self.offset_)

    def predict_interval(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean over the trees and its standard error.

        The standard error is the standard deviation over the trees, divided by the square root
        of their number. It is the uncertainty of the mean, not the spread of the targets.
        """
        codes, trees = codes_of(self, X), self.trees_
        total, mean, square = np.zeros((3, len(codes), self.n_outputs_))

        def kernel(lo: int, hi: int) -> None:
            traverse.spread(
                codes[lo:hi], *trees.split_arrays, trees.leaf_offsets, trees.values,
                total[lo:hi], mean[lo:hi], square[lo:hi],
            )  # fmt: skip

        self._over_rows(kernel, len(codes))
        error = np.sqrt(square) / trees.n_trees
        return self._shaped(total / trees.n_trees + self.offset_), self._shaped(error)

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """The mean of each training row over the trees that did not draw it; NaN if all did."""
        return self._shaped(self._out_of_bag_mean())

    def _shaped(self, out: AnyArray) -> AnyArray:
        return out[..., 0] if self._flat else out
