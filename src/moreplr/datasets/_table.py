"""Data sets from tables of one's own, in files or frames."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from moreplr._frames import is_frame, to_pandas
from moreplr.datasets._aslib import RUNS, from_aslib
from moreplr.datasets._dataset import Dataset
from moreplr.rankings import read_preflib
from moreplr.rankings._frames import check_frame
from moreplr.rankings._preflib import SUFFIXES
from moreplr.tables.cells import Reader
from moreplr.tables.options import TableOptions
from moreplr.tables.overview import meaning
from moreplr.tables.reading import open_table
from moreplr.tables.shapes import read_cells, shape_table


def read_dataset(source: Any, options: TableOptions, name: str | None, problem: str) -> Dataset:
    """A data set from a file, a folder of ASlib, or a frame."""
    if not isinstance(source, (str, Path)):
        if not is_frame(source):
            raise TypeError(
                f"a table is a path or a pandas or polars frame, got {type(source).__name__}"
            )
        check_frame(source)
        frame = to_pandas(source).reset_index(drop=True)
        return make_dataset(frame, name or "data", options, problem)
    path = Path(source)
    short = name or path.name.split(".")[0]
    if path.suffix.lower() in SUFFIXES:
        _check_no_options(options, f"{path}: {{}} is for tables, and a file of PrefLib needs none")
        table = read_preflib(path)
        how = "orders of PrefLib, weighted by their voters"
        return Dataset(short, problem, table.X, table.Y, (), table.sample_weight, meaning=how)
    if os.path.isfile(path / RUNS):
        _check_no_options(options, f"{path}: {{}} is for tables, and a scenario needs none")
        return from_aslib(path)
    frame, title = _read(path, options)
    return make_dataset(frame, short, options, problem, title=title)


def _read(path: str | Path, options: TableOptions) -> tuple[pd.DataFrame, str]:
    """All rows of a table, and its name for messages."""
    with open_table(
        str(path),
        kind=options.format,
        separator=options.separator,
        encoding=options.encoding,
        sheet=options.sheet,
    ) as table:
        return table.read(), table.name


def _check_no_options(options: TableOptions, message: str) -> None:
    """Refuse options without effect, such as `labels` for a file that has its own."""
    for option in fields(options):
        value = getattr(options, option.name)
        if (tuple(value) if isinstance(value, list) else value) != option.default:
            raise ValueError(message.format(option.name))


def read_features(
    path: str | Path,
    *,
    gaps: Sequence[Any] = (),
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    sheet: str | None = None,
    format: str | None = None,
) -> pd.DataFrame:
    """The columns of a table without rankings, read as :func:`from_csv` reads features.

    For rows to predict: a :class:`moreplr.TableRanker` finds its columns by name.

    Parameters
    ----------
    path : str or path
        A file of any of the formats that :func:`from_csv` takes.
    gaps, separator, decimal, encoding, sheet, format : as of :func:`from_csv`

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new.csv"
    ...     _ = path.write_text("age;town\\n30,5;Ulm\\n?;Bonn\\n")
    ...     read_features(path, separator=";", decimal=",", gaps=["?"])
        age  town
    0  30.5   Ulm
    1   NaN  Bonn
    """
    options = TableOptions(
        gaps=gaps,
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        sheet=sheet,
        format=format,
    )
    frame, title = _read(path, options)
    reader = Reader(title, options.gaps, options.decimal)
    named = [name for name in frame if not str(name).startswith("Unnamed: ")]
    return read_cells(frame[named], reader, keep_types=True)


def make_dataset(
    frame: pd.DataFrame,
    name: str,
    options: TableOptions,
    problem: str,
    *,
    title: str | None = None,
    keep_types: bool = True,
) -> Dataset:
    """A data set of a raw table; `title` is its name in messages."""
    reader = Reader(title or name, options.gaps, options.decimal)
    shaped = shape_table(frame, reader, options)
    return Dataset(
        name,
        problem,
        read_cells(shaped.X, reader, keep_types=keep_types),
        shaped.Y,
        tuple(reader.codes),
        shaped.sample_weight,
        shaped.groups,
        meaning(options),
        tuple(shaped.notes),
        shaped.scores,
        options.larger_is_better,
    )
