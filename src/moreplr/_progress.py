"""Progress of long work, on standard error: a bar on a terminal, a line a minute elsewhere.

Work that takes less than two seconds shows nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Self

PATIENCE = 2.0
LINE_EVERY = 60.0


class Progress:
    """Shows how many steps are done, and of how many if there is a `total`.

    Examples
    --------
    >>> with Progress("predicting", unit="rows") as progress:
    ...     progress.advance(100)
    """

    def __init__(
        self, title: str, total: int | None = None, unit: str = "", *, shown: bool = True
    ) -> None:
        self._title, self._total, self._unit, self._shown = title, total, unit, shown
        self._note = ""
        self._done = 0
        self._bar: Any = None
        self._lock = threading.Lock()
        self._closed = False
        self._begun = time.monotonic()
        self._next_line = self._begun + LINE_EVERY
        self._terminal = sys.stderr.isatty()
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._terminal and self._shown:
            self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()

    def advance(self, steps: int = 1, title: str | None = None, note: str = "") -> None:
        """Count finished steps; show the next one's title, and a note such as the time left."""
        self._done += steps
        self._title, self._note = title or self._title, note
        with self._lock:
            if self._bar is not None:
                self._bar.update(
                    self._task, completed=self._done, description=self._title, note=note
                )
        if self._shown and not self._terminal and time.monotonic() > self._next_line:
            self._next_line = time.monotonic() + LINE_EVERY
            of = "" if self._total is None else f" of {self._total:,}"
            line = f"{self._title}: {self._done:,}{of} {self._unit}" + f", {note}" * bool(note)
            print(f"moreplr: {line}", file=sys.stderr, flush=True)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        count = "{task.completed:,}" + ("" if self._total is None else "/{task.total:,}")
        columns: list[Any] = [TextColumn("{task.description}"), BarColumn()]
        if self._unit:
            columns.append(TextColumn(f"{count} {self._unit}"))
        columns.append(TimeElapsedColumn())
        if self._total is not None:
            columns.append(
                TextColumn("{task.fields[note]}") if self._note else TimeRemainingColumn()
            )
        with self._lock:
            if self._closed:
                return
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(
                self._title, total=self._total, completed=self._done, note=self._note
            )
            self._bar.tasks[0].start_time = self._begun  # instead of when it is first shown
            self._bar.start()
