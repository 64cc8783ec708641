"""One way to compile kernels: cached where that is possible, with a line when it takes long."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba.core import event

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile `function` at its first call, without the GIL, and keep the machine code on disk.

    `options`, such as `fastmath`, go to numba.

    Numba stores it beside the source, or in the user's cache folder where the
    source cannot be written. Where neither can, the kernel is compiled anew in each process.

    Examples
    --------
    >>> from moreplr._jit import jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double(2)
    4
    """
    if function is None:
        return partial(jit, **options)
    try:
        return numba.njit(cache=True, **_OPTIONS, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(**_OPTIONS, **options)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Like `jit`, for a helper that is to be pasted into the one kernel that calls it.

    A call passes every array as seven words; in loops over small nodes that is most of the work.

    Examples
    --------
    >>> from moreplr._jit import inlined, jit
    >>> @inlined
    ... def double(x):
    ...     return x + x
    """
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def pasted(function: Callable[..., Any]) -> Any:
    """Like `inlined`, for a large helper: its source is pasted, before anything is compiled.

    Numba optimises a kernel together with all that it calls, although that was optimised by
    itself before. What is pasted is not: compiling takes less time, the result is the same.

    Examples
    --------
    >>> from moreplr._jit import jit, pasted
    >>> @pasted
    ... def double(x):
    ...     return x + x
    """
    return numba.njit(inline="always", **_OPTIONS)(function)


def drop_stale(package: Path) -> None:
    """Remove compiled kernels of a package that are older than what they may be made of.

    That is any module with a leading underscore in a folder that has kernels. Numba looks only
    at the file of the kernel itself. One that was inlined from another file would live on in
    machine code after a change there.
    """
    with contextlib.suppress(OSError):  # a folder that can't be written holds no cache of ours
        modules = [path for path in package.rglob("_*.py") if path.name != "__init__.py"]
        folders = {path.parent for path in modules if b"moreplr._jit" in path.read_bytes()}
        changes = (path.stat().st_mtime for path in modules if path.parent in folders)
        newest = max(changes, default=0.0)
        for index in package.rglob("__pycache__/*.nbi"):
            if index.stat().st_mtime < newest:
                index.unlink(missing_ok=True)


class _Notice(event.Listener):
    """Says once per process that kernels are being compiled; loading from the cache is silent."""

    said = False

    def on_start(self, event: event.Event) -> None:
        details = event.data or {}
        function = getattr(details.get("dispatcher"), "py_func", None)
        ours = getattr(function, "__module__", "").startswith("moreplr.")
        if ours and not self.said:
            self.said = True
            _logger().info("compiling the kernels of moreplr, once (up to a minute)")

    def on_end(self, event: event.Event) -> None:
        pass


def _logger() -> logging.Logger:
    """The package's logger, with a handler to stderr unless the application has set up its own."""
    logger = logging.getLogger("moreplr.jit")
    if not logger.hasHandlers():
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("moreplr: %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(logging.INFO)
    return logger


drop_stale(Path(__file__).parent)
event.register("numba:compile", _Notice())
