"""Frames of pandas and polars, and single rows in all forms."""

import numpy as np
import pandas as pd
import polars
import pytest

from moreplr._frames import fault_of, is_frame, named_columns, one_row, to_pandas

ROW = {"age": 30, "town": "Ulm"}


def test_what_a_frame_is():
    assert is_frame(pd.DataFrame(ROW, index=[0]))
    assert is_frame(polars.DataFrame(ROW))
    assert not is_frame(np.zeros((1, 2)))
    assert not is_frame([[1, 2]])


def test_polars_frames_keep_types_and_gaps():
    frame = polars.DataFrame(
        {
            "n": [1, None],
            "b": [True, False],
            "gappy": [True, None],
            "t": ["x", None],
            "day": [pd.Timestamp("2024-01-01").date(), None],
        }
    )
    found = to_pandas(frame)
    assert found["n"].dtype == float
    assert found["b"].dtype == bool
    assert found["gappy"].tolist() == [True, None]
    assert found["t"][0] == "x"
    assert pd.api.types.is_datetime64_any_dtype(found["day"])
    assert found.isna().sum().tolist() == [1, 0, 1, 1, 1]


def test_a_pandas_frame_is_not_copied():
    frame = pd.DataFrame(ROW, index=[0])
    assert to_pandas(frame) is frame


def test_results_have_the_names_and_the_index_of_the_rows():
    X = pd.DataFrame({"x": [1, 2]}, index=["u", "v"])
    labels = np.array(["a", 3], dtype=object)
    found = named_columns(np.eye(2), labels, "pandas", X)
    assert (found.index.tolist(), found.columns.tolist()) == (["u", "v"], ["a", 3])
    assert named_columns(np.eye(2), labels, "polars", X).columns == ["a", "3"]


@pytest.mark.parametrize(
    "given",
    [
        ROW,
        {"town": "Ulm", "age": 30, "more": 1},
        pd.Series(ROW),
        pd.DataFrame([ROW], index=[7]),
        polars.DataFrame([ROW]),
        [30, "Ulm"],
        np.array([[30, "Ulm"]], dtype=object),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_row_in_all_its_forms(given):
    found = one_row(given, ["age", "town"])
    assert found.columns.tolist() == ["age", "town"]
    assert found.iloc[0].tolist() == [30, "Ulm"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"age": 30}, "the row lacks column 'town'"),
        ([[1, 2], [3, 4]], "one row is explained at a time, got 2"),
        (np.zeros((1, 1, 2)), r"got an array of shape \(1, 1, 2\)"),
        (pd.DataFrame(columns=["age", "town"]), "got 0"),
    ],
    ids=str,
)
def test_what_is_no_row_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        one_row(given, ["age", "town"])


@pytest.mark.parametrize(
    ("cells", "gaps", "said"),
    [
        ([1, "x"], True, "holds 'x' (row 1), and R takes numbers"),
        ([1.0, np.inf], True, "holds infinity (row 1), and R takes finite numbers"),
        ([None, 1.0], False, "holds NaN (row 0), and R takes no gaps"),
        (pd.to_datetime(["2024-01-01"]), True, "holds 2024-01-01 00:00:00 (row 0)"),
        ([1.0, None], True, None),
        (["1", "2.5"], True, None),  # which scikit-learn reads as numbers
        ([True, False], True, None),
    ],
    ids=str,
)
def test_the_first_cell_that_a_ranker_cannot_take_is_named(cells, gaps, said):
    found = fault_of(pd.DataFrame({"c": cells}), "R", takes_gaps=gaps)
    assert found is None if said is None else said in found
