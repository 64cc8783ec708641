"""Tables as they are: column names and cells, a chunk of rows at a time.

Cells of CSV stay texts until the meaning of their column is known (:mod:`moreplr.tables.cells`).
Converted earlier, `007` would lose its zeros, and types could differ between chunks.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import os
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

import numpy as np
import pandas as pd

from moreplr.rankings._cells import clip, shorten
from moreplr.tables.formats import (
    STREAM,
    Format,
    check_openpyxl,
    import_pyarrow,
    open_bytes,
    show_name,
)

CHUNK_ROWS = 4096


@dataclass(frozen=True)
class Table:
    """An open table: its name, its columns, and its rows, which can be gone through once."""

    name: str
    columns: list[str]
    chunks: Iterator[pd.DataFrame]

    def read(self, advance: Callable[[int], None] | None = None) -> pd.DataFrame:
        """All rows; `advance` is called with the size of each chunk. No rows are an error."""
        parts = []
        for chunk in self.chunks:
            parts.append(chunk)
            if advance is not None:
                advance(len(chunk))
        if not parts:
            raise ValueError(f"{self.name} has a header and no rows")
        return pd.concat(parts, ignore_index=True)


@contextmanager
def open_table(
    path: str,
    *,
    kind: str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    sheet: str | None = None,
    rows: int = CHUNK_ROWS,
) -> Iterator[Table]:
    """Open a table of any of :data:`FORMATS`, by the ending of its name; `-` is stdin.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age,town\\n007,Ulm\\n")
    ...     with open_table(str(path)) as table:
    ...         table.columns, table.read().values.tolist()
    (['age', 'town'], [['007', 'Ulm']])
    """
    name = show_name(path)
    form = Format.of(path, kind, separator)
    if path != STREAM and not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder, not a table")
    if path == STREAM and sys.stdin.isatty():
        print("reading a table from the terminal", file=sys.stderr)
    with _named(name, encoding):
        binary = open_bytes(path, form.compression)
    try:
        with _named(name, encoding):
            if form.kind == "parquet":
                columns, chunks = _parquet(binary, path == STREAM, rows)
            elif form.kind == "excel":
                columns, chunks, which = _excel(binary, sheet)
                name += which
            elif form.kind == "json":
                columns, chunks = _records(json.load(binary))
            elif form.kind == "jsonl":
                columns, chunks = _records([json.loads(line) for line in binary if line.strip()])
            else:
                columns, chunks = _csv(binary, form.separator, encoding, rows)
        yield Table(name, columns, _say_where(chunks, name, encoding))
    finally:
        if path != STREAM:
            binary.close()


def _csv(
    binary: IO[bytes], separator: str, encoding: str, rows: int
) -> tuple[list[str], Iterator[pd.DataFrame]]:
    # Spreadsheets put a byte order mark in front of UTF-8.
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    csv.field_size_limit(2**31 - 1)
    text = io.TextIOWrapper(binary, encoding=codec, newline="")
    reader = csv.reader(text, delimiter=separator, strict=True)
    header = next((line for line in reader if any(line)), None)
    if header is None:
        raise ValueError("empty, there is not even a header")
    columns = _unique(header)
    _check_separator(header, separator)
    return columns, _csv_chunks(text, reader, columns, rows)


def _csv_chunks(text: Any, reader: Any, columns: list[str], rows: int) -> Iterator[pd.DataFrame]:
    # Keep a reference to `text`: without one Python closes the file.
    lines = _lines(reader, len(columns))
    while block := list(islice(lines, rows)):
        cells = np.array(block, dtype=object)
        yield pd.DataFrame(cells, columns=pd.Index(columns, dtype=object), dtype=object)
    text.detach()


def _lines(reader: Any, width: int) -> Iterator[list[str]]:
    for line in reader:
        if len(line) == width:
            yield line
        elif not line:
            if width == 1:  # an empty cell, where several columns would have separators
                yield [""]
        else:
            raise ValueError(
                f"line {reader.line_num} has {len(line)} cells, but the header has {width}"
            )


def _unique(header: list[str]) -> list[str]:
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise ValueError(f"column {clip(twice[0])} is there twice; names of columns must differ")
    return [name or f"Unnamed: {number}" for number, name in enumerate(header)]


def _check_separator(header: list[str], separator: str) -> None:
    others = [sign for sign in ",;\t|" if sign != separator and sign in header[0]]
    if len(header) == 1 and others:
        raise ValueError(
            f"there is one column, {clip(header[0])}; if that is wrong, say "
            f"separator={others[0]!r}"
        )


def _parquet(
    binary: IO[bytes], stream: bool, rows: int
) -> tuple[list[str], Iterator[pd.DataFrame]]:
    parquet = import_pyarrow()
    file = parquet.ParquetFile(io.BytesIO(binary.read()) if stream else binary)
    columns = _unique(list(file.schema_arrow.names))
    batches = file.iter_batches(batch_size=rows)
    chunks = (batch.to_pandas(ignore_metadata=True) for batch in batches if batch.num_rows)
    return columns, chunks


def _excel(binary: IO[bytes], sheet: str | None) -> tuple[list[str], Iterator[pd.DataFrame], str]:
    """Columns, rows, and which sheet they are of, if there are several."""
    check_openpyxl()
    try:
        with pd.ExcelFile(io.BytesIO(binary.read()), engine="openpyxl") as workbook:
            names = workbook.sheet_names
            if sheet is not None and sheet not in names:
                raise ValueError(f"there is no sheet {clip(sheet)}; sheets are {shorten(names)}")
            chosen = names[0] if sheet is None else sheet
            cells = pd.read_excel(workbook, sheet_name=chosen, header=None, dtype=object)
    except (KeyError, TypeError) as error:  # a workbook with missing parts
        raise ValueError(f"no workbook of Excel: {error}") from error
    which = f" (sheet {chosen!r} of {len(names)})" if len(names) > 1 else ""
    cells = cells.dropna(how="all")
    if not len(cells):
        raise ValueError(f"empty, there is not even a header{which}")
    columns = _unique(["" if pd.isna(cell) else str(cell) for cell in cells.iloc[0]])
    frame = cells.iloc[1:].reset_index(drop=True)
    frame.columns = pd.Index(columns, dtype=object)
    return columns, iter([frame] if len(frame) else []), which


def _records(rows: Any) -> tuple[list[str], Iterator[pd.DataFrame]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError('JSON must be a list of rows such as [{"age": 30, "rank_tea": 1}]')
    columns = list(dict.fromkeys(name for row in rows for name in row))
    for number, row in enumerate(rows, start=1):
        for name, cell in row.items():
            if isinstance(cell, list | dict):
                raise ValueError(f"row {number}, column {name!r}: {clip(cell)} is no single value")
    frame = pd.DataFrame(
        [[row.get(name) for name in columns] for row in rows],
        columns=pd.Index(columns, dtype=object),
        dtype=object,
    )
    return columns, iter([frame] if rows else [])


def _say_where(chunks: Iterator[pd.DataFrame], name: str, encoding: str) -> Iterator[pd.DataFrame]:
    while True:
        with _named(name, encoding):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


@contextmanager
def _named(name: str, encoding: str) -> Iterator[None]:
    """Add the name of the table to errors, and what to do."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is not {encoding} text (byte 0x{error.object[error.start]:02x}); "
            "say which it has, such as encoding='cp1252' or encoding='utf-16'"
        ) from error
    except UnicodeError as error:  # for example, UTF-16 without a byte order mark
        raise ValueError(f"{name} is not {encoding} text: {error}; say encoding='…'") from error
    except LookupError as error:
        raise ValueError(f"encoding={encoding!r} is not known") from error
    except csv.Error as error:
        raise ValueError(f"{name} is broken: {error}; is a quotation mark open?") from error
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is broken or not what its name says: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{name} is broken or not what its name says: {error}") from error
    except ValueError as error:
        said = str(error)
        raise ValueError(said if name in said else f"{name}: {said}") from error
