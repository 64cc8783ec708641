"""What is said of a table that was read, and what looks odd about it."""

import re

import numpy as np
import pandas as pd
import pytest

from moreplr.datasets import from_csv
from moreplr.encoders import METHODS, encode
from moreplr.tables.options import TableOptions
from moreplr.tables.overview import meaning, notes_on_features

STARS = pd.DataFrame({"age": [30, 50, 20], "tea": [5, 2, 0], "milk": [3, 4, 4], "oil": [0, 0, 1]})


def test_ratings_read_as_positions_are_noted():
    with pytest.warns(UserWarning, match=r"position is 5, with 3 labels; .*ratings=True"):
        from_csv(STARS, 3, unranked=[0])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ratings_with_zeros_read_as_positions_are_noted_as_both():
    notes = from_csv(pd.DataFrame({"x": [1, 2], "a": [5, 1], "b": [0, 4]}), 2).notes
    assert "say unranked=['0']" in notes[0]
    assert "say ratings=True" in notes[1]


def test_ones_for_better_are_noted():
    frame = pd.DataFrame({"x": [1, 2], "a": [1, 0], "b": [0, 0], "c": [0, 1]})
    with pytest.warns(UserWarning, match=r"positions are 0 or 1, and 0 is best; .*ratings=True"):
        from_csv(frame, 3)


def test_zeros_for_not_rated_are_noted():
    with pytest.warns(UserWarning, match=r"0 is the worst rating.*unranked=\['0'\]"):
        from_csv(STARS, 3, ratings=True)


def test_zeros_for_not_ranked_are_noted():
    frame = pd.DataFrame({"x": [1, 2, 3], "a": [1, 2, 0], "b": [2, 1, 1], "c": [0, 3, 2]})
    with pytest.warns(UserWarning, match="0 is the best position, although rows without"):
        from_csv(frame, 3)


def test_as_many_labels_as_stars_are_noted():
    stars = np.clip(np.random.default_rng(0).normal(3, 1.2, (50, 5)).round(), 1, 5)
    frame = pd.DataFrame(stars, columns=list("abcde")).assign(x=1)
    with pytest.warns(UserWarning, match=r"larger numbers are better, say ratings=True"):
        from_csv(frame, list("abcde"))


@pytest.mark.parametrize(
    ("method", "first"), [*((method, 1) for method in METHODS), ("dense", 0), ("standard", 0)]
)
def test_places_are_not_noted_however_ties_are_counted(method, first):
    places = encode(np.random.default_rng(0).normal(size=(50, 5)).round(), method)
    frame = pd.DataFrame(places - 1 + first, columns=list("abcde")).assign(x=1)
    assert from_csv(frame, list("abcde")).notes == ()


def test_positions_are_not_noted():
    frame = pd.DataFrame({"x": [1, 2], "a": [0, 1], "b": [1, 0], "c": [2, 2]})
    assert from_csv(frame, 3).notes == ()


def test_an_overview_never_holds_more_than_a_line_of_a_cell():
    long = "x" * 1_000_000
    frame = pd.DataFrame({long: range(30), "r": [f"a > b{long}", "b > a"] * 15})
    for line in str(from_csv(frame, text="r").overview()).splitlines():
        assert len(line) < 3000


def test_prose_is_no_identifier():
    prose = [f"tell me about the number {i} in a few words" for i in range(40)]
    frame = pd.DataFrame({"id": range(7, 47), "key": [f"k{i}" for i in range(40)]})
    frame = frame.assign(prompt=prose, a=1, b=2)
    notes = from_csv(frame, ["a", "b"]).overview().notes
    assert [re.search("'(.*?)'", note)[1] for note in notes] == ["id", "key"]


def test_an_overview_says_what_was_read():
    frame = pd.DataFrame(
        {
            "age": [31, 52, 40],
            "town": ["Ulm", "Bonn", None],
            "rides": [True, False, True],
            "when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
            "tea": [1, 1, np.nan],
            "milk": [2, 1, np.nan],
        }
    )
    overview = from_csv(frame, 2).overview()
    assert overview.features == {
        "age": "number", "town": "text", "rides": "yes or no", "when": "date",
    }  # fmt: skip
    lines = str(overview).splitlines()
    assert lines[1:] == [
        "features   4 (1 number, 1 text, 1 yes or no, 1 date): 'age', 'town', 'rides', 'when'",
        "labels     2: 'tea', 'milk'",
        "rankings   positions: the smallest is best, equal is tied, empty is not ranked",
        "first row  tea > milk",
        "consensus  tea ~ milk",
        *(f"note: {note}" for note in overview.notes),
    ]
    assert lines[0].endswith(": 3 rows")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"text": "r"}, "texts of column 'r'"),
        ({"votes": ["a", "b", "w"]}, "votes: winner of column 'w'"),
        ({"choices": ["best", "worst"], "tried": ["a", "b"]}, "best and worst of those tried"),
        ({"long": ["u", "i", "p"]}, "a line for each row and label, positions: the smallest"),
        ({"ratings": True}, "scores: the largest is best, empty is not ranked"),
        (
            {"scores": "smaller", "tolerance": 0.5, "missing": "last"},
            "scores: the smallest is best, closer than 0.5 is tied, empty is last",
        ),
    ],
    ids=lambda given: str(given)[:20],
)
def test_how_rankings_are_read_is_said_in_words(options, said):
    assert meaning(TableOptions(**options)).startswith(said)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([None] * 30, "is empty"),
        (range(100, 130), "numbers the rows; if it is an identifier, say ignore=['x']"),
        ([f"k{i}" for i in range(30)], "has 30 different values in 30 rows"),
        ([*map(str, range(29)), "n. a."], "because of 'n. a.' in row 30; if that is a gap"),
        ([f"{i},5" for i in range(30)], "if it holds numbers, say decimal=','"),
    ],
    ids=["empty", "numbers", "names", "a gap", "commas"],
)
def test_odd_features_are_noted_with_the_remedy(cells, said):
    (note,) = notes_on_features(pd.DataFrame({"x": cells}))
    assert said in note


@pytest.mark.parametrize(
    "cells",
    [
        range(10),  # too few to tell
        [3 * i for i in range(30)],
        [i % 2 == 0 for i in range(30)],
        ["a", "b", "c"] * 10,
        [f"2024-01-{i + 1:02}" for i in range(30)],
    ],
    ids=["few", "measured", "truths", "categories", "dates"],
)
def test_of_what_is_usual_nothing_is_said(cells):
    assert list(notes_on_features(pd.DataFrame({"x": cells}))) == []
