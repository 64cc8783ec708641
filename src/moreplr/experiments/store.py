"""Results in one SQLite file: a unit is written completely or not at all.

The file has a rollback journal, which also works on network drives. After a kill at any moment,
finished units are intact and the interrupted one is absent. The primary key keeps a result from
being counted twice. Several processes may run one plan into a file, see
:mod:`moreplr.experiments.claims`.
"""

from __future__ import annotations

import json
import platform
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import fields
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Self

import pandas as pd

from moreplr.experiments.store_checks import check_identities, check_results
from moreplr.experiments.units import Key, Result

_SCHEMA = """
CREATE TABLE IF NOT EXISTS environments (id INTEGER PRIMARY KEY, versions TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS identities (
    kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, name)
);
CREATE TABLE IF NOT EXISTS results (
    problem TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, missing REAL NOT NULL,
    protocol TEXT NOT NULL, repetition INTEGER NOT NULL, fold INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'error', 'timeout')),
    tau_x REAL, buckets REAL, fit_seconds REAL, predict_seconds REAL,
    n_train INTEGER, n_test INTEGER, message TEXT NOT NULL, seed INTEGER NOT NULL,
    environment INTEGER NOT NULL REFERENCES environments (id),
    finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    top_one REAL, log_loss REAL, calibration_error REAL, regret REAL, par10 REAL, closed_gap REAL,
    PRIMARY KEY (problem, dataset, method, missing, protocol, repetition, fold)
);
"""
_SHARED = """
CREATE TABLE IF NOT EXISTS runners (
    id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, beat INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (
    problem TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, missing REAL NOT NULL,
    protocol TEXT NOT NULL, repetition INTEGER NOT NULL, fold INTEGER NOT NULL,
    runner TEXT NOT NULL,
    PRIMARY KEY (problem, dataset, method, missing, protocol, repetition, fold)
);
"""
_FIELDS = tuple(field.name for field in fields(Result) if field.name != "key")
_COLUMNS = ", ".join([*Key._fields, *_FIELDS, "seed"])
_REPLACE_FAILED = f"""
ON CONFLICT DO UPDATE SET
{", ".join(f"{name} = excluded.{name}" for name in (*_FIELDS, "seed", "environment", "finished"))}
WHERE results.status != 'ok'
"""
_INSERT = f"""
INSERT INTO results ({_COLUMNS}, environment)
VALUES ({", ".join("?" * (len(Key._fields) + len(_FIELDS) + 2))})
{_REPLACE_FAILED}
"""
_RELEASE = f"DELETE FROM claims WHERE {' AND '.join(f'{name} = ?' for name in Key._fields)}"
_CONFLICTS = """
SELECT kind, name, theirs.value, ours.value
FROM other.identities AS theirs JOIN main.identities AS ours USING (kind, name)
WHERE theirs.value != ours.value
"""
_MERGE = (
    "INSERT OR IGNORE INTO main.identities SELECT * FROM other.identities",
    "INSERT OR IGNORE INTO main.environments (versions) SELECT versions FROM other.environments",
    f"""
    INSERT INTO main.results ({_COLUMNS}, finished, environment)
    SELECT {_COLUMNS}, finished, ours.id FROM other.results AS results
    JOIN other.environments AS theirs ON theirs.id = results.environment
    JOIN main.environments AS ours ON ours.versions = theirs.versions
    WHERE true
    {_REPLACE_FAILED}
    """,
)
Stores = str | Path | Iterable[str | Path]
_PACKAGES = ("moreplr", "scikit-learn", "numpy", "scipy", "pandas", "numba")


