"""A loaded model is the saved one: predictions, parameters, attributes, bytes."""

from __future__ import annotations

import copy
import io
import warnings
import zipfile
from collections import UserList
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from moreplr import DummyRanker, RankingForest, TableRanker, load, save
from moreplr.encoders import RankEncoder
from moreplr.forest import ForestBatch
from moreplr.layers import PredictionInterval
from moreplr.persistence.container import Reader, Writer
from moreplr.persistence.decoding import Decoder
from moreplr.persistence.encoding import Encoder


def reload(model):
    stream = io.BytesIO()
    save(model, stream)
    return load(stream)


def same(one, other):
    """Whether two states are equal, down to the types."""
    if isinstance(one, UserList):  # scikit-learn 1.6 and 1.7 wrap the remaining columns
        one = one.data
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.flags.f_contiguous == other.flags.f_contiguous or not one.flags.forc
        if one.dtype == object:
            for a, b in zip(one.ravel(), other.ravel(), strict=True):
                same(a, b)
        else:
            assert one.tobytes() == other.tobytes()
    elif isinstance(one, dict):
        assert list(map(repr, one)) == list(map(repr, other))
        for a, b in zip(one.values(), other.values(), strict=True):
            same(a, b)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other)
    elif hasattr(one, "__dict__") and not callable(one):
        own = type(one).__module__.startswith("moreplr") and isinstance(one, BaseEstimator)
        same(*(each.__getstate__() if own else vars(each) for each in (one, other)))
    elif isinstance(one, float | np.floating):
        assert np.array_equal(one, other, equal_nan=True)
    elif "KDTree" not in type(one).__name__ and not isinstance(one, np.random.RandomState):
        assert one == other


