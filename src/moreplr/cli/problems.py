"""From a table and options to a ranking problem: features, rankings, and what looks odd."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from moreplr._progress import Progress
from moreplr.cli.options import table_options
from moreplr.datasets import Dataset, list_datasets, load
from moreplr.datasets._table import find_labels, split_table
from moreplr.tables.cells import NUMBER, Reader, as_number, has_decimal_comma
from moreplr.tables.formats import STREAM
from moreplr.tables.reading import open_table

# Cells that the one-hot encoded texts of a table may have.
_MOST_CELLS = 500_000_000


def load_problem(source: str, options: argparse.Namespace) -> Dataset:
    """A table with labels from a file or standard input, or a data set by its name.

    A file comes first; a name such as ``iris`` or ``lr/iris`` that is no file is a data set.
    """
    named = _named_dataset(source)
    if named is not None:
        return named
    with open_table(source, **table_options(options)) as table:
        name = table.name
        with Progress(f"reading {name}", unit="rows") as progress:
            frame = table.read(progress.advance)
    reader = Reader(name, options.gap, options.decimal)
    columns = [str(column) for column in frame if not str(column).startswith("Unnamed: ")]
    if len(columns) < frame.shape[1]:
        note(f"{name}: columns without a name are left out")
    ignored = match_columns(options.ignore, columns, name, "--ignore")
    frame = frame[[column for column in columns if column not in ignored]]
    codes = tuple(code for code in map(as_number, options.gap) if code is not None)
    X, Y = split_problem(frame, reader, options)
    short = os.path.basename(source).split(".")[0] or "table"
    return Dataset("table" if source == STREAM else short, "plr", X, Y, codes)


def split_problem(
    frame: pd.DataFrame,
    reader: Reader,
    options: argparse.Namespace,
    labels: Iterable[Any] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and positions of a raw table; `labels` are a model's, where there is one."""
    text = options.ranking_column
    cells = Reader(reader.name, options.unranked, reader.decimal)
    ready = frame.copy()
    wanted: Any
    if text is not None:
        match_columns([text], list(frame.columns), reader.name, "--ranking-column")
        wanted = list(labels) if labels is not None else options.labels
        ready[text] = cells.texts(frame[text])
    else:
        wanted = label_columns(list(frame.columns), options.labels, reader.name, labels)
        for column in wanted:
            values = cells.numbers(frame[column])
            ready[column] = -values if options.ratings else values
    targets = [text] if text is not None else wanted
    for column in [column for column in frame if column not in targets]:
        if reader.kind(frame[column]) == NUMBER:
            ready[column] = reader.numbers(frame[column])
        else:
            ready[column] = pd.Series(reader.texts(frame[column]), dtype=object)
    try:
        return split_table(ready, wanted, text)
    except ValueError as error:
        raise ValueError(f"{reader.name}: {_count_from_one(str(error))}") from None


def label_columns(
    columns: list[str], wanted: list[str] | None, name: str, labels: Iterable[Any] | None = None
) -> list[str]:
    """The label columns that --labels means; without it those of a model's labels."""
    if wanted is None and labels is not None:
        return match_columns(map(str, labels), columns, name, "the model's labels")
    if wanted is None:
        raise ValueError(
            f"{name}: say which columns are labels: --labels 'rank_*' (a pattern), --labels a b c "
            f"(names) or --labels 3 (the last three); columns are {shorten(columns)}"
        )
    if len(wanted) == 1 and wanted[0] not in columns:
        one: Any = int(wanted[0]) if wanted[0].isdecimal() else wanted[0]
        try:
            return find_labels(columns, one)
        except ValueError as error:
            raise ValueError(f"{name}: --labels: {error}") from None
    return match_columns(wanted, columns, name, "--labels")


def match_columns(wanted: Iterable[str], columns: list[str], name: str, option: str) -> list[str]:
    """Columns by names and patterns; what is not there is named, with what comes close.

    Examples
    --------
    >>> match_columns(["b", "a*"], ["a1", "a2", "b"], "t.csv", "--keep")
    ['b', 'a1', 'a2']
    """
    found: dict[str, None] = {}
    absent = []
    for text in wanted:
        matches = [c for c in columns if c == text] or [
            c for c in columns if any(s in text for s in "*?[") and fnmatchcase(str(c), text)
        ]
        if not matches:
            absent.append(text)
        found.update(dict.fromkeys(matches))
    if absent:
        close = difflib.get_close_matches(absent[0], map(str, columns), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"columns are {shorten(columns)}"
        raise ValueError(f"{name} has no column {shorten(absent)} ({option}); {hint}")
    return list(found)


def check_features(data: Dataset, source: str) -> None:
    """Say what looks odd in the features, and refuse texts that would fill the memory."""
    if data.Y.shape[1] < 2:
        raise ValueError(
            f"{source}: {data.Y.columns[0]!r} is the only label; a ranking needs two or more"
        )
    distinct = {}
    for column, values in data.X.items():
        if not pd.api.types.is_numeric_dtype(values.dtype):
            distinct[column] = int(values.nunique())
            _note_text(source, str(column), values, distinct[column])
        elif values.isna().all():
            note(f"{source}: column {column!r} is empty")
    cells = len(data.X) * sum(distinct.values())
    if cells > _MOST_CELLS:
        worst = max(distinct, key=lambda column: distinct[column])
        raise ValueError(
            f"{source}: text column {worst!r} has {distinct[worst]:,} different values, too many "
            f"to learn from; leave it out with --ignore {worst!r}"
        )
    unranked = int(data.Y.notna().sum(axis=1).lt(2).sum())
    if unranked:
        note(f"{source}: {unranked:,} of {len(data.Y):,} rows rank fewer than two labels")


def _note_text(source: str, column: str, values: pd.Series, distinct: int) -> None:
    n = int(values.notna().sum())
    numbers = pd.to_numeric(values, errors="coerce").notna()
    if 2 * int(numbers.sum()) > n:
        odd = values[values.notna() & ~numbers]
        note(
            f"{source}: column {column!r} is taken as text because of {odd.iloc[0]!r} in row "
            f"{odd.index[0] + 1}; --gap {odd.iloc[0]!r} would make that a gap"
        )
    elif n and values.map(has_decimal_comma).sum() > n / 2:
        note(f"{source}: column {column!r} is taken as text; --decimal ',' would make it numbers")
    elif n > 20 and distinct > 0.9 * n:
        note(
            f"{source}: text column {column!r} has {distinct:,} different values in {n:,} rows; "
            f"if it is an identifier, leave it out: --ignore {column!r}"
        )


def note(text: str) -> None:
    """Tell the user something that is no error."""
    print(f"moreplr: note: {text}", file=sys.stderr)


def shorten(names: Iterable[Any], most: int = 12) -> str:
    """Names in a row, the first ones only if there are many.

    Examples
    --------
    >>> shorten(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    texts = [repr(str(name)) for name in names]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def _named_dataset(source: str) -> Dataset | None:
    problem, slash, name = source.rpartition("/")
    problem = problem if slash else "plr"
    if source == STREAM or os.path.exists(source) or problem not in ("plr", "lr"):
        return None
    if name not in list_datasets(problem, openml=True):
        return None
    return replace(load(name, problem), name=source)


def _count_from_one(text: str) -> str:
    return re.sub(r"^row (\d+)", lambda match: f"row {int(match[1]) + 1}", text)
