import numpy as np
import pandas as pd
import polars
import pytest

from moreplr.datasets import from_csv

FRAME = pd.DataFrame(
    {"age": [20, 30], "rank_a": [1, 2], "town": ["Ulm", "Bonn"], "rank_b": [2.0, np.nan]}
)


@pytest.mark.parametrize("labels", [["rank_a", "rank_b"], "rank_", "rank_?", "*_[ab]"])
def test_labels_by_name_prefix_and_pattern(labels):
    data = from_csv(FRAME, labels)
    assert list(data.X) == ["age", "town"]
    assert list(data.Y) == ["rank_a", "rank_b"]
    np.testing.assert_array_equal(data.Y, [[1, 2], [2, np.nan]])


def test_labels_as_a_number_of_last_columns():
    data = from_csv(FRAME[["age", "rank_a", "rank_b"]], 2)
    assert list(data.Y) == ["rank_a", "rank_b"]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"people.{suffix}"
    if suffix == "parquet":
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False)
    data = from_csv(path, "rank_*", problem="lr")
    assert (data.name, data.problem) == ("people", "lr")
    np.testing.assert_array_equal(data.Y, [[1, 2], [2, np.nan]])


def test_polars_frames():
    frame = polars.DataFrame({"x": [0.5], "L1": [2], "L2": [1]})
    assert from_csv(frame, "L").Y.to_numpy().tolist() == [[2, 1]]


def test_rankings_as_one_text_column():
    frame = pd.DataFrame({"x": [1, 2], "ranking": ["a ~ c", None]})
    data = from_csv(frame, ["a", "b", "c"], text="ranking")
    np.testing.assert_array_equal(data.Y, [[1, np.nan, 1], [np.nan] * 3])


@pytest.mark.parametrize(
    ("labels", "text", "message"),
    [
        (None, None, "say which columns are labels"),
        ("score_", None, "no column matches 'score_'"),
        (["rank_c"], None, "no column 'rank_c' .labels.; did you mean 'rank_b'"),
        (9, None, "9 label columns in a table of 4"),
        (None, "ranking", "no column 'ranking'"),
        ("*", None, "not a number"),
    ],
)
def test_what_does_not_fit_is_named(labels, text, message):
    with pytest.raises(ValueError, match=message):
        from_csv(FRAME, labels, text=text)


def test_a_table_of_labels_only_has_no_features():
    with pytest.raises(ValueError, match="no column is left"):
        from_csv(FRAME[["rank_a", "rank_b"]], "rank")


def test_two_columns_of_a_name_are_refused():
    with pytest.raises(ValueError, match="there are two columns 'age': rename one of them"):
        from_csv(FRAME.rename(columns={"town": "age"}), "rank_*")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*none\.csv"):
        from_csv(tmp_path / "none.csv", 1)


def test_tab_separated_files(tmp_path):
    FRAME.to_csv(tmp_path / "people.tsv.gz", index=False, sep="\t")
    assert list(from_csv(tmp_path / "people.tsv.gz", "rank_*").X) == ["age", "town"]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,\xff\n", b"a,b\n1,2\n1,2,3\n"])
def test_a_file_that_can_not_be_read_is_named(tmp_path, content):
    (tmp_path / "odd.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"odd\.csv"):
        from_csv(tmp_path / "odd.csv", 1)
