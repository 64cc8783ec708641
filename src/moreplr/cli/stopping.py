"""Ctrl-C and SIGTERM end a command within two seconds, and leave no half-written file."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from moreplr._files import remove_partial

# Python handles signals only between its own steps, and compiled code may take long.
_PATIENCE = 1.5
_SIGNALS = {signal.SIGINT: 1, signal.SIGTERM: 128 + signal.SIGTERM}


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does, but for the exit code."""


@contextmanager
def stoppable_command() -> Iterator[None]:
    """In this block a signal raises an exception; if that does not end the command, it is killed.

    This does nothing outside of the main thread, which alone gets signals.
    """
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    read, write = os.pipe()
    os.set_blocking(write, False)
    former = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    ended = threading.Event()
    threading.Thread(target=_watch, args=(read, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(former)
        signal.signal(signal.SIGTERM, before)
        os.close(write)


def exit_code(stop: KeyboardInterrupt) -> int:
    """The exit code of the process after an interrupt."""
    return _SIGNALS[signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT]


def _terminate(*_: Any) -> NoReturn:
    raise Terminated


def _watch(read: int, ended: threading.Event) -> None:
    """Wait for a signal, then for the command to end; end the process if it does not."""
    while code := os.read(read, 1):
        if code[0] in _SIGNALS and not ended.wait(_PATIENCE):
            remove_partial()
            os.write(2, b"moreplr: stopped\n")
            os._exit(_SIGNALS[signal.Signals(code[0])])
    os.close(read)
