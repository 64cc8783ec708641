"""States of scikit-learn's classes that would lead its compiled code outside are refused."""

from __future__ import annotations

import copy
import io
import subprocess
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
)

from moreplr import DummyRanker, TableRanker, load, save
from moreplr.checks import make_rankings
from moreplr.persistence import ModelFileError
from moreplr.persistence.registry import specs


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


def test_functions_keep_their_arguments(fitted):
    columns = copy.deepcopy(fitted("preprocessor")[0]).steps[0][1]
    numbers = columns.transformers_[0][1].steps[0][1]
    numbers.kw_args = {"codes": (1,), "func": 3}
    with pytest.raises(ValueError, match="kw_args must have"):
        save(columns, io.BytesIO())


@pytest.mark.parametrize("func", [float, len, np.log])
def test_no_other_function_is_stored_or_called(func, fitted, saved, take_apart, sign):
    model = copy.deepcopy(fitted("preprocessor")[0])
    parts = take_apart(saved(model))
    for node in parts.nodes:
        if node.get("class") == "sklearn.FunctionTransformer":
            node["state"]["func"] = {"ref": len(parts.nodes)}
    parts.nodes.insert(0, {"kind": "type", "name": "float"})
    with pytest.raises(ModelFileError):
        load(io.BytesIO(sign(parts)))
    model.steps[0][1].transformers_[0][1].steps[0][1].func = func
    with pytest.raises((TypeError, ValueError), match="func"):
        save(model, io.BytesIO())


@pytest.mark.parametrize(
    "transformer",
    [
        PCA(2),
        TruncatedSVD(2),
        QuantileTransformer(n_quantiles=10),
        PowerTransformer(),
        PolynomialFeatures(),
        Normalizer(),
        VarianceThreshold(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_plain_transformers_come_back_as_they_were(transformer):
    X, Y = make_rankings()
    model = make_pipeline(transformer, DummyRanker()).fit(X, Y)
    file = io.BytesIO()
    save(model, file)
    np.testing.assert_array_equal(load(file)[0].transform(X), model[0].transform(X))


def test_every_plain_class_is_known_by_its_public_name():
    for name, spec in specs().items():
        if not spec.is_ours:
            assert name == f"sklearn.{spec.cls.__name__}"


def test_a_table_without_skrub_is_loaded_without_skrub(tmp_path):
    save(TableRanker(DummyRanker()).fit([[1.0], [2.0]], ["a > b", "b > a"]), tmp_path / "m")
    code = "import sys, moreplr; moreplr.load(sys.argv[1]); assert 'skrub' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, tmp_path / "m"], check=True)


def test_a_pipeline_must_end_in_something_that_predicts_where_it_is_asked_to(fitted):
    model = copy.deepcopy(fitted("base_svr")[0])
    model.regressor_.estimators_[0].steps.pop()
    with pytest.raises(ValueError, match="must be an estimator that predicts"):
        save(model, io.BytesIO())
