import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.rankings import from_long, to_long

NAN = float("nan")
LINES = pd.DataFrame(
    {
        "user": ["u2", "u2", "u1", "u2", "u1"],
        "town": ["Ulm", "Ulm", None, "Ulm", None],
        "item": ["tea", "milk", "tea", "water", "water"],
        "rank": [1, 2, 1, 2, None],
        "second": [1, 2, 3, 4, 5],
    }
)
ARGUMENTS = {"row": "user", "label": "item", "position": "rank", "ignore": ["second"]}


def test_lines_become_rows_in_the_order_in_which_they_come():
    X, Y = from_long(LINES, **ARGUMENTS)
    assert X.index.tolist() == Y.index.tolist() == ["u2", "u1"]
    assert X["town"].fillna("").tolist() == ["Ulm", ""]
    assert list(X) == ["town"]
    assert list(Y) == ["milk", "tea", "water"]
    np.testing.assert_array_equal(Y, [[2, 1, 2], [NAN, 1, NAN]])


def test_polars_in_polars_out():
    X, Y = from_long(polars.from_pandas(LINES), **ARGUMENTS)
    assert X.to_dict(as_series=False) == {"town": ["Ulm", None]}
    np.testing.assert_array_equal(Y.to_numpy(), [[2, 1, 2], [NAN, 1, NAN]])


def test_the_labels_order_can_be_said():
    Y = from_long(LINES, **ARGUMENTS, labels=["water", "tea", "beer", "milk"]).Y
    assert list(Y) == ["water", "tea", "beer", "milk"]
    assert Y["beer"].isna().all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
@given(
    arrays(
        float,
        st.tuples(st.integers(1, 5), st.integers(1, 4)),
        elements=st.sampled_from([1.0, 2.0, 3.0, NAN]),
    )
)
def test_there_and_back(library, Y):
    lines = to_long(Y, library=library)
    if np.isnan(Y).all():
        assert len(lines) == 0
        return
    back = from_long(lines, "row", "label", "position", labels=range(Y.shape[1])).Y
    kept = ~np.isnan(Y).all(axis=1)  # a row without a ranked label has no line
    np.testing.assert_array_equal(back, Y[kept])


def test_rows_keep_their_names():
    Y = pd.DataFrame({"a": [1, 2]}, index=["u1", "u2"])
    assert to_long(Y)["row"].tolist() == ["u1", "u2"]
    assert to_long(Y, rows=[7, 8])["row"].tolist() == [7, 8]
    with pytest.raises(ValueError, match="rows has 1 names, but Y has 2 rows"):
        to_long(Y, rows=["u1"])


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"label": "itme"}, "there is no column 'itme' .label.; did you mean 'item'"),
        ({}, {"ignore": ["sec"]}, "there is no column 'sec' .ignore.; did you mean 'second'"),
        ({}, {"ignore": []}, r"row 1: column 'second' differs .*'u2': 1 and 2; .*ignore="),
        ({}, {"labels": ["tea", "milk"]}, "row 3: 'water' is not among the labels"),
        ({"user": ["u", None, "u", "u", "u"]}, {}, "row 1, column 'user' is empty"),
        ({"item": ["a", "b", "", "c", "d"]}, {}, "row 2, column 'item' is empty"),
        ({"item": ["a", "b", "a", "a", "d"]}, {}, "row 3: 'u2' ranks 'a' a second time"),
        ({"rank": ["1", "2", "x", "1", "2"]}, {}, "row 2, column 'rank': position 'x' is not"),
    ],
)
def test_a_wrong_use_names_row_and_column(change, arguments, message):
    with pytest.raises(ValueError, match=message):
        from_long(LINES.assign(**change), **{**ARGUMENTS, **arguments})


def test_two_columns_of_a_name_are_refused():
    with pytest.raises(ValueError, match="there are two columns 'town': rename one"):
        from_long(LINES.rename(columns={"second": "town"}), "user", "item", "rank")


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match="frame must be a pandas or polars frame, got list"):
        from_long([[1, 2]], **ARGUMENTS)
