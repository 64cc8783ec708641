"""Share work among threads so that Ctrl-C ends all of it at once.

What grows trees goes where `joblib.parallel_config` says, to a Dask cluster for example: it
gives its results back. What writes into arrays of the caller stays in threads of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

Result = TypeVar("Result")


class Stopped(Exception):
    """Raised inside a task whose result nobody waits for any more."""


def run(
    task: Callable[..., Result],
    parts: Iterable[tuple],
    n_jobs: int | None,
    stop: NDArray[np.uint8],
    in_place: bool = False,
) -> list[Result]:
    """`[task(*part) for part in parts]`, in threads; an error anywhere sets `stop[0]`.

    Tasks look at `stop` now and then and raise `Stopped`. With `in_place` they write to memory
    that they share with the caller.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest.parallel import run
    >>> run(pow, [(2, 3), (3, 2)], n_jobs=2, stop=np.zeros(1, np.uint8))
    [8, 9]
    """
    try:
        if effective_n_jobs(n_jobs) == 1:
            return [task(*part) for part in parts]
        where = {"require": "sharedmem"} if in_place else {"prefer": "threads"}
        return list(Parallel(n_jobs, **where)(delayed(task)(*part) for part in parts))
    except BaseException:
        stop[0] = 1
        raise


def cut(n: int, n_jobs: int | None, per_job: int = 4) -> list[tuple[int, int]]:
    """Ranges that cover 0..n: one for a single job, else a few per job, to even out."""
    jobs = effective_n_jobs(n_jobs)
    pieces = 1 if jobs == 1 else min(n, jobs * per_job)
    bounds = np.linspace(0, n, max(pieces, 1) + 1).astype(int).tolist()
    return list(pairwise(bounds))
