"""Let Ctrl-C end a kernel that takes long: Python sees a signal only between two calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config

Result = TypeVar("Result")


def stoppable(call: Callable[[NDArray[np.uint8]], Result]) -> Result:
    """`call(stop)`, in a thread of its own; an interrupt sets `stop[0]`, at which it must look.

    Outside of the main thread, which no signal reaches, it is only called.

    Examples
    --------
    >>> stoppable(lambda stop: int(stop[0]))
    0
    """
    stop = np.zeros(1, np.uint8)
    if threading.current_thread() is not threading.main_thread():
        return call(stop)
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(call, stop).result()
        except BaseException:
            stop[0] = 1
            raise


def abandonable(call: Callable[[], Result]) -> Result:
    """`call()`, in a thread that an interrupt leaves behind, for code that looks at no flag.

    What it does goes on in the background, and ends with the process at the latest.

    Examples
    --------
    >>> abandonable(lambda: 5)
    5
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: Future[Result] = Future()
    context, config = copy_context(), get_config()

    def run() -> None:
        try:
            with config_context(**config):  # which scikit-learn keeps for each thread
                outcome.set_result(context.run(call))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result()
