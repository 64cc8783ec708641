import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from moreplr.datasets import load, make_preprocessor


def test_complete_numbers_are_standardised_and_nothing_else():
    X = load("wine").X
    expected = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(make_preprocessor(X).fit_transform(X), expected)


@pytest.mark.parametrize("problem", ["lr", "plr"])
def test_political_is_preprocessed_as_published(benchmark_data, problem):
    data = load("political", problem)
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in data.X.dtypes]
    published = ColumnTransformer(
        [
            (
                "numerical",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"),
                    SimpleImputer(missing_values=977, strategy="median"),
                    StandardScaler(),
                ),
                np.flatnonzero(numeric),
            ),
            (
                "categorical",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                ),
                np.flatnonzero(~np.array(numeric)),
            ),
        ]
    )
    values = data.X.astype(object).to_numpy()
    expected = published.fit(values[:100]).transform(values)
    found = data.preprocessor().fit(data.X[:100]).transform(data.X)
    np.testing.assert_allclose(found, expected.astype(float), atol=1e-12)


def test_gaps_odd_types_and_unseen_values():
    X = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0],
            "flag": [True, False, True],
            "empty": [np.nan] * 3,
            "text": ["a", None, "b"],
            "mixed": pd.Series([1, "one", np.nan], dtype=object),
            "category": pd.Categorical(["x", "y", None]),
        }
    )
    fitted = make_preprocessor(X).fit(X)
    assert np.isfinite(fitted.transform(X)).all()
    unseen = X.assign(text="z")
    texts = fitted.transform(unseen)[:, 3:5]
    np.testing.assert_array_equal(texts, 0)


def test_it_can_be_sent_to_another_process():
    X = load("iris").X
    again = pickle.loads(pickle.dumps(make_preprocessor(X, [977])))
    assert again.fit_transform(X).shape == X.shape


def test_outputs_have_names():
    X = pd.DataFrame({"town": ["Ulm", None, "Bonn"], "age": [1.0, 2.0, np.nan]})
    fitted = make_preprocessor(X).fit(X)
    assert fitted.get_feature_names_out().tolist() == ["age", "town_Bonn", "town_Ulm"]
