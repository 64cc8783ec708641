"""Data sets of rankings: bundled, from OpenML or a folder, from tables of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moreplr.datasets import _bundled, _folder, _openml, _paper
from moreplr.datasets._dataset import Card, Dataset
from moreplr.datasets._preprocessing import make_preprocessor
from moreplr.datasets._table import read_table, split_table

PROBLEMS = ("plr", "lr")
SOURCES = ("folder", "bundled", "openml")

__all__ = ["Card", "Dataset", "from_csv", "list_datasets", "load", "make_preprocessor"]


def load(name: str, problem: str = "plr", *, source: str | None = None) -> Dataset:
    """Load a data set.

    The folder that the environment variable MOREPLR_DATA names comes first. Where it has none,
    iris, wine and digits are made from scikit-learn's data, and all others of the paper's
    benchmark come from OpenML.

    Parameters
    ----------
    name : str
    problem : {"plr", "lr"}
        Partial label ranking (with ties), or label ranking (without).
    source : {"folder", "bundled", "openml"}, optional
        Where to look; by default in this order.

    Examples
    --------
    >>> X, Y = load("wine")
    >>> X.shape, list(Y.columns)
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    if problem not in PROBLEMS:
        raise ValueError(f"problem must be one of {PROBLEMS}, got {problem!r}")
    if source is not None and source not in SOURCES:
        raise ValueError(f"source must be one of {SOURCES}, got {source!r}")
    wanted = SOURCES if source is None else (source,)
    folder = _folder.data_folder() if "folder" in wanted else None
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
    raise ValueError(f"no {problem} data set {name!r} ({where}); known are {known}")


def list_datasets(problem: str = "plr", *, openml: bool = False) -> list[str]:
    """Names that :func:`load` knows for a problem, offline or with those of OpenML.

    Examples
    --------
    >>> set(list_datasets()) >= {"digits", "iris", "wine"}
    True
    >>> "letter" in list_datasets("lr", openml=True)
    True
    """
    names = set(_bundled.BUNDLED)
    folder = _folder.data_folder()
    if folder is not None:
        names |= {name for kind, name in _folder.manifest(folder).index if kind == problem}
    if openml:
        names |= {name for kind, name in _paper.entries() if kind == problem}
    return sorted(names)


def from_csv(
    path: Any,
    labels: Any = None,
    *,
    text: str | None = None,
    name: str | None = None,
    problem: str = "plr",
    missing_codes: tuple[float, ...] = (),
) -> Dataset:
    """A data set from a table: a CSV or Parquet file, or a pandas or polars frame.

    Parameters
    ----------
    path : str, path or frame
    labels : list of names, str, or int
        The label columns: their names, a pattern such as ``"rank_*"`` or a prefix, or the
        number of last columns. They hold positions; empty is not ranked. All other columns are
        features.
    text : str, optional
        The column that holds the rankings as texts such as ``"b > a ~ c"``, instead of label
        columns; `labels` may then list the labels' names.
    name : str, optional
        By default the file's name.
    problem : {"plr", "lr"}
    missing_codes : tuple of numbers
        Values that stand for a gap in numeric features.

    Examples
    --------
    >>> import io, pandas as pd
    >>> frame = pd.read_csv(io.StringIO("age,ranking\\n30,tea > milk\\n50,milk ~ tea"))
    >>> X, Y = from_csv(frame, text="ranking")
    >>> Y.to_dict("list")
    {'milk': [2.0, 1.0], 'tea': [1.0, 1.0]}
    """
    if problem not in PROBLEMS:
        raise ValueError(f"problem must be one of {PROBLEMS}, got {problem!r}")
    is_file = isinstance(path, (str, Path))
    frame = read_table(path) if is_file else path
    if name is None:
        name = Path(path).name.split(".")[0] if is_file else "data"
    return Dataset(name, problem, *split_table(frame, labels, text), tuple(missing_codes))
