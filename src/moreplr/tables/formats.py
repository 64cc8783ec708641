"""Formats of tables: found by the ending of a file's name, and how to open them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zipfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import IO, Any

STREAM = "-"
FORMATS = ("csv", "tsv", "parquet", "excel", "json", "jsonl")
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip")
_FORMAT_OF = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# These are refused by name; otherwise they would be read as CSV.
_FOREIGN = {
    ".xls": "a workbook of Excel before 2007",
    ".ods": "an OpenDocument spreadsheet",
    ".numbers": "an Apple spreadsheet",
    ".sav": "an SPSS file",
    ".dta": "a Stata file",
    ".sas7bdat": "a SAS file",
    ".rds": "an R file",
    ".rda": "an R file",
    ".rdata": "an R file",
    ".feather": "an Arrow file",
    ".arrow": "an Arrow file",
    ".h5": "an HDF5 file",
    ".db": "a database",
    ".sqlite": "a database",
    ".pkl": "a pickle",
    ".html": "a web page",
    ".xml": "an XML file",
    ".pdf": "a PDF file",
    ".docx": "a Word document",
    ".png": "a picture",
    ".moreplr": "a model",
}
_SEPARATOR_OF = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Format:
    """How a table is stored.

    Examples
    --------
    >>> Format.of("people.tsv.gz")
    Format(kind='tsv', compression='.gz', separator='\\t')
    >>> Format.of("-", separator=";")
    Format(kind='csv', compression='', separator=';')
    """

    kind: str
    compression: str
    separator: str

    @classmethod
    def of(cls, name: str, kind: str | None = None, separator: str | None = None) -> Format:
        """The given format, or else that of the name's ending, or else CSV."""
        suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
        compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
        if kind is None:
            ending = suffixes[-1] if suffixes else ""
            if ending in _FOREIGN:
                raise ValueError(f"{name} is {_FOREIGN[ending]}; save it as CSV, Excel or Parquet")
            kind = _FORMAT_OF.get(ending, "csv")
        if kind not in FORMATS:  # help imports this module: no check_name, which needs NumPy
            raise ValueError(f"format must be one of {FORMATS}, got {kind!r}")
        if kind in ("parquet", "excel") and compression:
            what = {"parquet": "Parquet", "excel": "Excel"}[kind]
            raise ValueError(f"{name}: {what} is compressed in itself; leave out {compression}")
        if separator == r"\t":  # as it is typed in a shell
            separator = "\t"
        if separator is not None and len(separator) != 1:
            raise ValueError(f"separator must be one character, got {separator!r}")
        return cls(kind, compression, separator or _SEPARATOR_OF.get(kind, ""))


def show_name(path: str) -> str:
    """A path as messages name it."""
    return "standard input" if path == STREAM else path


def open_bytes(path: str, compression: str) -> IO[bytes]:
    """Open a file, or standard input, for its uncompressed bytes."""
    if path == STREAM:
        return sys.stdin.buffer
    if compression == ".zip":
        return _open_zip(path)
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(compression, open)
    return opener(path, "rb")


def _open_zip(path: str) -> IO[bytes]:
    with zipfile.ZipFile(path) as archive:
        files = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(files) != 1:
            raise ValueError(f"{path} holds {len(files)} files; a zipped table holds one")
        return archive.open(files[0])


def import_pyarrow() -> Any:
    """The Parquet module of pyarrow, or an error with a remedy where it is not installed."""
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError(
            "Parquet needs pyarrow: pip install 'moreplr[parquet]', or use CSV"
        ) from None


def check_openpyxl() -> None:
    """An error with a remedy where openpyxl is not installed."""
    try:
        import_module("openpyxl")
    except ImportError:
        raise ValueError(
            "Excel needs openpyxl: pip install 'moreplr[excel]', or save the table as CSV"
        ) from None
