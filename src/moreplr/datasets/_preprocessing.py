"""Features with texts and gaps as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler


def make_preprocessor(X: Any, missing_codes: Iterable[float] = ()) -> ColumnTransformer:
    """A transformer for these features: to be fitted on training rows, never on test rows.

    Numbers: gaps are filled with the median, then each column is scaled to mean 0 and variance
    1. All else is text: gaps are filled with the most frequent value, then one-hot encoded; a
    text not seen in training gets zeros. On complete numbers it is a
    :class:`sklearn.preprocessing.StandardScaler`.

    Parameters
    ----------
    X : frame or array of shape (n_samples, n_features)
        Only the types of its columns matter here.
    missing_codes : iterable of numbers
        Values that stand for a gap in numeric columns, such as 977 for "don't know".

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 30, 977], "town": ["Ulm", None, "Ulm"]})
    >>> preprocessor = make_preprocessor(X, missing_codes=[977])
    >>> preprocessor.set_output(transform="pandas").fit_transform(X).round(2)
        age  town_Ulm
    0 -1.22       1.0
    1  1.22       1.0
    2  0.00       1.0
    """
    frame = pd.DataFrame(X)
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    codes = tuple(missing_codes)
    numbers = make_pipeline(
        FunctionTransformer(_numbers, kw_args={"codes": codes}, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
    )
    texts = make_pipeline(
        FunctionTransformer(_texts, feature_names_out="one-to-one"),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer(
        [
            ("numbers", numbers, [i for i, number in enumerate(numeric) if number]),
            ("texts", texts, [i for i, number in enumerate(numeric) if not number]),
        ],
        sparse_threshold=0,
        verbose_feature_names_out=False,
    )


def _numbers(X: Any, codes: tuple[float, ...]) -> np.ndarray:
    values = pd.DataFrame(X).to_numpy(dtype=float, na_value=np.nan)
    if codes:
        values = np.where(np.isin(values, codes), np.nan, values)
    return values


def _texts(X: Any) -> np.ndarray:
    values = pd.DataFrame(X).astype(object).to_numpy()
    return np.where(pd.isna(values), np.nan, values.astype(str).astype(object))