def test_predictions_are_the_same_bit_for_bit(name, fitted):
    model, X = fitted(name)
    # A copy, as predicting with a random state moves it on.
    expected = copy.deepcopy(model).predict(X)
    loaded = reload(model)
    assert np.asarray(loaded.predict(X)).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize(
    "kind", ["ranking_forest", "ranking_boost", "tree", "neighbors", "pairwise", "auto", "table"]
)
def test_threads_share_one_model(kind, fitted):
    """What a first prediction computes and keeps, they compute at the same time."""
    model, X = fitted(kind)
    expected, loaded, ready = model.predict(X).tobytes(), reload(model), Barrier(8)

    def predict(_):
        ready.wait()
        return [np.asarray(loaded.predict(X)).tobytes() for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(predict, range(8)):
            assert found == [expected] * 3


def test_a_file_holds_categories_but_no_word_of_texts():
    numbers = [f"{i:03d}" for i in range(60)]
    table = pd.DataFrame(
        {
            "note": [f"patient{n} came again and asked doctor{n} for tea" for n in numbers],
            "town": ["Ulm", "Bonn", "Cork"] * 20,
        }
    )
    ranker = TableRanker(RankingForest(3, random_state=0)).fit(table, ["a > b", "b > a"] * 30)
    assert ranker.vectorizer_.kinds_ == {"note": "text", "town": "category"}
    stream = io.BytesIO()
    save(ranker, stream)
    with zipfile.ZipFile(stream) as archive:
        data = b"".join(map(archive.read, archive.namelist()))
    for word, there in {"Cork": True, "patient": False, "doctor": False, "asked": False}.items():
        assert any(word.encode(code) in data for code in ("utf-8", "utf-32-le")) == there, word


def test_attributes_and_parameters_survive(name, fitted):
    model, _ = fitted(name)
    loaded = reload(model)
    same(model, loaded)
    assert "RandomState" in repr(model) or repr(loaded) == repr(model)


def test_the_same_model_gives_the_same_bytes(name, fitted, saved):
    model, _ = fitted(name)
    assert saved(model) == saved(model) == saved(load(io.BytesIO(saved(model))))


def test_a_loaded_model_can_be_cloned_and_fitted_again(name, fitted, targets):
    model, X = fitted(name)
    parameters = model.get_params()
    if "time_budget" in parameters or parameters.get("random_state", 0) is None:
        pytest.skip("its fit takes long, or is drawn anew")
    seed = parameters.get("random_state")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = clone(reload(model)).fit(X, targets(name)).predict(X)
        assert clone(model).get_params().keys() == clone(reload(model)).get_params().keys()
        if not isinstance(seed, np.random.RandomState):
            expected = clone(model).fit(X, targets(name)).predict(X)
            np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("method", ["predict_pairs", "predict_interval", "predict_outputs"])
def test_other_predictions_are_the_same(method, case_names, fitted):
    seen = 0
    for name in case_names:
        model, X = fitted(name)
        if hasattr(model, method):
            seen += 1
            for one, other in zip(
                getattr(model, method)(X), getattr(reload(model), method)(X), strict=True
            ):
                assert np.array_equal(one, other, equal_nan=one is not None)
    assert seen


def test_leaf_members_are_the_same(fitted):
    model, X = fitted("forest_regressor")
    loaded = reload(model)
    for options in ({}, {"min_samples": 3}):
        for one, other in zip(
            model.leaf_members(X, **options), loaded.leaf_members(X, **options), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.oob_prediction_, model.oob_prediction_)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


def test_a_batch_of_forests_can_be_stored():
    X = np.arange(20.0)[:, None]
    batch = ForestBatch(3, random_state=0).fit(X, np.hstack([X % 3 - 1, X % 2]), n_classes=3)
    loaded = reload(batch)
    np.testing.assert_array_equal(loaded.predict_proba(X), batch.predict_proba(X))


@pytest.mark.parametrize("part", [RankEncoder("modified"), PredictionInterval(0.5)])
def test_what_learns_nothing_needs_no_fit(part):
    assert repr(reload(part)) == repr(part)


def test_labels_of_any_kind_and_names_of_features_survive():
    X = pd.DataFrame({"größe": [0.0, 1.0], "b": [1.0, 0.0]})
    for labels in (["x", "y"], [1, 2], [0.5, 2.5], ["ein\u2028label", "\ud800"]):
        Y = pd.DataFrame([[1, 2], [2, 1]], columns=pd.Index(labels, dtype=object))
        loaded = reload(DummyRanker().fit(X, Y))
        assert loaded.labels_.tolist() == labels
        assert list(map(type, loaded.labels_)) == list(map(type, labels))
        assert loaded.feature_names_in_.tolist() == ["größe", "b"]


def through_a_file(value):
    stream = io.BytesIO()
    with Writer(stream) as writer:
        encoder = Encoder(writer)
        encoder.item([value], "value")
        writer.add_json("model.json", {"nodes": encoder.nodes})
    decoder = Decoder(Reader(stream, None))
    for node in decoder._reader.json("model.json")["nodes"]:
        decoder._values.append(decoder._make(node))
        decoder._depths.append(1)
        decoder._sizes.append(1)
    return decoder._values[-1][0]


@pytest.mark.parametrize(
    "value",
    [
        None, True, 7, -(2**63), 0.1, -0.0, float("nan"), float("-inf"), "", "ä\n\0", (), (1, [2]),
        np.float32(0.1), np.int64(-3), np.bool_(True), np.str_("a"), np.float64("nan"),
        {1: "a", (2, "b"): None, np.int64(3): 2.5}, slice(0, None, 2), range(3, 9, 2),
        np.dtype("f4"), np.dtype(object), np.float64, float,
        np.array(3.0), np.empty((0, 3)), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["ab", "c"]), np.array([], dtype="U1"), np.array([True, False]),
        np.array([["a", None], [1, 2.5]], dtype=object), np.arange(12).reshape(2, 3, 2)[:, ::2],
    ],
    ids=repr,
)  # fmt: skip
def test_plain_values_survive(value):
    same(value, through_a_file(value))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["x", None]}, index=[3, 4]),
        pd.DataFrame({"a": [True]}, index=["row"]),
        pd.DataFrame({1: np.array(["x", 2, None], dtype=object)}),
        pd.DataFrame([[1, 2]], columns=["twice", "twice"]),
        pd.DataFrame(),
    ],
)
def test_data_frames_survive(frame):
    pd.testing.assert_frame_equal(through_a_file(frame), frame)


def test_a_random_state_goes_on_where_it_was():
    state = np.random.RandomState(5)
    state.standard_normal(3)
    np.testing.assert_array_equal(through_a_file(state).random(9), state.random(9))


def test_what_is_shared_is_stored_once_and_shared_again(saved, take_apart):
    X, Y = np.arange(6.0)[:, None], np.array([[1, 2], [2, 1]] * 3)
    forest = RankingForest(2, structure="per_label", random_state=0).fit(X, Y)
    forest.forests_ = [forest.forests_[0]] * 2
    alone = len(take_apart(saved(forest.forests_[0])).arrays)
    assert len(take_apart(saved(forest)).arrays) < alone + 12
    loaded = reload(forest)
    assert loaded.forests_[0] is loaded.forests_[1]


def test_equal_arrays_are_stored_once_and_not_shared():
    one, other = np.arange(9), np.arange(9)
    pair = through_a_file((one, other))
    pair[0][0] = 5
    assert pair[1][0] == 0


def test_loaded_arrays_can_be_written_to(fitted):
    loaded = reload(fitted("forest_regressor")[0])
    for array in loaded.trees_.to_dict().values():
        assert array.flags.writeable
        assert array.flags.aligned
