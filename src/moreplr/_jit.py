"""One way to compile kernels: cached where that is possible, with a line when it takes long.

A kernel may call kernels of its own folder only: what is cached is compiled again when any module
of the folder changes, whatever the time stamps of files say.
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

    Numba stores it beside the source, or in the user's cache folder where the source cannot be
    written. Where that fails, the kernel is compiled anew in each process, which is said once.

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
    """Like `jit`, for a helper whose source is pasted into the kernels that call it.

    A call passes every array as seven words; in loops over small nodes that is most of the work.
    What is pasted is compiled once, together with its kernel: first fits take a quarter less.

    Examples
    --------
    >>> from moreplr._jit import inlined, jit
    >>> @inlined
    ... def double(x):
    ...     return x + x
    """
    return numba.njit(inline="always", **_OPTIONS)(function)


def reassociated(function: Callable[..., Any]) -> Any:
    """Like `inlined`, for a sum that may be added up in any order, which vectors need.

    The order depends on the processor's vectors, but not on the number of threads.

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
    """What the modules of a folder hold, as one number."""
    sources = (path.read_bytes() for path in sorted(folder.glob("*.py")))
    return hashlib.sha256(b"\0".join(sources)).hexdigest()


class _Files(CompileResultCacheImpl):
    """Numba's choice of files, with the digest of a kernel's folder in place of a time stamp.

    The kernel's own time stamp says nothing about those that it calls, which are part of its
    machine code.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = _digest(Path(function.__code__.co_filename).parent)
        self.locator.get_source_stamp = lambda: stamp


class _Cache(FunctionCache):
    """Numba's cache, but trouble with its files is no trouble for the caller."""

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
                # Ctrl-C came while LLVM handed the code over, and what is raised there is lost.
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


event.register("numba:compile", _Notice())
