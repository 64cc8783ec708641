"""Oblique features: linear combinations of features, for splits that are not axis-parallel.

A tree needs many axis-parallel splits to follow an oblique border. With a linear combination as an
additional feature it needs one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from moreplr._types import Array, Positions, Seed
from moreplr._validation import quiet
from moreplr.rankings import check_rankings

# The regressions use at most this many principal components, so that their cost is linear in the
# number of features. Up to this number of features nothing is lost.
_RANK = 64
_FOLDS = 5
# Ridge penalties per row, for features of variance 1.
_PENALTIES = np.geomspace(1e-3, 10, 9)
# New values are clipped to this many standard deviations.
_FAR = 1e9
# Variation below this share of the largest is a rounding error.
_ROUNDING = 1e-10
# Further digits are rounding errors, which depend on how many rows are transformed together.
_DIGITS = 9


class ObliqueFeatures(TransformerMixin, BaseEstimator):
    """Append linear predictions of the labels' positions.

    Each label's position is predicted by a ridge regression on all features, whose penalty is
    chosen on held-out rows. As in :class:`sklearn.preprocessing.TargetEncoder`, `fit_transform`
    differs from `fit` followed by `transform`: it predicts each training row by a regression on
    other rows. Otherwise the next estimator would overestimate how good these features are.

    Features are standardised first, and missing values are replaced by the mean.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        Draws the folds.

    Attributes
    ----------
    mean_, scale_ : arrays (n_features,)
        The scale of a constant feature is infinite.
    weights_ : array (n_features, n_appended)
        How standardised features are combined.
    label_numbers_ : array of int (n_appended,)
        The label whose position each appended feature predicts.

    References
    ----------
    Menze, Kelm, Splitthoff, Koethe and Hamprecht (2011): On oblique random forests. Rodríguez,
    Kuncheva and Alonso (2006): Rotation forest. Wolpert (1992): Stacked generalization.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.oblique import ObliqueFeatures
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> Y = (X @ rng.normal(size=(3, 4))).argsort(axis=1).argsort(axis=1) + 1
    >>> ObliqueFeatures(random_state=0).fit_transform(X, Y).shape
    (60, 7)
    """

    def __init__(self, *, random_state: Seed = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the combinations from features and rankings, NaN where a label is not ranked."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Array:
        """Learn the combinations, and append them to the training rows, cross-fitted."""
        if y is None:
            raise ValueError("ObliqueFeatures requires y to be passed, but the target y is None")
        X = self._features(X, reset=True)
        targets, _ = check_rankings(y)
        if len(targets) != len(X):
            raise ValueError(f"X has {len(X)} rows, but y has {len(targets)}")
        rng = check_random_state(self.random_state)
        self.mean_, self.scale_ = _moments(X)
        Z = self._standardised(X)
        with threadpool_limits(1, "blas"):  # results must not depend on the number of threads
            basis = _principal_axes(Z)
            S = Z @ basis
            features, weights = [np.empty((len(X), 0))], [np.empty((X.shape[1], 0))]
            labels = [np.empty(0, np.intp)]
            for rows, columns in _ranked_alike(targets):
                folds = rng.permutation(len(rows)) % _FOLDS
                predicted, slopes = _cross_fitted(S, rows, targets[np.ix_(rows, columns)], folds)
                features.append(predicted)
                weights.append(basis @ slopes)
                labels.append(columns)
        combined = np.hstack(weights)
        combines = np.sum(np.abs(combined) > _ROUNDING, axis=0) > 1  # others copy a feature
        self.weights_ = combined[:, combines]
        self.label_numbers_ = np.concatenate(labels)[combines]
        return np.hstack([X, np.hstack(features)[:, combines].round(_DIGITS)])

    def transform(self, X: Any) -> Array:
        """The features of new rows, followed by their combinations."""
        check_is_fitted(self)
        X = self._features(X, reset=False)
        return np.hstack([X, (self._standardised(X) @ self.weights_).round(_DIGITS)])

    def _features(self, X: Any, *, reset: bool) -> Array:
        with quiet():
            return validate_data(
                self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
            )

    def attribute(self, importances: Array) -> Array:
        """Convert importances of all transformed features to those of the original ones.

        The importance of a combination is divided among its features by the size of their weights.
        """
        size = np.abs(self.weights_)
        return importances[: len(size)] + size / size.sum(axis=0) @ importances[len(size) :]

    def _standardised(self, X: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            deviations = np.clip((X - self.mean_) / self.scale_, -_FAR, _FAR)
        return np.nan_to_num(deviations, copy=False, nan=0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags


def _moments(X: Array) -> tuple[Array, Array]:
    """Means and standard deviations without missing values; infinite where nothing varies."""
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    # Values are divided by the largest, so that their squares can't overflow.
    largest = np.abs(np.where(known, X, 0.0)).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    U = np.where(known, X, 0.0) / unit
    mean = U.sum(axis=0) / count
    scale = np.sqrt((np.where(known, U - mean, 0.0) ** 2).sum(axis=0) / count)
    varies = scale > _ROUNDING
    return mean * unit, np.where(varies, scale, np.inf) * unit


def _principal_axes(Z: Array) -> Array:
    """The first principal axes, with signs such that the largest weight is positive."""
    wide = Z.shape[1] > len(Z)
    size, basis = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    order = np.argsort(-size, kind="stable")[:_RANK]
    order = order[size[order] > _ROUNDING * max(size.max(), 1.0)]
    axes = Z.T @ basis[:, order] / np.sqrt(size[order]) if wide else basis[:, order]
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.sign(axes[largest, np.arange(len(order))])


def _ranked_alike(targets: Positions) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield rows with the labels that exactly these rows rank; they share their regressions."""
    alike: dict[bytes, list[int]] = {}
    seen = ~np.isnan(targets)
    for label, rows in enumerate(seen.T):
        alike.setdefault(rows.tobytes(), []).append(label)
    for columns in alike.values():
        rows = np.flatnonzero(seen[:, columns[0]])
        if len(rows) >= 2 * _FOLDS:
            yield rows, np.array(columns)


