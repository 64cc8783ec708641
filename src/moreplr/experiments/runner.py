"""Run a plan into a store, except for results that are there already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from moreplr.experiments.claims import Claims
from moreplr.experiments.executors import Finished, run_here, run_in_processes, run_on_dask
from moreplr.experiments.forecast import Watch
from moreplr.experiments.plan import Plan
from moreplr.experiments.store import Store
from moreplr.experiments.units import Source, Unit, expand, source_of


def run(
    plan: Plan | str | Path,
    store: str | Path,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    dask: str | None = None,
    retry: bool = False,
    progress: bool = False,
) -> dict[str, int]:
    """Run the part of a plan that a store lacks.

    After a kill at any moment, the same call continues the run. Several processes that run a plan
    into one store share the work, and each ends when all of it is done. A method that raises or
    takes too long is recorded with its message, and the rest goes on.

    Parameters
    ----------
    plan : Plan, name of a shipped plan, or path of a TOML file, see :meth:`Plan.load`
    store : path of a SQLite file, created if it does not exist
    jobs : int
        Units at a time, each in a process of its own; 0 runs them in this process, without
        timeouts.
    timeout : float, optional
        Seconds after which a unit (one fit, and its predictions) is stopped.
    dask : str, optional
        Address of a Dask scheduler to run on instead.
    retry : bool
        Run again what failed or took too long before.
    progress : bool
        Show a bar with the time left.

    Returns
    -------
    how many results this call added, by status

    Examples
    --------
    >>> import tempfile
    >>> plan = Plan(["plr/iris"], ["kNN"], folds=2, repetitions=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Path(folder) / "results.sqlite"
    ...     run(plan, store, jobs=0), run(plan, store, jobs=0)
    ({'ok': 2}, {})
    """
    if not isinstance(plan, Plan):
        plan = Plan.load(plan)
    if jobs < 0 or (timeout is not None and timeout <= 0):
        raise ValueError(f"jobs and timeout must be positive, got {jobs!r} and {timeout!r}")
    sources = [source_of(item) for item in plan.data]
    _check_names(sources)
    counts: Counter[str] = Counter()
    with Store(store) as opened:
        _identify(opened, plan, sources)
        units = list(expand(plan, sources, opened.done(failed=not retry)))
        with (
            Watch(units, max(jobs, 1), shown=progress) as bar,
            Claims(opened, retry=retry) as claims,
        ):
            while units:
                held: list[Unit] = []
                mine = claims.take_all(units, held, lambda unit: bar.finish(unit, []))
                for unit, results in _execute(mine, jobs, timeout, dask):
                    written = opened.write(results, plan.seed)
                    counts.update(result.status for result in written)
                    bar.finish(unit, results)
                units = held
                if held:  # until the others have finished, or are gone
                    claims.wait()
    return dict(counts)


def _execute(
    units: Iterator[Unit], jobs: int, timeout: float | None, dask: str | None
) -> Iterator[Finished]:
    if dask is not None:
        return run_on_dask(units, dask, timeout)
    if jobs == 0:
        return run_here(units)
    return run_in_processes(units, jobs, timeout)


def _identify(store: Store, plan: Plan, sources: list[Source]) -> None:
    """Note what names stand for: a store has one meaning of each, and one way to cut folds."""
    store.identify("data set", {str(source): source.fingerprint for source in sources})
    store.identify("method", {method.name: method.definition for method in plan.make_methods()})
    store.identify("splits", {"folds": str(plan.folds), "seed": str(plan.seed)})


def _check_names(sources: list[Source]) -> None:
    for name, count in Counter(map(str, sources)).items():
        if count > 1:
            raise ValueError(f"two data sets are named {name}; names must differ")
