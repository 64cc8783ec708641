"""List data sets, print what one holds, or fetch some from OpenML."""

from __future__ import annotations

import argparse
from typing import Any

from moreplr.cli._data import add_data_option, use_data_option
from moreplr.cli.options import add_label_options, add_reading_options

EXAMPLES = """
moreplr datasets list
moreplr datasets card iris --problem lr
moreplr datasets card people.csv --labels 'rank_*'
moreplr datasets card people.csv --ranking-column ranking
moreplr datasets fetch glass vowel
moreplr datasets fetch --problem lr
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    from moreplr.datasets import PROBLEMS

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all names that can be loaded")
    card = actions.add_parser("card", help="instances, features, labels, rankings, buckets")
    card.add_argument("name", help="a name, or a table")
    card.add_argument("--problem", choices=PROBLEMS, default="plr")

    add_label_options(card)
    add_reading_options(card)
    fetch = actions.add_parser("fetch", help="download from OpenML into scikit-learn's cache")
    fetch.add_argument("names", nargs="*", metavar="NAME", help="(default: all that it has)")
    fetch.add_argument("--problem", choices=PROBLEMS, default="plr")
    for action in (listing, card):
        add_data_option(action)
    for action in (listing, card, fetch):
        action.add_argument("--debug", action="store_true", default=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """List, print or fetch."""
    if options.action == "fetch":
        return _fetch(options)
    use_data_option(options)
    if options.action == "list":
        from moreplr.cli.tables import print_table

        print_table(_listing())
    else:
        _describe(options)
    return 0


def _describe(options: argparse.Namespace) -> None:
    from moreplr.cli.problems import say_what_was_read

    data = _find(options)
    print(data.card())
    say_what_was_read(data)


def _find(options: argparse.Namespace) -> Any:
    from dataclasses import replace
    from pathlib import Path

    from moreplr import datasets
    from moreplr.cli.problems import load_problem

    if options.name != "-" and not Path(options.name).exists():
        return datasets.load(options.name, options.problem)
    return replace(load_problem(options.name, options), problem=options.problem)


def _fetch(options: argparse.Namespace) -> int:
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
    return 0


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
