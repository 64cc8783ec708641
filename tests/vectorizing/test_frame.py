"""Columns of every kind become numbers, and what is odd about them is said."""

from __future__ import annotations

import re
import tracemalloc
import uuid

import numpy as np
import pandas as pd
import pytest

from moreplr.vectorizing import FrameVectorizer

N = 80
DAYS = pd.Series(pd.date_range("2024-01-01", periods=N, freq="5h"))


def fit(**columns):
    return FrameVectorizer().fit(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(N), "number"),
        (np.arange(N) % 2 == 0, "number"),
        (pd.array([True, None] * (N // 2), dtype="boolean"), "number"),
        (np.array([True, None] * (N // 2), dtype=object), "number"),
        (pd.array([1, None] * (N // 2), dtype="Int64"), "number"),
        ([str(i) for i in range(N)], "number"),
        (["1", "2.5", "?", " "] * (N // 4), "number"),
        ([1, 2, "none", None] * (N // 4), "number"),
        (["a", "b", None, "c"] * (N // 4), "category"),
        (pd.Categorical(["a", "b"] * (N // 2)), "category"),
        (pd.Categorical([1, 2] * (N // 2)), "category"),
        (pd.Categorical([i % 70 for i in range(N)]), "text"),
        (pd.Series(["a", "b"] * (N // 2), dtype="string"), "category"),
        (DAYS, "date"),
        (DAYS.dt.tz_localize("UTC"), "date"),
        (DAYS.dt.date, "date"),
        (DAYS.dt.strftime("%Y-%m-%d %H:%M"), "date"),
        (DAYS.dt.strftime("%d.%m.%Y"), "date"),
        ([f"word {i}" for i in range(N)], "text"),
        ([f"w{i % 70}" for i in range(N)], "text"),
        ([f"w{i}" for i in range(N)], "identifier"),
        ([None, "w0", *[f"w{i}" for i in range(1, N - 1)]], "identifier"),
        ([None] * N, "empty"),
        ([np.nan] * N, "empty"),
        (["?", ""] * (N // 2), "empty"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*is left out")
def test_kinds(values, kind):
    assert fit(x=np.arange(N), given=values).kinds_["given"] == kind


@pytest.mark.parametrize("word", ["?", "", " none "])
def test_words_for_gaps_among_numbers_are_gaps(word):
    found = fit(size=["1", word, "3"])
    values = found.transform(pd.DataFrame({"size": [word, "2", 3]}))["size"]
    np.testing.assert_allclose(values, [np.nan, 0, 1])


def test_outputs_are_named_by_columns_and_values():
    table = pd.DataFrame(
        {"town": ["Ulm", None, "Bonn"], "day": ["2024-03-01"] * 3, "7": [1, 2, 6]}
    )
    found = FrameVectorizer().fit(table)
    names = found.get_feature_names_out().tolist()
    assert names[:3] == ["town = Bonn", "town = Ulm", "town = missing"]
    assert "day year" in names
    assert names[-1] == "7"
    assert [list(table)[at] for at in found.origin_[[0, 3, -1]]] == ["town", "day", "7"]
    values = found.transform(table)
    assert values["town = missing"].tolist() == [0, 1, 0]
    assert values["7"].mean() == pytest.approx(0)
    assert values["7"].std(ddof=0) == pytest.approx(1)


def test_names_that_look_alike_stay_apart():
    table = pd.DataFrame({"a": ["b_c", "d"] * 20, "a_b": ["c", "d"] * 20})
    assert FrameVectorizer().fit(table).get_feature_names_out().tolist() == [
        "a = b_c",
        "a = d",
        "a_b = c",
        "a_b = d",
    ]


def test_rows_do_not_depend_on_each_other():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "town": rng.choice(["Ulm", "Bonn", None], N),
            "day": DAYS.dt.strftime("%Y-%m-%d"),
            "text": [f"some {i} words" for i in range(N)],
            "x": rng.normal(size=N),
        }
    )
    whole = FrameVectorizer().fit_transform(table)
    found = FrameVectorizer().fit(table)
    parts = [found.transform(table.iloc[[i]]) for i in range(0, N, 9)]
    pd.testing.assert_frame_equal(pd.concat(parts), whole.iloc[::9])


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("town", ["Paris", "Rome", "Ulm"], "column 'town': 'Paris' (and 1 more) was not seen"),
        ("day", ["soon", "2024-01-01", None], "column 'day': 'soon' is no date as in training"),
        ("day", ["2024-13-01", "2024-01-01", None], "'2024-13-01' is no date as in training"),
    ],
)
def test_what_was_not_seen_in_training_is_said(column, values, says):
    found = fit(town=["Ulm", "Bonn"] * 40, day=DAYS.dt.strftime("%Y-%m-%d"))
    new = pd.DataFrame({"town": ["Ulm"] * 3, "day": ["2024-01-01"] * 3}).assign(**{column: values})
    with pytest.warns(UserWarning, match=re.escape(says)):
        found.transform(new)


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "%Y-%m-%d 00:00:00"])
@pytest.mark.filterwarnings("error")
def test_a_date_is_the_same_however_a_program_writes_it(written):
    days = DAYS.dt.normalize()
    found = fit(day=days.dt.strftime(written))
    assert found.kinds_ == {"day": "date"}
    expected = found.transform(pd.DataFrame({"day": days.dt.strftime(written)}))
    for way in ("%Y-%m-%d", "%Y-%m-%d 00:00:00", "%Y-%m-%dT00:00:00.000", "%Y-%m-%d 00:00"):
        new = pd.DataFrame({"day": days.dt.strftime(way)})
        pd.testing.assert_frame_equal(found.transform(new), expected)
    pd.testing.assert_frame_equal(found.transform(pd.DataFrame({"day": days})), expected)


def test_gaps_are_not_said_to_be_new():
    found = fit(town=["Ulm", "Bonn"] * 40, day=DAYS.dt.strftime("%Y-%m-%d"))
    values = found.transform(pd.DataFrame({"town": ["NA", None, "?"], "day": ["", None, "nan"]}))
    assert np.isnan(values.filter(like="day")).all(axis=None)
    assert not values.filter(like="town").any(axis=None)


def test_numbers_stay_numbers():
    found = fit(age=[1.0, 2, 3], text=["1", "2", "3"])
    with pytest.raises(ValueError, match=r"column 'text' holds 'x' \(row 1\).*held numbers"):
        found.transform(pd.DataFrame({"age": [1.0, 2], "text": ["1", "x"]}))
    with pytest.raises(ValueError, match="column 'age' holds infinity"):
        fit(age=[1.0, np.inf])


def test_codes_and_medians():
    table = pd.DataFrame({"age": [20, 30, 977, 70], "town": ["Ulm"] * 4})
    values = FrameVectorizer(missing="median", missing_codes=[977]).fit_transform(table)
    assert values["age"][2] == values["age"][1]
    kept = FrameVectorizer(missing_codes=[977]).fit_transform(table)
    assert np.isnan(kept["age"][2])


def test_very_large_numbers_are_scaled_without_a_warning():
    values = FrameVectorizer().fit_transform(pd.DataFrame({"x": [-1e308, 0.0, 1e308]}))
    assert np.isfinite(values).all(axis=None)
    assert values["x"].is_monotonic_increasing


def test_numbers_with_a_decimal_comma_are_warned_of():
    with pytest.warns(UserWarning, match="'height' holds numbers with a decimal comma"):
        fit(height=[f"{i},5" for i in range(N)], x=np.arange(N))


def test_nothing_to_learn_from_is_an_error():
    with (
        pytest.warns(UserWarning, match="'id' is left out"),
        pytest.raises(ValueError, match="no column is left to learn from"),
    ):
        fit(id=[f"w{i}" for i in range(N)])


def test_two_columns_of_one_name_are_an_error():
    with pytest.raises(ValueError, match="two columns 'a': rename one"):
        FrameVectorizer().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_texts_that_nearly_all_differ_take_bounded_memory():
    ids = [str(uuid.UUID(int=i * 7919**8)) for i in range(4000)]
    table = pd.DataFrame({"id": [*ids[:-1], ids[0]], "x": np.arange(4000)})
    tracemalloc.start()
    values = FrameVectorizer().fit_transform(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert values.shape == (4000, 31)
    # One column for each of the 3,999 texts would take 128 MB.
    assert peak < 64e6
