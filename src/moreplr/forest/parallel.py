"""Run tasks in threads, all of which Ctrl-C stops.

Tasks that return their results, such as growing trees, use the backend that
`joblib.parallel_config` sets, for example a Dask cluster. Tasks that write into the caller's
arrays always run in threads of this process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

Result = TypeVar("Result")


class Stopped(Exception):
    """Raised inside a task whose result is no longer needed."""


def run(
    task: Callable[..., Result],
    parts: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    stop: NDArray[np.uint8],
    in_place: bool = False,
) -> list[Result]:
    """`[task(*part) for part in parts]`, in threads; an error anywhere sets `stop[0]`.

    Tasks check `stop` regularly and raise `Stopped`. With `in_place` they write into the
    caller's arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest.parallel import run
    >>> run(pow, [(2, 3), (3, 2)], n_jobs=2, stop=np.zeros(1, np.uint8))
    [8, 9]
    """
    jobs = effective_n_jobs(n_jobs)
    try:
        if jobs == 1:
            return [task(*part) for part in parts]
        if in_place or _threads_are_wanted():
            return _in_threads(task, parts, jobs, stop)
        return list(Parallel(n_jobs)(delayed(task)(*part) for part in parts))
    except BaseException:
        stop[0] = 1
        raise


def _threads_are_wanted() -> bool:
    backend, _ = get_active_backend(prefer="threads")
    return bool(getattr(backend, "uses_threads", False))  # Dask's backend has no such attribute


def _in_threads(
    task: Callable[..., Result],
    parts: Iterable[tuple[Any, ...]],
    jobs: int,
    stop: NDArray[np.uint8],
) -> list[Result]:
    """Run the parts in a thread pool, in which each worker takes one part after the other.

    joblib checks only every 10 ms whether a task is done, and one future for each of many small
    parts takes as long as growing a small tree.
    """
    waiting = deque(enumerate(parts))
    jobs = max(min(jobs, len(waiting)), 1)
    results: dict[int, Result] = {}

    def work() -> None:
        while True:
            try:
                at, part = waiting.popleft()
            except IndexError:  # nothing left
                return
            if stop[0]:
                raise Stopped
            results[at] = task(*part)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            workers = [pool.submit(work) for _ in range(jobs)]
            done, _ = wait(workers, return_when=FIRST_EXCEPTION)
            for worker in done:
                worker.result()
        except BaseException:
            stop[0] = 1
            raise
    return [results[at] for at in range(len(results))]


def cut(n: int, n_jobs: int | None, per_job: int = 64) -> list[tuple[int, int]]:
    """Split 0..n into ranges: one for a single job, else `per_job` for each to balance the load.

    There are two per job where each range is sent to another process together with its data.
    """
    jobs = effective_n_jobs(n_jobs)
    pieces = 1 if jobs == 1 else min(n, int(jobs) * (per_job if _threads_are_wanted() else 2))
    bounds = np.linspace(0, n, max(pieces, 1) + 1).astype(int).tolist()
    return list(pairwise(bounds))
