"""Files that are there as a whole under their name, or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

_OPEN: set[Path] = set()


@contextmanager
def whole_file(path: str | Path, *, lasting: bool = False) -> Iterator[str]:
    """A name to write to; at the end of the block the file gets its final name.

    A file of that name is replaced, and its permissions stay. What is no ordinary file, such as
    /dev/null or a named pipe, is written to as it is. What writers that were killed have left
    of the same file is removed. With `lasting` a power cut does no harm either.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/out.txt") as name:
    ...         _ = Path(name).write_text("all")
    ...         before = os.path.exists(f"{folder}/out.txt")
    ...     before, Path(folder, "out.txt").read_text()
    (False, 'all')
    """
    if os.path.exists(path) and not os.path.isfile(path):
        yield str(path)
        return
    final = Path(os.path.realpath(path))  # a link stays a link
    _remove_leftovers(final)
    # The suffixes stay: they say what is inside.
    partial = final.with_name(f".{secrets.token_hex(4)}.part.{final.name}")
    # Its lock, which ends with this process, says that somebody writes to it.
    mode = stat.S_IMODE(final.stat().st_mode) if final.is_file() else None
    lock = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666 if mode is None else 0o600)
    _OPEN.add(partial)
    try:
        with suppress(OSError):
            _lock(lock)
        yield str(partial)
        if mode is not None:
            os.chmod(partial, mode)
        if lasting:
            _make_lasting(partial)
        os.replace(partial, final)
        if lasting:
            _make_lasting(final.parent)
    finally:
        os.close(lock)
        with suppress(FileNotFoundError):
            partial.unlink()
        _OPEN.discard(partial)


def existing_file(path: str | Path) -> Path:
    """The path of a file that is there; else an error."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return path


def remove_partial() -> None:
    """Remove what this process has not finished writing: it is about to end at once."""
    for partial in list(_OPEN):
        with suppress(OSError):
            partial.unlink()


def _remove_leftovers(final: Path) -> None:
    length = len(".01234567.part.")
    with suppress(OSError):
        for other in final.parent.iterdir():
            name = other.name
            if name[length:] == final.name and name[9:length] == ".part." and name[0] == ".":
                _remove_unlocked(other)


def _remove_unlocked(path: Path) -> None:
    if fcntl is None:
        return
    with suppress(OSError):  # it is written to just now, or is somebody else's
        handle = os.open(path, os.O_RDWR)
        try:
            _lock(handle)
            path.unlink()
        finally:
            os.close(handle)


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _make_lasting(path: Path) -> None:
    """Have it on the disk: a new name must not come there before what it stands for."""
    if os.name == "posix":  # where a folder is a file, too
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
