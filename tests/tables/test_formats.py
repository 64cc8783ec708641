import sys
import zipfile

import pytest

from moreplr.tables.formats import Format, import_pyarrow, open_bytes


@pytest.mark.parametrize(
    ("name", "kind", "compression", "separator"),
    [
        ("a.csv", "csv", "", ","),
        ("my.data.TSV", "tsv", "", "\t"),
        ("folder.gz/a", "csv", "", ","),
        ("a.tab.bz2", "tsv", ".bz2", "\t"),
        ("a.csv.xz", "csv", ".xz", ","),
        ("a.zip", "csv", ".zip", ","),
        ("a.pq", "parquet", "", ""),
        ("-", "csv", "", ","),
    ],
)
def test_the_name_says_the_format(name, kind, compression, separator):
    assert Format.of(name) == Format(kind, compression, separator)


def test_a_given_format_counts_more_than_the_name():
    assert Format.of("a.csv", "tsv").separator == "\t"
    assert Format.of("a.tsv", separator=";").separator == ";"
    assert Format.of("a.csv", separator=r"\t").separator == "\t"  # as typed in a shell


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="compressed in itself"):
        Format.of("a.parquet.gz")
    with pytest.raises(ValueError, match="one character"):
        Format.of("a.csv", separator=", ")


def test_a_zip_of_several_files_is_no_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(ValueError, match=r"a\.zip holds 2 files"):
        open_bytes(str(tmp_path / "a.zip"), ".zip")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ValueError, match=r"pip install 'moreplr\[parquet\]'"):
        import_pyarrow()
