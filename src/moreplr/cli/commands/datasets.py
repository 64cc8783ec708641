"""List data sets, print what one holds, or fetch some from OpenML.

Examples:
  moreplr datasets list
  moreplr datasets card iris --problem lr
  moreplr datasets card people.csv --labels 'rank_*'
  moreplr datasets card people.csv --ranking-column ranking
  moreplr datasets fetch glass vowel
  moreplr datasets fetch --problem lr
"""

from __future__ import annotations

from typing import Any

import click

from moreplr.cli.declaring import FILE, Group, Options, argument
from moreplr.cli.options import column_options, data_option

_problem = click.option("--problem", type=click.Choice(("plr", "lr", "field")), default="plr")


@click.group(cls=Group, help=__doc__, no_args_is_help=False)
def datasets() -> None:
    """The group of the commands below."""


@datasets.command("list")
@data_option
def list_all(options: Options) -> None:
    """All names that can be loaded."""
    from moreplr.cli.tables import print_table

    print_table(_listing())


@datasets.command()
@argument("name", type=FILE, about="a name, or a table")
@_problem
@column_options
@data_option
def card(options: Options) -> None:
    """Instances, features, labels, rankings, buckets."""
    from moreplr.cli.problems import say_what_was_read

    data = _find(options)
    print(data.card())
    say_what_was_read(data)


def _find(options: Options) -> Any:
    from dataclasses import replace
    from pathlib import Path

    from moreplr import datasets
    from moreplr.cli.problems import load_problem

    path, (problem, _, name) = Path(options.name), options.name.rpartition("/")
    is_name = options.name != "-" and not path.exists() and not path.suffix
    if is_name and problem in ("", *datasets.PROBLEMS):
        return datasets.load(name, problem or options.problem)
    return replace(load_problem(options.name, options), problem=options.problem)


@datasets.command()
@argument("names", nargs=-1, metavar="[NAME]...", about="default: all that it has")
@_problem
def fetch(options: Options) -> None:
    """Download from OpenML into scikit-learn's cache."""
    from moreplr import datasets
    from moreplr._progress import Progress
    from moreplr.datasets._paper import entries
    from moreplr.evaluation._words import describe

    on_openml = [
        name
        for (problem, name), entry in entries().items()
        if problem == options.problem and entry.openml_id is not None
    ]
    names = options.names or on_openml
    unknown = [name for name in names if (options.problem, name) not in entries()]
    if unknown:
        raise ValueError(
            f"OpenML's {options.problem} data sets have no {unknown[0]!r}; known are "
            f"{', '.join(on_openml)}"
        )
    with Progress("fetching", len(names), "data sets") as progress:
        for name in names:
            data = datasets.load(name, options.problem, source="openml")
            print(f"{options.problem}/{describe(data)}")
            progress.advance()


def _listing() -> Any:
    import pandas as pd

    from moreplr import datasets
    from moreplr.datasets._paper import entries

    rows = []
    for problem in datasets.PROBLEMS:
        here = datasets.list_datasets(problem)
        for name in datasets.list_datasets(problem, openml=True):
            entry = entries().get((problem, name))
            facts: tuple[Any, ...] = ("", "", "", "")
            if entry is not None:
                facts = (entry.instances, entry.features, entry.labels, entry.openml_id or "")
            rows.append((problem, name, *facts, "yes" if name in here else ""))
    columns = ["problem", "name", "instances", "features", "labels", "OpenML", "here"]
    return pd.DataFrame(rows, columns=columns)
