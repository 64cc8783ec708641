"""Several processes share the work of a plan; the store notes which of them runs what.

A process claims a unit before it runs it, and writing the unit's results ends the claim. Claims
of a process that was killed are taken over. On the same machine a kill is noticed at once, on
another one by a count of heartbeats that stands still. How long it stands still is measured by a
monotonic clock, so that a wrong time does no harm. If a live process is taken for dead, a unit
runs twice and counts once.
"""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Self

from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Unit

BEAT = 10.0
"""Seconds between two heartbeats."""
PATIENCE = 60.0
"""Seconds without one after which a process on another machine is taken for dead."""
_POLL = 0.5
_PLACE = " AND ".join(f"{name} = ?" for name in Key._fields)
_RUNNERS = "SELECT id, host, pid, beat FROM runners"
_BEAT = """
INSERT INTO runners (id, host, pid, beat) VALUES (?, ?, ?, 0)
ON CONFLICT DO UPDATE SET beat = beat + 1
"""


class Claims:
    """The part of a plan that this process has taken; use it in a ``with`` statement.

    Parameters
    ----------
    store : the file that all processes share
    retry : whether to run again what failed before this process began
    """

    def __init__(self, store: Store, *, retry: bool = False) -> None:
        self._store, self._connection = store, store.connection
        self._again = store.failed() if retry else {}
        self._me = secrets.token_hex(8), socket.gethostname(), os.getpid()
        self._seen: dict[str, tuple[int, float]] = {}
        self._end = threading.Event()
        self._heart = threading.Thread(target=self._beat_on, daemon=True)

    def __enter__(self) -> Self:
        with self._connection as connection:
            connection.execute(_BEAT, self._me)
        self._heart.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._heart.join()
        with suppress(sqlite3.Error), self._connection as connection:  # a full disk, for example
            self._forget(connection, self._me[0])

    def take_all(
        self, units: Iterable[Unit], held: list[Unit], done: Callable[[Unit], None]
    ) -> Iterator[Unit]:
        """Claim units one by one; `held` collects those of others, `done` gets those finished."""
        for unit in units:
            mine, others = self.take(unit)
            if others is not None:
                held.append(others)
            if mine is not None:
                yield mine
            elif others is None:
                done(unit)

    def take(self, unit: Unit) -> tuple[Unit | None, Unit | None]:
        """The part of a unit that this process has claimed, and the part that others hold."""
        mine, others = [], []
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            living = self._living(connection)
            for method in unit.methods:
                wanted = [key for key in unit.keys(method) if not self._is_done(connection, key)]
                if not wanted:
                    continue
                holders = {self._holder(connection, key) for key in wanted}
                if holders & living:
                    others.append(method)
                    continue
                mine.append(method)
                for key in wanted:
                    connection.execute(
                        f"REPLACE INTO claims VALUES ({', '.join('?' * len(key))}, ?)",
                        (*key, self._me[0]),
                    )
        return (
            replace(unit, methods=tuple(mine)) if mine else None,
            replace(unit, methods=tuple(others)) if others else None,
        )

    def wait(self) -> None:
        """Wait for the other processes."""
        time.sleep(_POLL)

    def _is_done(self, connection: sqlite3.Connection, key: Key) -> bool:
        query = f"SELECT finished FROM results WHERE {_PLACE}"
        found = connection.execute(query, key).fetchone()
        return found is not None and self._again.get(key) != found[0]

    def _holder(self, connection: sqlite3.Connection, key: Key) -> str | None:
        found = connection.execute(f"SELECT runner FROM claims WHERE {_PLACE}", key).fetchone()
        return found[0] if found else None

    def _living(self, connection: sqlite3.Connection) -> set[str]:
        """The other processes at work; claims of dead ones are released."""
        living = set()
        for runner, host, pid, beat in connection.execute(_RUNNERS).fetchall():
            if runner == self._me[0]:
                continue
            now = time.monotonic()
            before, since = self._seen.get(runner, (None, now))
            if before != beat:
                self._seen[runner], since = (beat, now), now
            gone = host == self._me[1] and not _is_running(pid)
            if gone or now - since > PATIENCE:
                self._forget(connection, runner)
            else:
                living.add(runner)
        return living

    def _forget(self, connection: sqlite3.Connection, runner: str) -> None:
        connection.execute("DELETE FROM claims WHERE runner = ?", (runner,))
        connection.execute("DELETE FROM runners WHERE id = ?", (runner,))

    def _beat_on(self) -> None:
        while not self._end.wait(BEAT):
            with (
                suppress(sqlite3.Error),  # the next beat may work
                closing(sqlite3.connect(self._store.path, timeout=BEAT)) as own,
                own,
            ):
                own.execute(_BEAT, self._me)


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # elsewhere this would send a signal; heartbeats suffice
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError, TypeError):  # another user's process, or not a valid number
        return True
    return True
