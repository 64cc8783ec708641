"""From a table and options to a data set, with notes about what looks odd."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from moreplr._progress import Progress
from moreplr.cli.declaring import Options
from moreplr.cli.options import as_options, read_options
from moreplr.datasets import PROBLEMS, Dataset, list_datasets, load
from moreplr.datasets._aslib import RUNS
from moreplr.datasets._table import make_dataset, read_dataset
from moreplr.rankings._frames import find_columns
from moreplr.rankings._preflib import SUFFIXES
from moreplr.tables.cells import Reader
from moreplr.tables.formats import STREAM
from moreplr.tables.reading import Table, open_table


def load_problem(source: str, options: Options) -> Dataset:
    """A table with labels from a file or standard input, or a data set by its name.

    A name such as ``iris``, ``lr/iris`` or ``field/aslib_qbf-2011`` is a data set, unless there is
    a file of this name.
    """
    named = _named_dataset(source)
    if named is not None:
        return named
    if source != STREAM and not os.path.exists(source):
        raise FileNotFoundError(_no_such(source))
    read = read_options(options)
    if Path(source).suffix.lower() in SUFFIXES or (Path(source) / RUNS).is_file():
        return read_dataset(source, read, None, "plr")
    with (
        open_source(source, options) as table,
        Progress(f"reading {table.name}", unit="rows") as progress,
    ):
        frame = table.read(progress.advance)
    short = "table" if source == STREAM else os.path.basename(source).split(".")[0] or "table"
    return make_dataset(frame, short, read, "plr", title=table.name, keep_types=False)


def open_source(source: str, options: Options) -> AbstractContextManager[Table]:
    """Open a table in chunks, as the options say."""
    return open_table(
        source,
        kind=options.format,
        separator=options.separator,
        encoding=options.encoding,
        sheet=options.sheet,
    )


def cell_reader(table: Table, options: Options, row: int = 1) -> Reader:
    """What reads the cells of a table, whose next row has this number."""
    return Reader(table.name, options.gaps, options.decimal, row)


def match_columns(wanted: Iterable[str], columns: list[str], name: str, option: str) -> list[str]:
    """Columns by names and patterns; an error names what is not there, and similar names.

    Examples
    --------
    >>> match_columns(["b", "a*"], ["a1", "a2", "b"], "t.csv", "--keep")
    ['b', 'a1', 'a2']
    """
    try:
        return find_columns(columns, wanted, option)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def load_to_learn(source: str, options: Options, *, notes_only: bool = False) -> Dataset:
    """Load data from which a ranker can learn, and show how they were understood."""
    data = load_problem(source, options)
    check_features(data)
    say_what_was_read(data, notes_only=notes_only)
    return data


def check_features(data: Dataset) -> None:
    """Refuse data with a single label or without features, from which nothing is learned."""
    if data.Y.shape[1] < 2:
        raise ValueError(
            f"{data.name}: {data.Y.columns[0]!r} is the only label; a ranking needs two or more"
        )
    if data.X.shape[1] == 0:
        raise ValueError(
            f"{data.name} holds rankings without features, from which nothing can be predicted; "
            "`moreplr datasets card` shows their consensus"
        )


def say_what_was_read(data: Dataset, *, notes_only: bool = False) -> None:
    """Show on standard error how a table was understood."""
    overview = data.overview()
    if not notes_only:
        print(replace(overview, notes=()), file=sys.stderr)
    for text in overview.notes:
        note(f"{data.name}: {text}")
    few = int(data.Y.notna().sum(axis=1).lt(2).sum())
    if few:
        note(f"{data.name}: {few:,} of {len(data.Y):,} rows rank fewer than two labels")


def note(text: str) -> None:
    """Show the user a note, which is no error."""
    print(f"moreplr: note: {as_options(text)}", file=sys.stderr)


def _named_dataset(source: str) -> Dataset | None:
    problem, slash, name = source.rpartition("/")
    problem = problem if slash else "plr"
    if source == STREAM or os.path.exists(source) or problem not in PROBLEMS:
        return None
    if name not in list_datasets(problem, openml=True):
        return None
    return replace(load(name, problem), name=source)


def _no_such(source: str) -> str:
    """The message for a source that is neither a file nor a data set."""
    names = {
        name: name if problem == "plr" else f"{problem}/{name}"
        for problem in reversed(PROBLEMS)
        for name in list_datasets(problem, openml=True)
    }
    close = get_close_matches(source.rpartition("/")[2], names, n=1)
    hint = f"; did you mean the data set {names[close[0]]!r}?" if close else ""
    return f"there is no file {source}{hint}"
