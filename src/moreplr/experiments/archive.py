"""A store as CSV files in the folder of a report, and back.

Many results come from few versions of packages, so that results name these by number.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from moreplr._files import whole_file
from moreplr.experiments.store import Store, Stores, paths_of
from moreplr.experiments.units import MEASURED, MEASURES

RESULTS, ENVIRONMENTS, IDENTITIES = "results.csv", "environments.csv", "identities.csv"
# Names such as "NA" and "1" are texts.
_TEXTS = ("problem", "dataset", "method", "protocol", "status", "message", "finished")
_TYPES = {
    **dict.fromkeys(("missing", *MEASURED), float),
    **dict.fromkeys(("repetition", "fold", "seed", "environment"), int),
    **dict.fromkeys((*_TEXTS, "versions", "kind", "name", "value"), str),
}


def to_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table with six digits; a compressed file stays compressed."""
    packed = path.with_name(f"{path.name}.gz")
    compression = {"method": "gzip", "mtime": 0} if packed.is_file() else None
    with whole_file(packed if packed.is_file() else path) as name:
        table.to_csv(name, index=False, float_format="%.6g", compression=compression)


def write(folder: Path, results: pd.DataFrame, identities: pd.DataFrame) -> None:
    """Write the results of every fold, the versions of packages, and what names stand for."""
    numbers, versions = pd.factorize(results["versions"])
    environments = pd.DataFrame({"environment": range(len(versions)), "versions": versions})
    to_csv(environments, folder / ENVIRONMENTS)
    to_csv(identities, folder / IDENTITIES)
    to_csv(results.drop(columns="versions").assign(environment=numbers), folder / RESULTS)


@contextmanager
def opened(store: Stores) -> Iterator[Store]:
    """An existing store, or one in memory with the results of several.

    The folder of a report is read as the store that it was made from.
    """
    paths = paths_of(store)
    with TemporaryDirectory() as temporary:
        for number, path in enumerate(paths):
            if path.is_dir():
                paths[number] = Path(temporary, f"{number}.sqlite")
                _unpack(path, paths[number])
        if len(paths) == 1:
            with Store(paths[0], must_exist=True) as single:
                yield single
            return
        with Store(":memory:") as whole:
            for path in paths:
                whole.merge(path)
            yield whole


def results(store: Stores) -> pd.DataFrame:
    """The results in a store, one row for each method and fold.

    Parameters
    ----------
    store : path of the SQLite file, or of the folder of a report
        Or several of these that hold parts of an experiment. If the same result is in more
        than one, the first that did not fail counts.

    Returns
    -------
    frame with the columns problem, dataset, method, missing, protocol, repetition, fold,
        status ("ok", "error" or "timeout"), tau_x, buckets, fit_seconds, predict_seconds,
        n_train, n_test, message, seed, finished, top_one, log_loss, calibration_error,
        regret, par10, closed_gap and versions
    """
    with opened(store) as results:
        return results.frame()


def _unpack(folder: Path, path: Path) -> None:
    with Store(path) as store:
        try:
            results = _read(folder, RESULTS)
            # Folders that were written before something was measured lack it.
            lacking = dict.fromkeys(set(MEASURES) - set(results), float("nan"))
            store.fill(
                environments=_read(folder, ENVIRONMENTS).rename(columns={"environment": "id"}),
                identities=_read(folder, IDENTITIES),
                results=results.assign(**lacking),
            )
        except (KeyError, ValueError, OSError, EOFError, sqlite3.Error) as error:
            raise ValueError(f"{folder} is not a folder of results: {error}") from error


def _read(folder: Path, name: str) -> pd.DataFrame:
    """A table, compressed or not."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if len(found) != 1:
        problem = "there is no" if not found else "there is more than one"
        raise ValueError(f"{problem} {name} or {name}.gz")
    no_numbers = dict.fromkeys(MEASURED, "")
    return pd.read_csv(found[0], dtype=_TYPES, keep_default_na=False, na_values=no_numbers)
