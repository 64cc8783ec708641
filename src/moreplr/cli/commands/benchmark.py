"""Run an experiment: data sets × methods × missing labels × folds.

Results go to a SQLite file. Stop it at any moment: the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from moreplr.cli._data import add_data_option, use_data_option
from moreplr.cli.values import parse_changes

EXAMPLES = """
moreplr benchmark --plan demo --report demo-report
moreplr benchmark --plan paper --data ../data --jobs 8 --timeout 3600 --report paper
moreplr benchmark --plan paper --set 'data=["plr/iris"]' --set repetitions=1
moreplr benchmark --plan my-plan.toml --dask tcp://scheduler:8786
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    from moreplr.experiments.plan import shipped_plans

    plans = ", ".join(shipped_plans())
    parser.add_argument("--plan", required=True, help=f"a TOML file, or one of: {plans}")
    parser.add_argument("--store", help="SQLite file of results (default: PLAN.sqlite)")
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--jobs", type=int, default=cores, help="fits at a time (default: one a core)"
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="give up a fit that takes longer"
    )
    parser.add_argument("--dask", metavar="ADDRESS", help="run on this Dask scheduler's workers")
    parser.add_argument("--retry", action="store_true", help="run again what failed before")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change the plan; the value as in TOML, may be given several times",
    )
    parser.add_argument(
        "--allow-import",
        action="store_true",
        help="let the plan name methods as module:callable, which runs code of that module",
    )
    parser.add_argument("--report", metavar="FOLDER", help="write a report at the end")
    add_data_option(parser)


def run_plan(options: argparse.Namespace) -> Path:
    """Run the plan and say what came of it; gives the store's path."""
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
    said = ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "nothing new"
    print(f"{store}: {said}")
    if set(counts) - {"ok"}:
        print("moreplr: some results failed; --retry runs them again", file=sys.stderr)
    return store


def run(options: argparse.Namespace) -> int:
    """Run the plan, then write the report if one is wanted."""
    from moreplr import experiments

    use_data_option(options)
    store = run_plan(options)
    if options.report is not None:
        print(experiments.report(store, options.report))
    return 0
