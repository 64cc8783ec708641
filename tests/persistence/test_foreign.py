"""States of scikit-learn's classes that would lead its compiled code outside are refused."""

from __future__ import annotations

import copy
import io

import numpy as np
import pytest

from moreplr import load, save


def _shorter(array):
    return array[:-1]


def _less(array):
    return array[..., :-1].copy()


SVC = [
    ("support_", _shorter, "_dual_coef_"),
    ("support_vectors_", _shorter, "support_vectors_ must have a row"),
    ("support_vectors_", _less, "support_vectors_ must have a row"),
    ("_dual_coef_", _less, "_dual_coef_ must have a column"),
    ("_n_support", lambda n: n + np.int32(1), "_n_support must count"),
    ("_n_support", _shorter, "_n_support must count"),
    ("_intercept_", _shorter, "_intercept_ must have"),
    ("_probA", _shorter, "_probA must have"),
    ("_sparse", True, "must be False"),
    ("kernel", "precomputed", "support_ asks for a row|lead"),
    ("_impl", "nu_svc", "can't have an attribute '_impl'"),
    ("degree", 2**40, "degree must be"),
]


@pytest.mark.parametrize(("attribute", "value", "says"), SVC)
def test_a_support_vector_machine_must_fit_together(attribute, value, says, svm):
    if attribute == "kernel":
        svm.support_ = svm.support_ + np.int32(100)
    setattr(svm, attribute, value(getattr(svm, attribute)) if callable(value) else value)
    with pytest.raises(ValueError, match=says):
        save(svm, io.BytesIO())


@pytest.fixture
def svm(fitted):
    pipeline = copy.deepcopy(fitted("pairwise_svc")[0]).model_.models[0]
    return pipeline.steps[-1][1]


@pytest.fixture
def encoder(fitted):
    pipeline = copy.deepcopy(fitted("rare_categories")[0])
    return pipeline.steps[0][1].transformers_[1][1]


@pytest.mark.parametrize(
    ("attribute", "value", "says"),
    [
        ("_n_features_outs", [1], "must count the categories"),
        ("_drop_idx_after_grouping", np.array([9], dtype=object), "dropped category"),
        ("_drop_idx_after_grouping", np.array([-1], dtype=object), "must be"),
        ("_infrequent_indices", [np.array([7])], "infrequent categories"),
        ("_default_to_infrequent_mappings", [np.array([0, 9, 1])], "infrequent categories"),
        ("categories_", [], "items"),
    ],
)
def test_a_one_hot_encoder_must_fit_together(attribute, value, says, encoder):
    setattr(encoder, attribute, value)
    with pytest.raises(ValueError, match=says):
        save(encoder, io.BytesIO())


@pytest.mark.parametrize("categories", [[3.0, 1.0, 2.0], [1.0, 1.0], [np.nan, 1.0]])
def test_categories_that_bisection_would_miss_are_refused(categories, encoder):
    encoder.categories_ = [np.array(categories)]
    with pytest.raises(ValueError, match="rising order"):
        save(encoder, io.BytesIO())


def test_an_imputer_of_an_earlier_release_still_fills(fitted, saved, take_apart, sign):
    model, X = fitted("preprocessor")
    parts = take_apart(saved(model))
    for node in parts.nodes:
        if node.get("class") == "sklearn.SimpleImputer":
            node["state"].pop("_fill_dtype", None)
    loaded = load(io.BytesIO(sign(parts)))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_columns_must_be_there(fitted):
    columns = copy.deepcopy(fitted("rare_categories")[0]).steps[0][1]
    columns._transformer_to_input_indices["town"] = [9]
    with pytest.raises(ValueError, match="a column that is not there"):
        save(columns, io.BytesIO())


def test_functions_keep_their_arguments(fitted):
    columns = copy.deepcopy(fitted("preprocessor")[0]).steps[0][1]
    numbers = columns.transformers_[0][1].steps[0][1]
    numbers.kw_args = {"codes": (1,), "func": 3}
    with pytest.raises(ValueError, match="kw_args must have"):
        save(columns, io.BytesIO())


def test_a_pipeline_must_end_in_something_that_predicts_where_it_is_asked_to(fitted):
    model = copy.deepcopy(fitted("base_svr")[0])
    model.regressor_.estimators_[0].steps.pop()
    with pytest.raises(ValueError, match="must be an estimator that predicts"):
        save(model, io.BytesIO())
