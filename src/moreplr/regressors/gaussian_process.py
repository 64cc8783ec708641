"""Multi-target Gaussian process: positions with a standard deviation."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from moreplr._stopping import abandonable
from moreplr._types import Array
from moreplr._validation import integer_from
from moreplr.base import PositionRegressor, chunks
from moreplr.regressors._fitting import check_kernel_size, column_means, warn_unobserved

# Bytes of a row and an observed cell: the kernel, a label's part of it, temporary arrays.
_CELL_BYTES = 48


class GaussianProcess(PositionRegressor):
    """A Gaussian process over rows and labels: covariance kernel(x, x') times B_ij.

    B holds the correlations of the labels' positions (intrinsic coregionalisation), so that an
    observed label informs about a missing one of the same row. With complete targets and noise of
    the same structure, B drops out of the mean and each label follows from its own column.

    The kernel's parameters maximise the sum of the labels' log marginal likelihoods, each over
    the rows that rank the label.

    Parameters
    ----------
    kernel : scikit-learn kernel, optional
        By default ``1.0 * RBF() + WhiteKernel()``. Scale the features first.
    jitter : float
        Added to the diagonal, for numerical safety.
    max_cells : int
        Most rows (complete targets) or observed cells (otherwise) to take: the covariance
        matrix has that many rows and columns, and 10,000 of them need 0.8 GB.

    Attributes
    ----------
    kernel_ : the kernel with its fitted parameters
    correlation_ : array (n_labels, n_labels), the matrix B

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, float("nan")]]
    >>> positions, std = GaussianProcess().fit(X, Y).predict_interval([[1.0]])
    >>> positions.round(1), std.shape
    (array([[2., 3.]]), (1, 2))
    """

    def __init__(
        self, kernel: Any = None, *, jitter: float = 1e-8, max_cells: int = 10_000
    ) -> None:
        self.kernel = kernel
        self.jitter = jitter
        self.max_cells = max_cells

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the kernel's parameters and factor the covariance of the observed cells."""
        integer_from("max_cells", self.max_cells, 1)
        X, Y, _ = self._check_fit(X, y, None)
        warn_unobserved(Y)
        complete = not np.isnan(Y).any()
        check_kernel_size(
            type(self).__name__, len(X) if complete else np.sum(~np.isnan(Y)), self.max_cells
        )
        self.X_train_ = X
        self.mean_ = column_means(Y)
        spread = np.sqrt(column_means((Y - self.mean_) ** 2))
        self.scale_ = np.where(spread > 0, spread, 1.0)
        Z = (Y - self.mean_) / self.scale_
        self.kernel_ = self._fit_kernel(X, Z)
        self.correlation_ = np.eye(Y.shape[1]) if complete else _correlation(Z)
        self.rows_, self.labels_of_cells_ = np.nonzero(~np.isnan(Z))
        if complete:
            gram, targets = self.kernel_(X), Z
        else:
            cells = self.labels_of_cells_
            gram = self.kernel_(X)[np.ix_(self.rows_, self.rows_)]
            gram *= self.correlation_[np.ix_(cells, cells)]
            targets = Z[self.rows_, cells]
        gram[np.diag_indices_from(gram)] += self.jitter
        self.factor_ = cho_factor(gram, lower=True)[0]
        self.dual_ = cho_solve((self.factor_, True), targets)
        return self

    def predict(self, X: Any) -> Array:
        """Predict positions of shape (n_samples, n_labels)."""
        return self._posterior(X, with_std=False)[0]

    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Predict positions and their posterior standard deviations."""
        return self._posterior(X, with_std=True)

    def _posterior(self, X: Any, with_std: bool) -> tuple[Array, Array]:
        X = self._check_predict(X)
        cells = len(self.X_train_) + len(self.dual_)
        parts = [
            self._posterior_of(X[rows], with_std) for rows in chunks(len(X), _CELL_BYTES * cells)
        ]
        mean, std = (np.concatenate(part) for part in zip(*parts, strict=True))
        return mean, std

    def _posterior_of(self, X: Array, with_std: bool) -> tuple[Array, Array]:
        cross = self.kernel_(X, self.X_train_)
        prior = self.kernel_.diag(X)
        mean = np.empty((len(X), self.n_outputs_))
        variance = np.empty_like(mean)
        if self.dual_.ndim == 2:
            mean[:] = cross @ self.dual_
            if with_std:
                variance[:] = (prior - self._explained(cross))[:, None]
        else:
            for label, correlation in enumerate(self.correlation_):
                weighted = cross[:, self.rows_] * correlation[self.labels_of_cells_]
                mean[:, label] = weighted @ self.dual_
                if with_std:
                    variance[:, label] = prior - self._explained(weighted)
        std = np.sqrt(np.maximum(variance, 0)) if with_std else variance
        return mean * self.scale_ + self.mean_, std * self.scale_

    def _explained(self, cross: Array) -> Array:
        return (solve_triangular(self.factor_, cross.T, lower=True) ** 2).sum(axis=0)

    def _fit_kernel(self, X: Array, Z: Array) -> Any:
        kernel = self.kernel
        if kernel is None:
            # Bounds wide enough that a fit rarely ends at one of them.
            wide = (1e-6, 1e6)
            kernel = ConstantKernel(1.0, wide) * RBF(1.0, wide) + WhiteKernel(0.1, wide)
        kernel = clone(kernel)
        if kernel.n_dims == 0:
            return kernel
        parts = []
        patterns, pattern_of = np.unique(~np.isnan(Z), axis=1, return_inverse=True)
        for number, observed in enumerate(patterns.T):
            if observed.any():  # labels ranked by the same rows share one factorisation
                targets = Z[np.ix_(observed, pattern_of.ravel() == number)]
                part = GaussianProcessRegressor(kernel, alpha=self.jitter, optimizer=None)
                parts.append(part.fit(X[observed], targets))

        def loss(theta: Array) -> tuple[float, Array]:
            terms = [
                abandonable(partial(part.log_marginal_likelihood, theta, eval_gradient=True))
                for part in parts
            ]
            return -sum(value for value, _ in terms), -np.sum([g for _, g in terms], axis=0)

        found = minimize(loss, kernel.theta, jac=True, bounds=kernel.bounds, method="L-BFGS-B")
        return kernel.clone_with_theta(found.x)

    def _allows_nan_features(self) -> bool:
        return False


def _correlation(Z: Array, shrinkage: float = 0.05) -> Array:
    """Correlations over the rows that rank both labels, pulled to a positive definite matrix."""
    frame = pd.DataFrame(Z)
    B = np.nan_to_num(frame.corr(min_periods=3).to_numpy())
    np.fill_diagonal(B, 1.0)
    values, vectors = np.linalg.eigh(B)
    B = (vectors * np.maximum(values, 0)) @ vectors.T
    scale = np.sqrt(np.diag(B))
    B /= scale[:, None] * scale
    return (1 - shrinkage) * B + shrinkage * np.eye(len(B))
