"""Data sets of rankings by name: bundled ones, and the field's benchmark from a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from moreplr.datasets import _bundled, _folder

PROBLEMS = ("plr", "lr")

__all__ = ["Dataset", "list_datasets", "load"]


@dataclass(frozen=True)
class Dataset:
    """Features X and positions Y of a ranking problem; unpacks as ``X, Y = load(...)``."""

    name: str
    problem: str
    X: pd.DataFrame
    Y: pd.DataFrame

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter((self.X, self.Y))


def load(name: str, problem: str = "plr") -> Dataset:
    """Load a data set.

    The folder that the environment variable MOREPLR_DATA names comes first; iris, wine and
    digits are made from scikit-learn's data where it has none.

    Parameters
    ----------
    name : str
    problem : {"plr", "lr"}
        Partial label ranking (with ties), or label ranking (without).

    Examples
    --------
    >>> X, Y = load("wine")
    >>> X.shape, list(Y.columns)
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    if problem not in PROBLEMS:
        raise ValueError(f"problem must be one of {PROBLEMS}, got {problem!r}")
    folder = _folder.data_folder()
    if folder is not None and (problem, name) in _folder.manifest(folder).index:
        return Dataset(name, problem, *_folder.read(folder, name, problem))
    if name in _bundled.BUNDLED:
        X, Y = _bundled.make(name, problem)
        return Dataset(name, problem, X.copy(), Y.copy())
    where = "set MOREPLR_DATA to a folder of benchmark data" if folder is None else str(folder)
    raise ValueError(
        f"no {problem} data set {name!r} ({where}); known are {list_datasets(problem)}"
    )


def list_datasets(problem: str = "plr") -> list[str]:
    """Names that :func:`load` knows for a problem.

    Examples
    --------
    >>> set(list_datasets()) >= {"digits", "iris", "wine"}
    True
    """
    names = set(_bundled.BUNDLED)
    folder = _folder.data_folder()
    if folder is not None:
        names |= {name for kind, name in _folder.manifest(folder).index if kind == problem}
    return sorted(names)
