"""Files that are there as a whole under their name, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: str | Path) -> Iterator[str]:
    """A name to write to; at the end of the block the file gets its final name.

    What is no ordinary file, such as /dev/null or a named pipe, is written to as it is.

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
    # The suffixes stay: they say what is inside.
    partial = final.with_name(f".{secrets.token_hex(4)}.part.{final.name}")
    try:
        yield str(partial)
        os.replace(partial, final)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
