"""Data sets of rankings: bundled, from OpenML or a folder, from tables of your own."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from moreplr._validation import check_name
from moreplr.datasets import _bundled, _folder, _openml, _paper
from moreplr.datasets._aslib import from_aslib
from moreplr.datasets._dataset import Card, Dataset
from moreplr.datasets._preprocessing import make_preprocessor
from moreplr.datasets._scikit_lr import from_scikit_lr
from moreplr.datasets._table import read_dataset, read_features
from moreplr.rankings._votes import TIES
from moreplr.tables.options import TableOptions
from moreplr.tables.overview import Overview

PROBLEMS = ("plr", "lr", "field")
SOURCES = ("folder", "bundled", "openml")

__all__ = [
    "Card",
    "Dataset",
    "Overview",
    "from_aslib",
    "from_csv",
    "from_scikit_lr",
    "list_datasets",
    "load",
    "make_preprocessor",
    "read_features",
]


def load(name: str, problem: str = "plr", *, source: str | None = None) -> Dataset:
    """Load a data set.

    The folder that the environment variable MOREPLR_DATA names comes first. Where it has none,
    iris, wine and digits are made from scikit-learn's data, and all others of the paper's
    benchmark come from OpenML.

    Parameters
    ----------
    name : str
    problem : {"plr", "lr", "field"}
        Partial label ranking (with ties), or label ranking (without), as the paper has them; or
        rankings from elsewhere, in the sub-folder `field` of that folder.
    source : {"folder", "bundled", "openml"}, optional
        Where to look; by default in this order.

    Examples
    --------
    >>> X, Y = load("wine")
    >>> X.shape, list(Y.columns)
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    check_name("problem", problem, PROBLEMS)
    if source is not None:
        check_name("source", source, SOURCES)
    wanted: tuple[str, ...] = SOURCES if source is None else (source,)
    folder = _folder.data_folder() if "folder" in wanted else None
    if problem == "field":
        if folder is not None and name in _folder.field_manifest(folder).index:
            return _folder.read_field(folder, name)
        wanted = ()
    entry = _paper.entries().get((problem, name))
    codes = () if entry is None else entry.missing_codes
    if folder is not None and (problem, name) in _folder.manifest(folder).index:
        return Dataset(name, problem, *_folder.read(folder, name, problem), codes)
    if "bundled" in wanted and name in _bundled.BUNDLED:
        X, Y = _bundled.make(name, problem)
        return Dataset(name, problem, X.copy(), Y.copy())
    if "openml" in wanted and entry is not None:
        return Dataset(name, problem, *_openml.fetch(entry), codes)
    where = "MOREPLR_DATA names no folder" if folder is None else f"not in {folder}"
    known = list_datasets(problem, openml=True)
    others = [other for other in PROBLEMS if name in list_datasets(other, openml=True)]
    close = get_close_matches(name, known, n=1)
    if others and source is None:
        remedy = f"there is one with problem={others[0]!r}"
    else:
        meant = f"did you mean {close[0]!r}? " if close else ""
        remedy = f"{meant}known are {known}"
    raise ValueError(f"no {problem} data set {name!r} ({where}); {remedy}")


def list_datasets(problem: str = "plr", *, openml: bool = False) -> list[str]:
    """Names that :func:`load` knows for a problem, offline or with those of OpenML.

    Examples
    --------
    >>> set(list_datasets()) >= {"digits", "iris", "wine"}
    True
    >>> "letter" in list_datasets("lr", openml=True)
    True
    """
    folder = _folder.data_folder()
    if problem == "field":
        return [] if folder is None else list(_folder.field_manifest(folder).index)
    names = set(_bundled.BUNDLED)
    if folder is not None:
        names |= {name for kind, name in _folder.manifest(folder).index if kind == problem}
    if openml:
        names |= {name for kind, name in _paper.entries() if kind == problem}
    return sorted(names)


