"""Write files completely or not at all."""

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
    """A temporary name to write to; at the end of the block the file gets its final name.

    An existing file is replaced and keeps its permissions. Devices and named pipes, such as
    /dev/null, are written to directly. Temporary files of killed processes are removed. With
    `lasting`, the file also survives a power cut.

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
    # Suffixes are kept, since they name the format.
    partial = final.with_name(f".{secrets.token_hex(4)}.part.{final.name}")
    # The lock ends with the process, so that a file without a lock is a leftover.
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


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with whole_file(path) as name:
        Path(name).write_text(text, "utf-8")


def existing_file(path: str | Path) -> Path:
    """The path of an existing file; if there is none, an error."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return path


def remove_partial() -> None:
    """Remove the unfinished files of this process, before it ends."""
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
    with suppress(OSError):  # another process is writing it, or another user owns it
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
    """Force a file or folder to the disk: a new name must not get there before its content."""
    if os.name == "posix":  # only there can folders be opened
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
