import csv
import gzip
import io
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.tables.reading import open_table


def read(path, **options):
    with open_table(str(path), **options) as table:
        return table.read()


def test_cells_stay_as_they_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,"a, b"\n007,NA\n08,"x ""y""\nz"\n', encoding="utf-8")
    frame = read(path)
    assert list(frame) == ["id", "a, b"]
    assert frame.to_numpy().tolist() == [["007", "NA"], ["08", 'x "y"\nz']]


@given(
    cells=st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0"))] * 2),
        min_size=1,
        max_size=20,
    ),
    separator=st.sampled_from(",;\t"),
    rows=st.integers(1, 7),
)
@settings(max_examples=50, deadline=None)
def test_whatever_is_written_is_read_again(tmp_path_factory, cells, separator, rows):
    path = tmp_path_factory.mktemp("t") / "a.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL)
        writer.writerows([("first", "second"), *cells])
    with open_table(str(path), separator=separator, rows=rows) as table:
        chunks = list(table.chunks)
    assert [tuple(row) for chunk in chunks for row in chunk.to_numpy()] == cells
    assert all(len(chunk) == rows for chunk in chunks[:-1])


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip", ".tsv"])
def test_compressed_and_tab_separated(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    frame = pd.DataFrame({"a": ["1", "2"], "b": ["x", "ü"]})
    frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    assert read(path).to_numpy().tolist() == [["1", "x"], ["2", "ü"]]


def test_parquet_keeps_types_and_comes_in_chunks(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": ["x", None, "z"]})
    frame.to_parquet(tmp_path / "a.parquet")
    with open_table(str(tmp_path / "a.parquet"), rows=2) as table:
        first, second = table.chunks
    assert (len(first), len(second)) == (2, 1)
    assert first["a"].tolist() == [1, 2]
    assert first["b"].dtype == bool


def test_standard_input(monkeypatch):
    binary = io.BytesIO("a,b\n1,ü\n".encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=binary, isatty=lambda: False))
    assert read("-").to_numpy().tolist() == [["1", "ü"]]
    assert not binary.closed


def test_parquet_from_standard_input(monkeypatch, tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "a.parquet")
    binary = io.BytesIO((tmp_path / "a.parquet").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=binary, isatty=lambda: False))
    assert read("-", kind="parquet")["a"].tolist() == [1]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfage,b\r\n1,2\r\n")
    assert list(read(path)) == ["age", "b"]


def test_blank_lines_are_skipped_but_an_empty_cell_of_one_column_is_a_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\na,b\n1,2\n\n3,4\n")
    assert len(read(path)) == 2
    path.write_text("a\n1\n\n3\n")
    assert read(path)["a"].tolist() == ["1", "", "3"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.csv: empty"),
        (b"\n\n", "a.csv: empty"),
        (b"a,b\n", "a.csv has a header and no rows"),
        (b"a,b\n1,2\n3\n", "a.csv: line 3 has 1 cells, but the header has 2"),
        (b"a,b\n1,2,3\n", "a.csv: line 2 has 3 cells"),
        (b"a,b,a\n1,2,3\n", "a.csv: column 'a' is there twice"),
        (b'a,b\n1,"2\n3,4\n', "a.csv is broken: .*quotation"),
        (b"a,b\n1,\xfc\n", r"a.csv is not utf-8 text \(byte 0xfc\); say which it has"),
        (b"a;b\n1;2\n", "a.csv: there is one column, 'a;b'; if that is wrong, say separator=';'"),
    ],
)
def test_what_is_wrong_is_said_with_the_name(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "a.csv")


def test_a_fault_far_down_is_named_too(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"1,2\n" * 20_000 + b"3,\xff\n")
    with pytest.raises(ValueError, match=r"a\.csv is not utf-8"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.bz2", "csv.xz", "csv.zip", "parquet"])
def test_files_that_are_not_what_their_name_says(tmp_path, suffix):
    (tmp_path / f"a.{suffix}").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=rf"a\.{suffix}"):
        read(tmp_path / f"a.{suffix}")


def test_a_cut_archive(tmp_path):
    content = gzip.compress(b"a,b\n" + b"".join(b"%d,2\n" % i for i in range(10_000)))
    (tmp_path / "a.csv.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"a\.csv\.gz is broken"):
        read(tmp_path / "a.csv.gz")


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.csv"):
        read(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="encoding='latin1000' is not known"):
        read(tmp_path / "a.csv", encoding="latin1000")


def test_other_encodings(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\n1,ü\n".encode("utf-16"))
    assert read(tmp_path / "a.csv", encoding="utf-16")["b"].tolist() == ["ü"]


@pytest.mark.parametrize("suffix", ["xlsx", "json", "jsonl"])
def test_tables_of_other_programs(tmp_path, suffix):
    frame = pd.DataFrame({"age": [30, None], "town": ["Köln", "007"], "rank_a": [1, 2]})
    path = tmp_path / f"a.{suffix}"
    if suffix == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=suffix == "jsonl", force_ascii=False)
    found = read(path)
    assert list(found) == ["age", "town", "rank_a"]
    assert found["town"].tolist() == ["Köln", "007"]
    assert found["age"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b'{"a": 1}', "JSON must be a list of rows"),
        ("a.json", b'[{"a": [1]}]', r"row 1, column 'a': \[1\] is no single value"),
        ("a.json", b"[", "a.json: Expecting value"),
        ("a.json", b"[]", "a.json has a header and no rows"),
        ("a.jsonl", b'{"a": 1}\n{', "a.jsonl: "),
        ("a.xlsx", b"no workbook", "a.xlsx is broken or not what its name says"),
        ("a.sav", b"", "a.sav is an SPSS file; save it as CSV, Excel or Parquet"),
        ("a.xls", b"", "a workbook of Excel before 2007"),
    ],
)
def test_other_programs_files_that_are_not_read(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / name)


def test_a_message_shows_a_line_of_a_long_cell_at_most(tmp_path):
    (tmp_path / "a.csv").write_text(f"{'x' * 100_000};b\n1;2\n")
    with pytest.raises(ValueError, match="there is one column") as caught:
        read(tmp_path / "a.csv")
    assert len(str(caught.value)) < 400


def test_of_a_workbook_with_several_sheets_one_is_chosen_and_named(tmp_path):
    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["see the other sheet"]}).to_excel(
            book, sheet_name="Intro", index=False
        )
        pd.DataFrame({"a": ["1"]}).to_excel(book, sheet_name="Data", index=False)
    with open_table(str(path), sheet="Data") as table:
        assert table.columns == ["a"]
        assert table.name.endswith("two.xlsx (sheet 'Data' of 2)")
    with open_table(str(path)) as table:
        assert table.columns == ["note"]
    with (
        pytest.raises(ValueError, match="no sheet 'Daten'; sheets are 'Intro', 'Data'"),
        open_table(str(path), sheet="Daten"),
    ):
        pass
