"""Options that several commands share: how a table is read, and which columns mean what."""

from __future__ import annotations

import argparse
from typing import Any

from moreplr.tables.formats import FORMATS


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add how cells and files are read."""
    group = parser.add_argument_group("reading tables")
    group.add_argument(
        "--gap",
        action="append",
        default=[],
        metavar="VALUE",
        help="a cell of the features that means no value, beside empty ones, NA, NaN, null and "
        "the like; a model remembers numbers",
    )
    group.add_argument(
        "--separator", metavar="SIGN", help="between cells (default: comma, or tab in .tsv)"
    )
    group.add_argument(
        "--decimal", default=".", metavar="SIGN", help="between whole and fraction (default: .)"
    )
    group.add_argument("--encoding", default="utf-8", help="of CSV (default: utf-8)")
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="of tables that are read (default: by the name's ending; CSV from standard input)",
    )


def add_label_options(parser: argparse.ArgumentParser) -> None:
    """Add which columns are labels and which are features."""
    group = parser.add_argument_group("columns")
    group.add_argument(
        "--labels",
        nargs="+",
        metavar="NAME",
        help="the label columns: names, patterns such as 'rank_*', one prefix, or the number of "
        "last columns; they hold positions (1 is best, equal is tied, empty is not ranked). "
        "Give the table before this option",
    )
    group.add_argument(
        "--ranking-column",
        metavar="NAME",
        help="the column of rankings as texts such as 'b > a ~ c', instead of label columns; "
        "--labels may then name the labels",
    )
    group.add_argument(
        "--ratings", action="store_true", help="label columns hold ratings: larger is better"
    )
    group.add_argument(
        "--unranked",
        action="append",
        default=[],
        metavar="VALUE",
        help="a cell of the labels that means not ranked, beside empty ones (such as 0 or -1)",
    )
    group.add_argument(
        "--ignore",
        nargs="+",
        default=[],
        metavar="NAME",
        help="columns to leave out, such as identifiers; patterns too",
    )


def table_options(options: argparse.Namespace) -> dict[str, Any]:
    """What :func:`moreplr.tables.reading.open_table` takes of the options."""
    return {
        "kind": options.format,
        "separator": options.separator,
        "encoding": options.encoding,
    }