def from_csv(
    path: Any,
    labels: Any = None,
    *,
    text: Any = None,
    long: Sequence[Any] | None = None,
    votes: Sequence[Any] | None = None,
    choices: Sequence[Any] | None = None,
    tried: Sequence[Any] = (),
    ratings: bool = False,
    scores: str | None = None,
    tolerance: float | str = 0.0,
    missing: str = "unranked",
    unranked: Sequence[Any] = (),
    last: Sequence[Any] = (),
    ties: Sequence[Any] = TIES,
    skip: Sequence[Any] = (),
    drop_prefix: str = "",
    weight: Any = None,
    group: Any = None,
    ignore: Sequence[Any] = (),
    gaps: Sequence[Any] = (),
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    sheet: str | None = None,
    format: str | None = None,
    name: str | None = None,
    problem: str = "plr",
) -> Dataset:
    """A data set from a table: a file or a pandas or polars frame.

    Columns that are neither rankings nor ignored are features. The command line has the same
    options. Messages count rows from 1, the first below the header. Likely
    mistakes, such as ratings that are read as positions, give a warning;
    :meth:`Dataset.overview` describes what was read.

    Parameters
    ----------
    path : str, path or frame
        CSV, TSV (plain or compressed), Parquet, Excel (.xlsx), JSON (a list of rows) or JSON
        lines; a file of PrefLib (.soc, .soi, .toc, .toi) or the folder of an ASlib scenario.
    labels : list of names, str, or int
        The label columns: their names, a pattern such as ``"rank_*"`` or a prefix, or the
        number of last columns. They hold positions, unless `ratings` or `scores` is
        given; empty is not ranked. With `text`, `long`, `votes` or `choices`, the labels' names.
    text : str, optional
        The column that holds the rankings as texts such as ``"b > a ~ c"``.
    long : three names, optional
        The table has a line for each row and label; these are the columns of the row, the label
        and the position, see :func:`moreplr.rankings.from_long`.
    votes : three names, optional
        The columns of two labels and of the winner, see :func:`moreplr.rankings.from_votes`.
    choices : one or two names, optional
        The columns of the best and of the worst of those `tried`, see
        :func:`moreplr.rankings.from_choices`.
    tried : list of names or patterns
        The columns of what was tried, with `choices`.
    ratings : bool, default=False
        Label columns hold ratings: larger is better.
    scores : {"smaller", "larger"}, optional
        Label columns hold scores, and which are better; infinitely bad is last.
    tolerance : float or str, default=0
        How close scores tie, such as ``0.5`` or ``"1%"``, see
        :func:`moreplr.rankings.from_scores`.
    missing : {"unranked", "last"}
        Whether nothing is known of a label without a score, or it comes last.
    unranked : list
        Cells of label columns that mean not ranked, beside empty ones, such as ``[0]``.
    last : list
        Cells of scores that mean the last place, such as ``["timeout"]``.
    ties, skip : lists
        Winners of votes that mean a tie, and those of votes to leave out.
    drop_prefix : str
        What the labels' names lose at their beginning, such as ``"rank_"``.
    weight : str, optional
        The column of weights: `sample_weight` of the data set.
    group : str, optional
        The column of what rows belong to, such as a user: `groups` of the data set.
        Cross-validation does not split groups.
    ignore : list of names or patterns
        Columns to leave out, such as identifiers. Columns without a name are left out too.
    gaps : list
        Cells of the features that mean no value, beside empty ones, NA, null and the like.
        Numbers among them, such as 977, are gaps for the data set's preprocessor as well.
    separator, decimal, encoding : str
        Of CSV: between cells (by default a comma, or a tab in .tsv), between whole and fraction,
        and such as ``"cp1252"``.
    sheet : str, optional
        Of a workbook of Excel: its name, by default the first.
    format : {"csv", "tsv", "parquet", "excel", "json", "jsonl"}, optional
        By default that of the file's ending.
    name : str, optional
        By default the file's name.
    problem : {"plr", "lr"}

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 50], "ranking": ["tea > milk", "milk ~ tea"]})
    >>> X, Y = from_csv(frame, text="ranking")
    >>> Y.to_dict("list")
    {'milk': [2.0, 1.0], 'tea': [1.0, 1.0]}
    >>> stars = pd.DataFrame({"age": [30, 50], "star_tea": [5, 2], "star_milk": [3, 0]})
    >>> X, Y = from_csv(stars, "star_*", ratings=True, unranked=[0], drop_prefix="star_")
    >>> Y.to_dict("list")
    {'tea': [1.0, 1.0], 'milk': [2.0, nan]}
    """
    given = dict(locals())
    check_name("problem", problem, PROBLEMS)
    options = TableOptions(**{option.name: given[option.name] for option in fields(TableOptions)})
    data = read_dataset(path, options, name, problem)
    for note in data.notes:
        warnings.warn(f"{data.name}: {note}", UserWarning, stacklevel=2)
    return data