class Store:
    """A file of results; use it in a ``with`` statement.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder) / "results.sqlite") as store:
    ...         key = Key("plr", "iris", "RPC", 0.0, "complete", 0, 0)
    ...         _ = store.write([Result(key, "ok", 0.9)])
    ...         store.frame()["tau_x"].to_list()
    [0.9]
    """

    def __init__(self, path: str | Path, *, must_exist: bool = False) -> None:
        self.path = Path(path)
        if must_exist and not self.path.is_file():
            raise FileNotFoundError(f"there is no store {self.path}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(self.path, timeout=60)
        except (OSError, sqlite3.Error) as error:
            raise ValueError(f"{self.path} can't be opened: {error}") from error
        try:
            # Views and triggers of a file must not call functions with side effects.
            self.connection.execute("PRAGMA trusted_schema = OFF")
            _check_tables(self.connection, may_be_empty=not must_exist)
            if not must_exist:  # else the file is only read
                self.connection.executescript(_SCHEMA + _SHARED)
        except (sqlite3.DatabaseError, ValueError) as error:
            self.connection.close()
            raise ValueError(f"{self.path} is not a store of results: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def identify(self, kind: str, values: Mapping[str, str]) -> None:
        """Note what names stand for; refuse a name that stood for something else before."""
        query = "SELECT name, value FROM identities WHERE kind = ?"
        with self._readable():
            known = dict(self.connection.execute(query, (kind,)))
        for name, value in values.items():
            if known.get(name, value) != value:
                raise ValueError(
                    f"{kind} {name!r} is not the one whose results are in {self.path}: "
                    f"there {known[name]}, now {value}; use another store"
                )
        with self.connection as connection:
            rows = [(kind, name, value) for name, value in values.items()]
            connection.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", rows)

    def identities(self) -> pd.DataFrame:
        """A frame of what names stand for: kind, name and value."""
        query = "SELECT kind, name, value FROM identities ORDER BY kind, name"
        with self._readable():
            return check_identities(pd.read_sql_query(query, self.connection), self.path)

    def write(self, results: Iterable[Result], seed: int = 0) -> list[Result]:
        """Write the results of a unit in one transaction; finished ones are never replaced.

        Returns those that were written. Claims on them end.
        """
        written = []
        with self.connection as connection:
            environment = self._environment(connection)
            for r in results:
                values = (getattr(r, name) for name in _FIELDS)
                if connection.execute(_INSERT, (*r.key, *values, seed, environment)).rowcount:
                    written.append(r)
                connection.execute(_RELEASE, r.key)
        return written

    def merge(self, path: str | Path) -> None:
        """Add the results of another store; finished ones are never replaced.

        Stores in which a name stands for different things are refused.
        """
        with Store(path, must_exist=True) as other:  # raises an error if it can't be read
            other.frame()
            other.identities()
        self.connection.execute("ATTACH ? AS other", (str(path),))
        try:
            conflicts = self.connection.execute(_CONFLICTS).fetchall()
            if conflicts:
                kind, name, there, here = conflicts[0]
                raise ValueError(
                    f"{kind} {name!r} is not the same in {path} as before: "
                    f"there {there}, before {here}"
                )
            with self.connection as connection:
                for statement in _MERGE:
                    connection.execute(statement)
        finally:
            self.connection.execute("DETACH other")

    def fill(self, **tables: pd.DataFrame) -> None:
        """Put whole tables into a store that is empty, in one transaction."""
        with self.connection as connection:
            for name, table in tables.items():
                described = connection.execute(f"PRAGMA table_info({name})")
                columns = [column for _, column, *_ in described]
                places = ", ".join("?" * len(columns))
                rows = table[columns].astype(object).to_numpy().tolist()
                connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
            if connection.execute("PRAGMA foreign_key_check").fetchone():
                raise ValueError("some results name an environment that is not there")

    def done(self, *, failed: bool = True) -> set[Key]:
        """Keys that have a result, with or without those that failed."""
        condition = "" if failed else "WHERE status = 'ok'"
        query = f"SELECT {', '.join(Key._fields)} FROM results {condition}"
        with self._readable():
            return {Key(*row) for row in self.connection.execute(query)}

    def failed(self) -> dict[Key, str]:
        """Keys of results that failed, and when these were written."""
        query = f"SELECT {', '.join(Key._fields)}, finished FROM results WHERE status != 'ok'"
        with self._readable():
            return {Key(*row[:-1]): row[-1] for row in self.connection.execute(query)}

    def frame(self) -> pd.DataFrame:
        """All results, in the order of their keys."""
        query = (
            "SELECT results.*, environments.versions FROM results "
            "JOIN environments ON environments.id = results.environment "
            f"ORDER BY {', '.join(Key._fields)}"
        )
        with self._readable():
            frame = pd.read_sql_query(query, self.connection).drop(columns="environment")
        return check_results(frame, self.path)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn errors of a damaged file, which opening it does not find, into a message."""
        try:
            yield
        except (sqlite3.DatabaseError, pd.errors.DatabaseError) as error:
            raise ValueError(f"{self.path} can't be read: {error}") from error

    def _environment(self, connection: sqlite3.Connection) -> int:
        text = json.dumps(versions(), sort_keys=True)
        connection.execute("INSERT OR IGNORE INTO environments (versions) VALUES (?)", (text,))
        query = "SELECT id FROM environments WHERE versions = ?"
        return int(connection.execute(query, (text,)).fetchone()[0])


def _check_tables(connection: sqlite3.Connection, *, may_be_empty: bool) -> None:
    """Refuse a file with tables of another program; nothing is written to it."""
    found = _tables(connection)
    if may_be_empty and not found:
        return
    with closing(sqlite3.connect(":memory:")) as own:
        own.executescript(_SCHEMA)
        needed = _tables(own)
        own.executescript(_SHARED)
        known = _tables(own)
    for table, columns in known.items():
        if (table in needed or table in found) and not columns <= found.get(table, set()):
            raise ValueError(f"it has no table of {table} with the columns that a run writes")


def _tables(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The columns of each table; views and indexes have none."""
    kinds = connection.execute("SELECT name, type FROM sqlite_master").fetchall()
    query = "SELECT name FROM pragma_table_info(?)"
    return {
        name: {column for (column,) in connection.execute(query, (name,)) if kind == "table"}
        for name, kind in kinds
    }


@lru_cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    found = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), **found}


def paths_of(store: Stores) -> list[Path]:
    """The path of a store, or of several, as a list."""
    return [Path(path) for path in ([store] if isinstance(store, str | Path) else store)]
