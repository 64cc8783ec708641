"""Run an experiment: data sets × methods × missing labels × folds.

Results go to a SQLite file. Stop it at any moment: the same command goes on where it was.

Examples:
  moreplr benchmark --plan demo --report demo-report
  moreplr benchmark --plan paper --data ../data --jobs 8 --timeout 3600 --report paper
  moreplr benchmark --plan paper --set 'data=["plr/iris"]' --set repetitions=1
  moreplr benchmark --plan my-plan.toml --dask tcp://scheduler:8786
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from moreplr.cli.declaring import Options, command, file_option
from moreplr.cli.options import data_option
from moreplr.cli.values import parse_changes

_FOLDER = Path(__file__).parents[2] / "experiments" / "plans"
_PLANS = ", ".join(sorted(path.stem for path in _FOLDER.iterdir()))


def run_plan(options: Options) -> Path:
    """Run the plan, print how many results there are, and return the store's path."""
    from moreplr import experiments

    changes = parse_changes(options.set)
    plan = experiments.Plan.load(options.plan, allow_import=options.allow_import, **changes)
    store = Path(options.store or f"{plan.name}.sqlite")
    counts = experiments.run(
        plan,
        store,
        jobs=options.jobs,
        timeout=options.timeout,
        dask=options.dask,
        retry=options.retry,
        progress=True,
    )
    found = ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "nothing new"
    print(f"{store}: {found}")
    if set(counts) - {"ok"}:
        print("moreplr: some results failed; --retry runs them again", file=sys.stderr)
    return store


@command(help=__doc__)
@file_option("--plan", required=True, help=f"a TOML file, or one of: {_PLANS}")
@file_option("--store", help="SQLite file of results (default: PLAN.sqlite)")
@click.option(
    "--jobs",
    default=os.cpu_count() or 1,
    show_default="one a core",
    metavar="N",
    help="fits at a time",
)
@click.option("--timeout", type=float, metavar="SECONDS", help="give up a fit that takes longer")
@click.option("--dask", metavar="ADDRESS", help="run on this Dask scheduler's workers")
@click.option("--retry", is_flag=True, help="run again what failed before")
@click.option(
    "--set",
    multiple=True,
    metavar="KEY=VALUE",
    help="change the plan; the value as in TOML, may be given several times",
)
@click.option(
    "--allow-import",
    is_flag=True,
    help="let the plan name methods as module:callable, which runs code of that module",
)
@file_option("--report", metavar="FOLDER", help="write a report at the end")
@data_option
def benchmark(options: Options) -> None:
    """Run the plan, then write the report."""
    from moreplr import experiments

    store = run_plan(options)
    if options.report is not None:
        print(experiments.report(store, options.report))
