"""List data sets, or print what one holds."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from moreplr import datasets
from moreplr.cli._data import add_data_option, use_data_option
from moreplr.datasets._paper import entries

EXAMPLES = """
moreplr datasets list
moreplr datasets card iris --problem lr
moreplr datasets card people.csv --labels 'rank_*'
moreplr datasets card people.csv --text ranking
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all names that can be loaded")
    add_data_option(listing)
    card = actions.add_parser("card", help="instances, features, labels, rankings, buckets")
    card.add_argument("name", help="a name, or a CSV or Parquet file")
    card.add_argument("--problem", choices=datasets.PROBLEMS, default="plr")
    card.add_argument("--labels", help="of a file: pattern, prefix or number of label columns")
    card.add_argument("--text", help="of a file: the column of rankings such as 'b > a ~ c'")
    add_data_option(card)


def run(options: argparse.Namespace) -> int:
    """List or print."""
    use_data_option(options)
    if options.action == "list":
        Console().print(_listing())
    else:
        print(_find(options).card())
    return 0


def _find(options: argparse.Namespace) -> datasets.Dataset:
    if options.labels is None and options.text is None and not Path(options.name).is_file():
        return datasets.load(options.name, options.problem)
    labels = options.labels
    if labels is not None and labels.isdigit():
        labels = int(labels)
    return datasets.from_csv(options.name, labels, text=options.text, problem=options.problem)


def _listing() -> Table:
    table = Table("problem", "name", "instances", "features", "labels", "OpenML", "here")
    for problem in datasets.PROBLEMS:
        here = datasets.list_datasets(problem)
        for name in datasets.list_datasets(problem, openml=True):
            entry = entries().get((problem, name))
            facts = ["", "", "", ""]
            if entry is not None:
                numbers = (entry.instances, entry.features, entry.labels, entry.openml_id or "")
                facts = [str(number) for number in numbers]
            table.add_row(problem, name, *facts, "yes" if name in here else "")
    return table
