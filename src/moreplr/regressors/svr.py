"""Multi-output support vector regression as one single-output problem."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVR

from moreplr._types import Array, Weights
from moreplr._validation import integer_from, number_from, take
from moreplr.base import PositionRegressor, chunks
from moreplr.regressors._fitting import (
    check_kernel_size,
    column_means,
    fit_weighted,
    warn_unobserved,
)

# Bytes of a row and a support vector: the kernel and temporary arrays.
_CELL_BYTES = 32


class MultiOutputSVR(PositionRegressor):
    """Support vector regression of all positions at once, by a larger feature space.

    Each observed cell (row, label) becomes one example of a single-output problem. Its features
    are a part that all labels share and a part of the label's own with an offset of its own,
    φ(x, j) = (√c·φ(x), 0, …, (φ(x), 1) in block j, …, 0), whose kernel is
    c·K(x, x') + [i = j]·(K(x, x') + 1). With c = 0 the labels are learned apart, with a large c
    as one. A missing position is one example less.

    See Borchani et al. (2015) for the family of methods and Evgeniou and Pontil (2004) for the
    feature map.

    Parameters
    ----------
    C, epsilon : float
        As in :class:`sklearn.svm.SVR`.
    kernel : {"rbf", "linear", "poly", "sigmoid"}
    gamma : {"scale", "auto"} or float
        As in :class:`sklearn.svm.SVR`.
    coupling : float
        The weight c of what the labels share.
    max_cells : int
        Most observed cells to take: the kernel matrix has that many rows and columns, and
        20,000 of them need 3.2 GB.

    Attributes
    ----------
    svr_ : the fitted single-output :class:`sklearn.svm.SVR`

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0]], [[1.0, 3.0], [2.0, float("nan")], [3.0, 1.0]]
    >>> MultiOutputSVR(C=100, epsilon=0.01, kernel="linear").fit(X, Y).predict([[2.0]]).round(1)
    array([[3., 1.]])
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: str = "rbf",
        gamma: str | float = "scale",
        coupling: float = 1.0,
        max_cells: int = 20_000,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.coupling = coupling
        self.max_cells = max_cells

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit one support vector machine on all observed cells."""
        number_from("coupling", self.coupling, 0)
        integer_from("max_cells", self.max_cells, 1)
        if self.gamma not in ("scale", "auto"):
            number_from("gamma", self.gamma, 0)
        X, Y, weight = self._check_fit(X, y, sample_weight)
        row, label = np.nonzero(~np.isnan(Y))
        check_kernel_size(type(self).__name__, len(row), self.max_cells)
        warn_unobserved(Y)
        (weight_of_cells,) = take(row, weight)
        self.seen_ = ~np.isnan(Y).all(axis=0)
        self.offset_ = column_means(Y, weight)
        self._gamma = self._find_gamma(X)
        same = label[:, None] == label
        gram = self._kernel(X, X)[np.ix_(row, row)]
        gram *= self.coupling + same
        gram += same
        machine = SVR(kernel="precomputed", C=self.C, epsilon=self.epsilon)
        self.svr_ = fit_weighted(
            machine, gram, Y[row, label] - self.offset_[label], weight_of_cells
        )
        self.support_rows_ = X[row[self.svr_.support_]]
        self.support_labels_ = label[self.svr_.support_]
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        X = self._check_predict(X)
        own = self.support_labels_[:, None] == np.arange(self.n_outputs_)
        dual = self.svr_.dual_coef_.reshape(-1, 1)
        outputs = np.tile(self.offset_, (len(X), 1))
        if len(dual):  # there are no support vectors if all errors are below epsilon
            coefficients = dual * (self.coupling + own)
            for rows in chunks(len(X), _CELL_BYTES * len(dual)):
                shared_and_own = self._kernel(X[rows], self.support_rows_) @ coefficients
                outputs[rows] += np.where(self.seen_, shared_and_own + (dual * own).sum(axis=0), 0)
        return outputs + np.where(self.seen_, self.svr_.intercept_, 0)

    def _find_gamma(self, X: Array) -> float:
        if self.gamma == "scale":
            variance = X.var()
            return 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        return 1 / X.shape[1] if self.gamma == "auto" else float(self.gamma)

    def _kernel(self, A: Array, B: Array) -> Array:
        if self.kernel == "linear":
            return pairwise_kernels(A, B, metric="linear")
        return pairwise_kernels(A, B, metric=self.kernel, gamma=self._gamma)

    def _allows_nan_features(self) -> bool:
        return False
