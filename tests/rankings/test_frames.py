"""Columns of frames by names, patterns and numbers."""

import numpy as np
import pandas as pd
import polars
import pytest

from moreplr.rankings._frames import (
    check_frame,
    column,
    find_columns,
    find_labels,
    make_frame,
    objects,
    others,
    select,
)

COLUMNS = ["x", "rank_a", "rank_b", "a*"]
PANDAS = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["x", "a", "b"])
FRAMES = [PANDAS, polars.from_pandas(PANDAS)]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (2, ["rank_b", "a*"]),
        ("rank_*", ["rank_a", "rank_b"]),
        ("rank_", ["rank_a", "rank_b"]),  # a prefix
        ("rank_?", ["rank_a", "rank_b"]),
        ("a*", ["a*"]),  # a column of that name comes before the pattern
        (["rank_b", "x"], ["rank_b", "x"]),
        (["x", "rank_*", "x"], ["x", "rank_a", "rank_b"]),
    ],
    ids=str,
)
def test_labels_are_found(labels, found):
    assert find_labels(COLUMNS, labels) == found


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "say which columns are labels"),
        (0, "0 label columns in a table of 4 columns"),
        (4, "4 label columns in a table of 4 columns"),
        ("z*", "no column matches 'z[*]' .labels."),
        (["rank_c"], "no column 'rank_c' .labels.; did you mean 'rank_"),
        (["zzz"], "no column 'zzz' .labels.; columns are 'x'"),
        ([True], "no column True"),
    ],
    ids=str,
)
def test_labels_that_are_not_there_are_named(labels, message):
    with pytest.raises(ValueError, match=message):
        find_labels(COLUMNS, labels)


def test_columns_that_are_neither_used_nor_ignored_are_features():
    assert others(COLUMNS, ["rank_a"], ["rank_*"]) == ["x", "a*"]
    assert find_columns(COLUMNS, "rank_a", "weight") == ["rank_a"]
    with pytest.raises(ValueError, match=r"no column 'y' \(ignore\)"):
        others(COLUMNS, [], ["y"])


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars"])
def test_frames_of_both_kinds_are_taken_apart_and_made(frame):
    assert check_frame(frame) == ["x", "a", "b"]
    assert column(frame, "a", "group").tolist() == [2, 5]
    part = select(frame, ["b", "x"], np.array([1]))
    assert type(part) is type(frame)
    assert (list(part.columns), part.to_numpy().tolist()) == (["b", "x"], [[6, 4]])
    with pytest.raises(ValueError, match=r"no column 'c' \(group\)"):
        column(frame, "c", "group")


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match="frame must be a pandas or polars frame, got list"):
        check_frame([[1]])
    with pytest.raises(ValueError, match="two columns 'a': rename one"):
        check_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="library must be one of"):
        make_frame({}, "r")


def test_cells_stay_what_they_are():
    cells = objects([[1, 2], "x", None])
    assert cells.dtype == object
    assert cells.tolist() == [[1, 2], "x", None]
