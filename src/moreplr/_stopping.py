"""Let Ctrl-C end long compiled code, during which Python does not handle signals."""

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
    """Run `call(stop)` in a thread; an interrupt sets `stop[0]`, which the call must check.

    Only the main thread receives signals; in other threads this is a plain call.

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
    """Run `call()` in a thread that an interrupt abandons, for code that checks no flag.

    After an interrupt, the call continues in the background until it or the process ends.

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
            with config_context(**config):  # scikit-learn keeps one for each thread
                outcome.set_result(context.run(call))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result()
