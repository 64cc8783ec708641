"""Write tables to files, completely or not at all, or to standard output."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from moreplr._files import whole_file
from moreplr.tables.cells import as_number
from moreplr.tables.formats import STREAM, Format, check_openpyxl, import_pyarrow


def check_output(path: str) -> None:
    """Refuse a path that can't be written, before long work and not after it."""
    if path == STREAM:
        return
    folder = Path(path).parent
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file")
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder} to write to; make it first")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise ValueError(f"{path} can't be written: no permission")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with a quote before texts, and column names, that a spreadsheet would run.

    Examples
    --------
    >>> frame = pd.DataFrame({"=1+1": ["=cmd|' /C calc'!A0", "-3", "tea"]})
    >>> without_formulas(frame).to_dict("list")
    {"'=1+1": ["'=cmd|' /C calc'!A0", '-3', 'tea']}
    """
    safe = frame.copy()
    for name, dtype in frame.dtypes.items():
        if not is_numeric_dtype(dtype):
            safe[name] = frame[name].map(_quoted)
    return safe.rename(columns=_quoted)


def _quoted(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    return cell if as_number(cell) is not None else f"'{cell}"


class Writer:
    """Writes frames one after another as one table; use :func:`open_writer`."""

    def __init__(self, binary: IO[bytes], form: Format, safe_cells: bool = False) -> None:
        self._binary, self._form, self._safe_cells = binary, form, safe_cells
        self._parquet: Any = None
        self._text = io.TextIOWrapper(binary, encoding="utf-8", newline="", write_through=False)
        self._begun = False
        self._kept: list[pd.DataFrame] = []  # of formats that are written in one go

    def write(self, frame: pd.DataFrame) -> None:
        """Add rows; the first frame's columns are the header."""
        if self._safe_cells and self._form.kind in ("csv", "tsv", "excel"):
            frame = without_formulas(frame)
        if self._form.kind == "parquet":
            self._write_parquet(frame)
        elif self._form.kind in ("excel", "json"):
            self._kept.append(frame)
        elif self._form.kind == "jsonl":
            if len(frame):
                self._text.write(frame.to_json(orient="records", lines=True, force_ascii=False))
        else:
            frame.to_csv(
                self._text,
                index=False,
                header=not self._begun,
                sep=self._form.separator,
                lineterminator="\n",
            )
            self._text.flush()
        self._begun = True

    def close(self) -> None:
        """Write the rest; the stream itself stays open."""
        if self._parquet is not None:
            self._parquet.close()
        if self._kept:
            self._write_whole(pd.concat(self._kept, ignore_index=True))
        self._text.flush()
        self._text.detach()

    def _write_whole(self, frame: pd.DataFrame) -> None:
        if self._form.kind == "excel":
            workbook = io.BytesIO()  # Excel's files are archives, which are not written in order
            frame.to_excel(workbook, index=False)
            self._binary.write(workbook.getvalue())
        else:
            frame.to_json(self._text, orient="records", force_ascii=False)

    def _write_parquet(self, frame: pd.DataFrame) -> None:
        arrow, parquet = import_module("pyarrow"), import_pyarrow()
        if self._parquet is None:
            schema = arrow.Schema.from_pandas(frame, preserve_index=False)
            # A column without a value so far is most likely one of texts.
            for at, field in enumerate(schema):
                if arrow.types.is_null(field.type):
                    schema = schema.set(at, field.with_type(arrow.string()))
            self._parquet = parquet.ParquetWriter(self._binary, schema)
        schema = self._parquet.schema
        self._parquet.write_table(
            arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        )


@contextmanager
def open_writer(path: str, *, safe_cells: bool = False) -> Iterator[Writer]:
    """A writer in the format that the name ends with; `-` is standard output.

    With `safe_cells` no cell of CSV, TSV or Excel is a formula to a spreadsheet.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_writer(f"{folder}/out.csv.gz") as writer:
    ...         writer.write(pd.DataFrame({"a": [1]}))
    ...         writer.write(pd.DataFrame({"a": [2]}))
    ...     pd.read_csv(f"{folder}/out.csv.gz")["a"].tolist()
    [1, 2]
    """
    form = Format.of(path)
    if form.kind == "parquet":
        import_pyarrow()
    if form.kind == "excel":
        check_openpyxl()
    if path == STREAM:
        sys.stdout.flush()
        yield from _write(sys.stdout.buffer, form, safe_cells)
        sys.stdout.buffer.flush()
        return
    check_output(path)
    with whole_file(path) as name, _open(name, path, form.compression) as binary:
        yield from _write(binary, form, safe_cells)


def _write(binary: IO[bytes], form: Format, safe_cells: bool) -> Iterator[Writer]:
    writer = Writer(binary, form, safe_cells)
    try:
        yield writer
    except BaseException:
        with suppress(Exception):  # the first error is the one to report
            writer.close()
        raise
    writer.close()


@contextmanager
def _open(name: str, path: str, compression: str) -> Iterator[IO[bytes]]:
    if compression == ".zip":
        member = os.path.basename(path)[: -len(compression)]
        with (
            zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(member, "w", force_zip64=True) as binary,
        ):
            yield binary
        return
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    with openers.get(compression, open)(name, "wb") as binary:
        yield binary
