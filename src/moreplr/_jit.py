"""Compile kernels: with a cache if possible, and with a message if it takes long.

A kernel may only call kernels in its own folder: cached code is compiled again if any module of
the folder has changed, whatever the time stamps of the files are.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile `function` at its first call, without the GIL, and keep the machine code on disk.

    `options`, such as `fastmath`, go to numba.

    Numba stores the machine code beside the source, or in the user's cache folder if it cannot
    write there. If that fails as well, the kernel is compiled in each process, and a warning is
    logged once.

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
    kernel = numba.njit(**_OPTIONS, **options)(function)
    with suppress(RuntimeError):  # numba found no folder that it may write to
        kernel._cache = _Cache(function)
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Like `jit`, for a helper whose source is inserted into the kernels that call it.

    A call passes every array as seven words, which is most of the work in loops over small nodes.
    Inserted source is compiled once, together with its kernel, so that first fits take a quarter
    less time.

    Examples
    --------
    >>> from moreplr._jit import inlined, jit
    >>> @inlined
    ... def double(x):
    ...     return x + x
    """
    return numba.njit(inline="always", **_OPTIONS)(function)


def reassociated(function: Callable[..., Any]) -> Any:
    """Like `inlined`, for a sum that may be added up in any order, as vector instructions need.

    The order depends on the processor, but not on the number of threads.

    Examples
    --------
    >>> from moreplr._jit import reassociated
    >>> @reassociated
    ... def total(x):
    ...     out = 0.0
    ...     for i in range(len(x)):
    ...         out += x[i]
    ...     return out
    """
    freedom = {"reassoc", "nsz", "nnan", "contract", "arcp"}
    return numba.njit(forceinline=True, fastmath=freedom, **_OPTIONS)(function)


@cache
def _digest(folder: Path) -> str:
    """A hash of all modules of a folder."""
    sources = (path.read_bytes() for path in sorted(folder.glob("*.py")))
    return hashlib.sha256(b"\0".join(sources)).hexdigest()


class _Files(CompileResultCacheImpl):
    """Numba's cache files, with a hash of the kernel's folder in place of a time stamp.

    The machine code of a kernel includes the kernels that it calls, which may have changed when
    its own time stamp has not.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = _digest(Path(function.__code__.co_filename).parent)
        self.locator.get_source_stamp = lambda: stamp


class _Cache(FunctionCache):
    """Numba's cache, but problems with its files raise no errors."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # damaged files make pickle raise almost anything
            _complain(f"can't read {self.cache_path}", error)
            with suppress(Exception):
                self.flush()  # an empty index, so that the kernel can be saved again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            if "no compiled object" in str(error):
                # Ctrl-C came while LLVM returned the code, where exceptions are lost.
                raise KeyboardInterrupt from error
            _complain(f"can't write to {self.cache_path}", error)


def _complain(what: str, error: Exception) -> None:
    if not _complaints:
        _complaints.append(what)
        _logger().warning(
            "%s (%s: %s); kernels are compiled in memory instead, each time",
            what, type(error).__name__, error,
        )  # fmt: skip


_complaints: list[str] = []


class _Notice(event.Listener):
    """Logs once per process that kernels are being compiled; loading from the cache is silent."""

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
    """The package's logger, with a handler to stderr unless the application has set one up."""
    logger = logging.getLogger("moreplr.jit")
    if not logger.hasHandlers():
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("moreplr: %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(logging.INFO)
    return logger


event.register("numba:compile", _Notice())
