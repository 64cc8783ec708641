"""Models of all pairs at once: a three-way classifier for each pair of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from moreplr.regressors._base import Array, fit_weighted

Codes = NDArray[np.int8]


class PairModel(Protocol):
    """What a ranker needs of a model of all pairs."""

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Of each pair, whether there was more than one class to learn."""

    def predict(self, X: Array) -> Array:
        """Predict probabilities (n_samples, n_pairs, 3) of the codes 0, 1 and 2."""


@dataclass
class PairClassifiers:
    """A scikit-learn classifier for each pair, fitted on the rows that rank both labels.

    Attributes
    ----------
    classes : list of arrays, the codes that the rows of each pair show
    models : list of fitted classifiers; None where fewer than two classes leave no choice
    """

    classes: list[NDArray[np.intp]]
    models: list[Any]
    n_jobs: int | None = None

    @classmethod
    def fit(
        cls, classifier: Any, X: Array, codes: Codes, weight: Array | None, n_jobs: int | None
    ) -> Self:
        """Fit a clone of the classifier for each column of the codes."""
        fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_fit_pair)(clone(classifier), X, column, weight) for column in codes.T
        )
        return cls([classes for classes, _ in fitted], [model for _, model in fitted], n_jobs)

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Of each pair, whether there was more than one class to learn."""
        return np.array([model is not None for model in self.models], dtype=bool)

    def predict(self, X: Array) -> Array:
        """Predict probabilities of shape (n_samples, n_pairs, 3)."""
        if not self.models:
            return np.empty((len(X), 0, 3))
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_predict_pair)(classes, model, X)
            for classes, model in zip(self.classes, self.models, strict=True)
        )
        return np.stack(parts, axis=1)


def _fit_pair(classifier: Any, X: Array, codes: Codes, weight: Any) -> tuple[Any, Any]:
    rows = codes >= 0
    # From 0 on without gaps, as some classifiers want their classes.
    found: tuple[Any, Any] = np.unique(codes[rows], return_inverse=True)
    classes, y = found[0].astype(np.intp), found[1]
    if len(classes) < 2:
        return classes, None
    return classes, fit_weighted(classifier, X[rows], y, None if weight is None else weight[rows])


def _predict_pair(classes: Any, model: Any, X: Array) -> Array:
    if not len(classes):
        return np.full((len(X), 3), 1 / 3)
    out = np.zeros((len(X), 3))
    if model is None:
        out[:, classes] = 1.0
    else:
        out[:, classes[model.classes_]] = model.predict_proba(X)
    return out
