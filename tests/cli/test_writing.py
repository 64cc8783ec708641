import os
import stat
from pathlib import Path

import pandas as pd
import pytest

from moreplr.cli.writing import check_output, open_writer
from moreplr.tables.reading import open_table

FIRST = pd.DataFrame({"a": [1, 2], "b": ["x", 'ü, "z"']})
SECOND = pd.DataFrame({"a": [3], "b": [""]})


@pytest.mark.parametrize(
    "name",
    [
        "a.csv",
        "a.tsv",
        "a.csv.gz",
        "a.csv.bz2",
        "a.tsv.xz",
        "a.csv.zip",
        "a.parquet",
        "a.xlsx",
        "a.json",
        "a.jsonl",
    ],
)
def test_frames_become_one_table(tmp_path, name):
    with open_writer(str(tmp_path / name)) as writer:
        writer.write(FIRST)
        writer.write(SECOND)
    with open_table(str(tmp_path / name)) as table:
        frame = table.read()
    rows = frame.astype(object).to_numpy().tolist()
    found = [["" if pd.isna(cell) else str(cell) for cell in row] for row in rows]
    assert found == [["1", "x"], ["2", 'ü, "z"'], ["3", ""]]
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.zip", "a.parquet"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_what_was_stopped(tmp_path, name, error):
    (tmp_path / name).write_text("old")

    def write():
        with open_writer(str(tmp_path / name)) as writer:
            writer.write(FIRST)
            assert (tmp_path / name).read_text() == "old"
            raise error("stop")

    with pytest.raises(error, match="stop"):
        write()
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "old"


def test_a_first_frame_without_values_does_not_fix_the_type(tmp_path):
    with open_writer(str(tmp_path / "a.parquet")) as writer:
        writer.write(pd.DataFrame({"a": pd.Series([None], dtype=object)}))
        writer.write(pd.DataFrame({"a": pd.Series(["x"], dtype=object)}))
    assert pd.read_parquet(tmp_path / "a.parquet")["a"].tolist()[1] == "x"


def test_devices_are_written_to_and_not_replaced():
    with open_writer("/dev/null") as writer:
        writer.write(FIRST)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(ValueError, match=r"there is no folder .*none to write to; make it first"):
        check_output(str(tmp_path / "none" / "a.csv"))
    with pytest.raises(ValueError, match="is a folder"):
        check_output(str(tmp_path))
    check_output(str(tmp_path / "a.csv"))
    check_output("-")


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.xlsx"])
def test_formulas_are_quoted_where_that_is_wanted(tmp_path, name):
    cells = ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-2+3", "-5", "tea"]
    frame = pd.DataFrame({"=name": pd.Series(cells, dtype=object), "rank": [1, 2, 3, -4, 5, 6]})
    read = pd.read_excel if name.endswith("xlsx") else pd.read_csv
    options = {"sep": "\t"} if name.endswith("tsv") else {}
    for safe in (True, False):
        path = str(tmp_path / f"{safe}{name}")
        with open_writer(path, safe_cells=safe) as writer:
            writer.write(frame)
        if safe:
            found = read(path, dtype=str, **options)
            assert list(found) == ["'=name", "rank"]
            expected = [f"'{cell}" for cell in cells[:4]] + cells[4:]
            assert found["'=name"].to_list() == expected
            assert found["rank"].to_list() == ["1", "2", "3", "-4", "5", "6"]
    if name == "out.csv":
        assert Path(path).read_text().splitlines()[1] == "=cmd|' /C calc'!A0,1"
