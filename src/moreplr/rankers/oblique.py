"""Oblique features: sums of features, which single splits can only approach in many steps.

There are two kinds. The principal components of the features, and for each label its position
as a ridge regression on all features predicts it. For the training rows these predictions are
cross-fitted, each by a regression on other rows: a tree that saw its own positions in a feature
would trust that feature too much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from moreplr._types import Array, Positions

MOST_COMPONENTS = 64
_FOLDS = 10
# Penalties for each row, of features of variance 1.
_PENALTIES = np.geomspace(1e-3, 10, 9)
# Squares of larger numbers could overflow.
LARGEST = 1e150
# A new row may be any number of deviations off; beyond this it makes no difference.
_FAR = 1e9
# What varies by less than this share of the most is rounding,
_ROUNDING = 1e-10
# and so is what sums differ by beyond these digits.
_DIGITS = 9


@dataclass
class Oblique:
    """Sums of standardised features.

    Attributes
    ----------
    mean, scale : arrays (n_features,), of the training rows; a missing value counts as the mean.
        The scale of a constant feature is infinite.
    weights : array (n_features, n_sums)
    """

    mean: Array
    scale: Array
    weights: Array

    def widen(self, X: Array) -> Array:
        """The features of new rows, followed by their sums."""
        return np.hstack([X, (self._standardise(X) @ self.weights).round(_DIGITS)])

    def told_by(self, importances: Array) -> Array:
        """Importances of features and sums as those of the features alone.

        What a sum tells is divided among its features by the size of their weights.
        """
        size = np.abs(self.weights)
        return importances[: len(size)] + size / size.sum(axis=0) @ importances[len(size) :]

    def _standardise(self, X: Array) -> Array:
        with np.errstate(over="ignore"):
            deviations = np.clip((X - self.mean) / self.scale, -_FAR, _FAR)
        return np.where(np.isnan(X), 0.0, deviations)


def widened(X: Array, targets: Positions, seed: int) -> tuple[Array, Oblique]:
    """Training rows with oblique features, and what gives them to new rows."""
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, X, 0.0).sum(axis=0) / count
    scale = np.sqrt((np.where(known, X - mean, 0.0) ** 2).sum(axis=0) / count)
    varies = (np.fmin.reduce(X) < np.fmax.reduce(X)) & (scale > 0)
    oblique = Oblique(mean, np.where(varies, scale, np.inf), np.empty((X.shape[1], 0)))
    Z = oblique._standardise(X)
    fold = np.random.default_rng(seed).permutation(len(Z)) % _FOLDS
    with threadpool_limits(1, "blas"):  # many small matrices, and the same bytes everywhere
        components = _components(Z)
        sums, weights = [Z @ components], [components]
        for rows, columns in _ranked_alike(targets):
            held_out, slopes = _cross_fitted(Z, rows, targets[np.ix_(rows, columns)], fold)
            sums.append(held_out)
            weights.append(slopes)
    told = np.abs(np.hstack(weights)).max(axis=0) > _ROUNDING
    oblique.weights = np.hstack(weights)[:, told]
    return np.hstack([X, np.hstack(sums)[:, told].round(_DIGITS)]), oblique


def _components(Z: Array) -> Array:
    """The directions in which the rows differ most; of each the largest weight is positive."""
    wide = Z.shape[1] > len(Z)
    size, basis = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    order = np.argsort(-size, kind="stable")[:MOST_COMPONENTS]
    order = order[size[order] > _ROUNDING * size.max()]
    directions = Z.T @ basis[:, order] / np.sqrt(size[order]) if wide else basis[:, order]
    largest = np.abs(directions).argmax(axis=0)
    return directions * np.sign(directions[largest, np.arange(len(order))])


def _ranked_alike(targets: Positions) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Labels that the same rows rank, with these rows: they share their regressions."""
    alike: dict[bytes, list[int]] = {}
    seen = ~np.isnan(targets)
    for label, rows in enumerate(seen.T):
        alike.setdefault(rows.tobytes(), []).append(label)
    for columns in alike.values():
        rows = np.flatnonzero(seen[:, columns[0]])
        if len(rows) >= 2 * _FOLDS:
            yield rows, np.array(columns)


def _cross_fitted(
    Z: Array, rows: NDArray[np.intp], targets: Array, fold: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Predictions for all rows of Z, each without its fold, and the slopes of all `rows`.

    Each target has the penalty that predicts the held-out rows best. Predictions have no
    intercept: it would tell what mean the targets of the own fold have.
    """
    held_out = np.empty((len(_PENALTIES), len(Z), targets.shape[1]))
    for number in range(_FOLDS):
        inside = fold[rows] != number
        out = fold == number
        held_out[:, out] = Z[out] @ _ridge(Z[rows[inside]], targets[inside])
    centred = targets - targets.mean(axis=0)
    found = held_out[:, rows] - held_out[:, rows].mean(axis=1, keepdims=True)
    best = ((found - centred) ** 2).mean(axis=1).argmin(axis=0)
    own = np.arange(targets.shape[1])
    return held_out[best, :, own].T, _ridge(Z[rows], targets)[best, :, own].T


def _ridge(Z: Array, targets: Array) -> Array:
    """Slopes (n_penalties, n_features, n_targets) of ridge regressions with an intercept."""
    Z, targets = Z - Z.mean(axis=0), targets - targets.mean(axis=0)
    n, d = Z.shape
    wide = d > n
    size, basis = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    told = basis.T @ (targets if wide else Z.T @ targets)
    shrunk = told / (np.maximum(size, 0.0)[:, None] + n * _PENALTIES[:, None, None])
    slopes = basis @ shrunk
    return Z.T @ slopes if wide else slopes