def _cross_fitted(
    S: Array, rows: NDArray[np.intp], targets: Array, folds: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Predictions for all rows of S, and the slopes of the regressions on all `rows`.

    Each of `rows` is predicted by a regression without its own fold. The penalty of each target is
    the one with the best of these predictions. There is no intercept, since it would reveal the
    mean of the targets in the row's own fold.
    """
    parts = [(folds == fold, _ridge(S[rows], targets, folds != fold)) for fold in range(_FOLDS)]
    squares, sums = np.zeros((2, len(_PENALTIES), targets.shape[1]))
    for held_out, slopes in parts:
        error = S[rows[held_out]] @ slopes - targets[held_out]
        squares += (error**2).sum(axis=1)
        sums += error.sum(axis=1)
    best, target = (squares - sums**2 / len(rows)).argmin(axis=0), np.arange(targets.shape[1])
    slopes = _ridge(S[rows], targets, np.ones(len(rows), bool))[best, :, target].T
    predicted = S @ slopes
    for held_out, without in parts:
        predicted[rows[held_out]] = S[rows[held_out]] @ without[best, :, target].T
    return predicted, slopes


def _ridge(S: Array, targets: Array, rows: NDArray[np.bool_]) -> Array:
    """Slopes (n_penalties, n_axes, n_targets) of ridge regressions with an intercept."""
    S, targets = S[rows] - S[rows].mean(axis=0), targets[rows] - targets[rows].mean(axis=0)
    size, basis = np.linalg.eigh(S.T @ S)
    along = basis.T @ (S.T @ targets)
    return basis @ (along / (np.maximum(size, 0.0)[:, None] + len(S) * _PENALTIES[:, None, None]))
