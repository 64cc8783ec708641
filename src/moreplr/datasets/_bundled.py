"""Ranking data made from scikit-learn's iris, wine and digits, so that everything runs offline.

Both constructions rank the classes of a classification problem by predicted probability, as the
benchmark data of the field were made (Cheng, Hühn and Hüllermeier 2009; Alfaro et al. 2021):

- ``lr``: total orders from a naive Bayes classifier in Weka's manner, fitted on all rows;
- ``plr``: bucket orders from cross-validated probabilities of a random forest, equal ones tied.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler, minmax_scale

from moreplr.encoders import encode

BUNDLED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@lru_cache
def make(name: str, problem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and positions of a bundled data set."""
    source = BUNDLED[name](as_frame=True)
    X, y = source.data, source.target.to_numpy()
    X = X.loc[:, X.nunique() > 1]
    labels = [str(label) for label in source.target_names]
    if problem == "lr":
        values = minmax_scale(X, (-1, 1))
        # Rounding would tie most digits: their probabilities are close to 0 or 1.
        Y = _ranked_by_naive_bayes(values, y, decimals=None if name == "digits" else 3)
    else:
        values = StandardScaler().fit_transform(X)
        forest = RandomForestClassifier(100, random_state=0)
        Y = encode(-cross_val_predict(forest, values, y, cv=5, method="predict_proba").round(12))
    return pd.DataFrame(values, columns=X.columns), pd.DataFrame(Y, columns=labels)


def _ranked_by_naive_bayes(X: NDArray[Any], y: NDArray[Any], decimals: int | None) -> NDArray[Any]:
    log_probability = naive_bayes(X, y)
    keys = -log_probability if decimals is None else -np.exp(log_probability).round(decimals)
    order = np.argsort(keys, axis=1, kind="stable")
    return np.argsort(order, axis=1) + 1.0


def naive_bayes(X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Log probabilities of the classes, by Weka's naive Bayes for numeric features.

    Each feature has a precision, the mean gap of its distinct values. Values are rounded to it,
    and a normal density is integrated over one precision around a value.
    """
    n, classes = len(X), np.unique(y)
    scores = np.empty((n, len(classes)))
    for column, label in enumerate(classes):
        scores[:, column] = np.log((np.sum(y == label) + 1) / (n + len(classes)))
    for feature in X.T:
        distinct = np.unique(feature)
        precision = np.ptp(distinct) / (len(distinct) - 1)
        value = np.round(feature / precision) * precision
        for column, label in enumerate(classes):
            own = value[y == label]
            spread = max(float(own.std()), precision / 6)
            upper = norm.cdf((value + precision / 2 - own.mean()) / spread)
            lower = norm.cdf((value - precision / 2 - own.mean()) / spread)
            scores[:, column] += np.log(np.maximum(upper - lower, 1e-75))
    peak = scores.max(axis=1, keepdims=True)
    return scores - peak - np.log(np.exp(scores - peak).sum(axis=1, keepdims=True))
