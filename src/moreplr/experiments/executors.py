"""Where units are run: in this process, in killable processes, or on a Dask cluster.

Each executor yields the results of units as they come, in any order.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from moreplr.experiments._worker import Worker
from moreplr.experiments.units import Result, Unit, run_unit

Finished = tuple[Unit, list[Result]]
_OWN = threading.local()


def run_here(units: Iterator[Unit]) -> Iterator[Finished]:
    """One unit after another in this process, without timeouts."""
    for unit in units:
        yield unit, run_unit(unit)


def run_in_processes(
    units: Iterator[Unit], jobs: int, timeout: float | None = None
) -> Iterator[Finished]:
    """Up to `jobs` units at a time, each in a process that is killed when it takes too long."""
    workers: list[Worker] = []

    def start() -> None:
        _OWN.worker = Worker()
        workers.append(_OWN.worker)

    pool = ThreadPoolExecutor(jobs, initializer=start)
    try:
        pending: dict[Future[list[Result]], Unit] = {}
        for unit in islice(units, jobs):  # the rest stays free for other processes
            pending[pool.submit(run_isolated, unit, timeout)] = unit
        while pending:
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                yield pending.pop(future), future.result()
                for unit in islice(units, 1):
                    pending[pool.submit(run_isolated, unit, timeout)] = unit
    finally:
        # Killing the workers ends their units, so that the threads end, too.
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()


def run_isolated(unit: Unit, timeout: float | None) -> list[Result]:
    """Run a unit in a process that this thread keeps for it."""
    if not hasattr(_OWN, "worker"):
        _OWN.worker = Worker()
    return _OWN.worker.run(unit, timeout)


def run_on_dask(
    units: Iterator[Unit], address: str, timeout: float | None = None
) -> Iterator[Finished]:
    """On the workers of a Dask cluster, which must have this package and the data.

    A unit whose worker dies is run again on another one. Each thread of a Dask worker has a
    process of its own for its units, so that timeouts work and CPU times are those of the unit.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise ValueError("--dask needs the package dask[distributed]") from error

    with Client(address, timeout=20) as client:
        room = 4 * max(1, sum(client.nthreads().values()))
        pending: dict[Any, Unit] = {}

        def submit(unit: Unit) -> Any:
            future = client.submit(run_isolated, unit, timeout, pure=False)
            pending[future] = unit
            return future

        queue = as_completed([submit(unit) for unit in islice(units, room)])
        for future in queue:
            unit = pending.pop(future)
            if future.status == "finished":
                yield unit, future.result()
            else:
                what = future.exception() if future.status == "error" else future.status
                yield unit, unit.failed("error", f"{type(what).__name__}: {what}")
            for following in islice(units, 1):
                queue.add(submit(following))
