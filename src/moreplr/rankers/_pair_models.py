"""Models of all pairs of labels: a classifier with three classes for each pair.

The codes of rows and pairs are 0, 1 and 2 for precedes, tied and succeeds, and -1 if the row does
not rank both labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from moreplr._types import Array, Labels
from moreplr._validation import take
from moreplr.forest import ForestBatch, ForestClassifier
from moreplr.forest.kernels.layout import CLASS_BITS
from moreplr.regressors._fitting import fit_weighted

Codes = NDArray[np.int8]
# A batch of forests takes fewer rows than this.
_MOST_ROWS = 2**CLASS_BITS


@dataclass
class PairClassifiers:
    """A scikit-learn classifier for each pair, fitted on the rows that rank both labels.

    Attributes
    ----------
    classes : list of arrays, the codes that occur for each pair
    models : list of fitted classifiers; None for pairs with fewer than two classes
    """

    classes: list[NDArray[np.intp]]
    models: list[Any]
    n_jobs: int | None = None

    @classmethod
    def fit(
        cls,
        classifier: Any,
        X: Array,
        codes: Codes,
        weight: Array | None,
        labels: Labels,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit a clone of the classifier for each column of the codes."""
        fitted = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_fit_pair)(clone(classifier), X, column, weight, pair)
            for column, pair in zip(codes.T, combinations(labels, 2), strict=True)
        )
        return cls([classes for classes, _ in fitted], [model for _, model in fitted], n_jobs)

    @property
    def learned(self) -> NDArray[np.bool_]:
        """For each pair, whether there was more than one class to learn."""
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


@dataclass
class PairForests:
    """The library's forests for all pairs, fitted as one batch.

    Attributes
    ----------
    batch : the fitted batch of forests
    learned : for each pair, whether there was more than one class to learn
    """

    batch: ForestBatch
    learned: NDArray[np.bool_]

    @staticmethod
    def suits(classifier: Any, codes: Codes, weight: Array | None) -> bool:
        """Whether a batch grows the same forests as one classifier for each pair."""
        return (
            type(classifier) is ForestClassifier
            and (weight is None or bool((weight == weight[0]).all()))
            and 0 < len(codes) < _MOST_ROWS
            and codes.shape[1] > 0
        )

    @classmethod
    def fit(cls, classifier: Any, X: Array, codes: Codes, n_jobs: int | None = None) -> Self:
        """Fit forests with the classifier's parameters, one for each column of the codes."""
        parameters = classifier.get_params()
        if parameters["n_jobs"] is None:
            parameters["n_jobs"] = n_jobs
        batch = ForestBatch(**parameters).fit(X, codes, n_classes=3)
        return cls(batch, sum((codes == c).any(axis=0) for c in range(3)) > 1)

    def predict(self, X: Array) -> Array:
        """Predict probabilities of shape (n_samples, n_pairs, 3)."""
        shares = self.batch.predict_proba(X)
        # Leaves hold single precision, so that sums may differ from 1.
        shares /= shares.sum(axis=2, keepdims=True)
        return shares


def _fit_pair(
    classifier: Any, X: Array, codes: Codes, weight: Any, pair: tuple[Any, Any]
) -> tuple[Any, Any]:
    rows = codes >= 0
    # Some classifiers need the classes 0, 1, … without gaps.
    found: tuple[Any, Any] = np.unique(codes[rows], return_inverse=True)
    classes, y = found[0].astype(np.intp), found[1]
    if len(classes) < 2:
        return classes, None
    try:
        X, weight = take(rows, X, weight)
        return classes, fit_weighted(classifier, X, y, weight)
    except Exception as error:
        error.add_note(f"while learning how labels {pair[0]!r} and {pair[1]!r} relate")
        raise


def _predict_pair(classes: Any, model: Any, X: Array) -> Array:
    if not len(classes):
        return np.full((len(X), 3), 1 / 3)
    out = np.zeros((len(X), 3))
    if model is None:
        out[:, classes] = 1.0
    else:
        out[:, classes[model.classes_]] = model.predict_proba(X)
    return out
