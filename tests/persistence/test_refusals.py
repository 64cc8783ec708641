"""What `save` refuses, and how it says so."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from moreplr import (
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
    load,
    save,
)
from moreplr.persistence import ModelFileError
from moreplr.regressors import Conformal, SingleTarget

X = np.arange(12.0).reshape(6, 2)
Y = np.array([[1, 2, 2], [2, 1, 3], [3, 2, 1]] * 2, float)


class MyRidge(Ridge):
    """A subclass may mean something else by the same state."""


def manhattan(a, b):
    return np.abs(a - b).sum()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            MORERanker(regressor=SingleTarget(RandomForestRegressor(2))),
            r"model\.regressor\.base is a sklearn RandomForestRegressor.*ForestRegressor",
        ),
        (
            PairwiseRanker(RandomForestClassifier(2)),
            r"model\.classifier is a sklearn RandomForestClassifier.*forest\.ForestClassifier",
        ),
        (
            MORERanker(regressor=DecisionTreeRegressor()),
            r"model\.regressor is a sklearn DecisionTreeRegressor.*compiled",
        ),
        (MORERanker(regressor=KNeighborsRegressor(1)), "use moreplr.NearestNeighborsRanker"),
        (MORERanker(regressor=MyRidge()), r"model\.regressor is a .* MyRidge"),
        (
            NearestNeighborsRanker(2, metric=manhattan),
            "metric",
        ),
        (
            make_pipeline(FunctionTransformer(np.log1p), DummyRanker()),
            r"model\.steps\[0\]\[1\]\.func is code \(log1p\)",
        ),
        (
            make_pipeline(FunctionTransformer(lambda X: X), DummyRanker()),
            r"model\.steps\[0\]\[1\]\.func is code \(<lambda>\)",
        ),
        (
            MORERanker(regressor=Conformal(SingleTarget(Ridge()), coverage=0.5, cv=iter([]))),
            r"model\.regressor\.cv is a builtins list_iterator",
        ),
        (make_pipeline(StandardScaler(), DummyRanker(), memory="folder"), "memory must be None"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_a_refusal_says_what_where_and_why(model, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.fit(X, Y)
    with pytest.raises((TypeError, ValueError), match=says):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_columns_chosen_by_a_function_are_refused():
    selector = make_column_selector(dtype_include=float)
    columns = ColumnTransformer([("all", StandardScaler(), selector)])
    model = make_pipeline(columns, DummyRanker()).fit(pd.DataFrame(X), Y)
    with pytest.raises(TypeError, match=r"make_column_selector.*name the columns"):
        save(model, io.BytesIO())


@pytest.mark.parametrize(
    "model", [RankingForest(), make_pipeline(StandardScaler(), DummyRanker())]
)
def test_a_model_that_is_not_fitted_is_refused(model):
    with pytest.raises(NotFittedError, match="not fitted: there is nothing to save"):
        save(model, io.BytesIO())


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (RankingForest, "not the class RankingForest"),
        ({"a": 1}, "not a dict"),
        (KMeans(), "the model is a sklearn KMeans"),
    ],
)
def test_what_is_no_model_is_refused(thing, says):
    with pytest.raises(TypeError, match=says):
        save(thing, io.BytesIO())


def test_what_contains_itself_is_refused():
    ranker = DummyRanker().fit(X, Y)
    ranker.loop_ = []
    ranker.loop_.append(ranker.loop_)
    with pytest.raises(TypeError, match=r"model\.loop_\[0\] can't be stored: it contains itself"):
        save(ranker, io.BytesIO())


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), 1j, np.array([1j]), np.array([object()]), 2**70, pd.Timestamp(0)]
)
def test_odd_values_are_refused(value):
    ranker = DummyRanker().fit(X, Y)
    ranker.odd_ = value
    with pytest.raises(TypeError, match=r"model\.odd_"):
        save(ranker, io.BytesIO())


def test_a_model_that_was_tampered_with_is_refused():
    ranker = RankingForest(2, structure="shared", random_state=0).fit(X, Y)
    ranker.forests_[0].trees_.right[0] = 100
    with pytest.raises(ValueError, match="right children"):
        save(ranker, io.BytesIO())


def test_a_function_transformer_calls_nothing_else(fitted, saved, take_apart, sign):
    model, _ = fitted("columns")
    parts = take_apart(saved(model))
    nodes = [{"kind": "type", "name": "float"}, *parts.nodes]
    for node in nodes[1:]:
        shift(node)
    found = [n for n in nodes if n.get("class") == "sklearn.FunctionTransformer"]
    assert found
    for node in found:
        node["state"]["func"] = {"ref": 0}
    with pytest.raises(ModelFileError, match="func must be"):
        load(io.BytesIO(sign(parts._replace(nodes=nodes))))


def shift(part):
    """Let references mean the same where a node was put in front."""
    values = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for value in values:
        shift(value)
    if isinstance(part, dict) and set(part) == {"ref"}:
        part["ref"] += 1
