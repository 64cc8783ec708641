"""Options that several commands share: how a table is read, and which columns mean what."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from moreplr.tables.formats import FORMATS

if TYPE_CHECKING:
    from moreplr.tables.options import TableOptions


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add how cells and files are read."""
    group = parser.add_argument_group("reading tables")
    group.add_argument(
        "--gap",
        nargs="+",
        action="extend",
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
    group.add_argument("--sheet", metavar="NAME", help="of an Excel workbook (default: the first)")
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="of tables that are read (default: by the name's ending; CSV from standard input)",
    )


def add_label_options(parser: argparse.ArgumentParser) -> None:
    """Add which columns are labels and which are features."""
    group = parser.add_argument_group("rankings")
    group.add_argument(
        "--labels",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="the label columns: names, patterns such as 'rank_*', one prefix, or the number of "
        "last columns; they hold positions (1 is best, equal is tied, empty is not ranked). "
        "Give the table before this option. With the options below, the labels' names",
    )
    group.add_argument(
        "--ranking-column",
        metavar="NAME",
        help="the column of rankings as texts such as 'b > a ~ c'",
    )
    group.add_argument(
        "--long",
        nargs=3,
        metavar=("ROW", "LABEL", "POSITION"),
        help="the table has a line for each row and label: its three columns for them",
    )
    group.add_argument(
        "--votes",
        nargs=3,
        metavar=("A", "B", "WINNER"),
        help="the columns of two labels and of the winner (its name, A's or B's column, a, b, or "
        "a tie); each vote is a row",
    )
    group.add_argument(
        "--choices",
        nargs="+",
        metavar="COLUMN",
        help="the columns of the best and of the worst of those tried (labels, or A, B, C …)",
    )
    group.add_argument(
        "--tried",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="the columns of what was tried, with --choices; patterns too",
    )
    group.add_argument(
        "--ratings", action="store_true", help="label columns hold ratings: larger is better"
    )
    group.add_argument(
        "--scores",
        choices=("smaller", "larger"),
        help="label columns hold scores, such as run times, and which are better; inf is last",
    )
    group.add_argument(
        "--tie-within",
        metavar="SIZE",
        default="0",
        help="scores that are so close tie: a difference, or a share of the better one such as "
        "1%%",
    )
    group.add_argument(
        "--missing",
        choices=("unranked", "last"),
        default="unranked",
        help="whether nothing is known of a label without a score, or it comes last (default: "
        "unranked)",
    )
    _add_list(group, "--unranked", "a cell of the labels that means not ranked (such as 0 or -1)")
    _add_list(group, "--last", "a score that means the last place, such as timeout")
    _add_list(group, "--tie", "a winner of --votes that means a tie, beside tie, draw, both bad")
    _add_list(group, "--skip", "a winner of --votes that makes the vote be left out")
    group.add_argument(
        "--drop-prefix",
        default="",
        metavar="TEXT",
        help="what the labels' names lose at their beginning, such as rank_",
    )
    other = parser.add_argument_group("other columns")
    other.add_argument(
        "--ignore",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="columns to leave out, such as identifiers; patterns too",
    )
    other.add_argument("--weight", metavar="NAME", help="the column of the rows' weights")
    other.add_argument(
        "--group",
        metavar="NAME",
        help="the column that says which rows belong together, such as a user: folds do not "
        "split them",
    )


def _add_list(group: Any, option: str, words: str) -> None:
    group.add_argument(option, nargs="+", action="extend", default=[], metavar="VALUE", help=words)


def read_options(options: argparse.Namespace) -> TableOptions:
    """The options as Python has them."""
    from moreplr.rankings._votes import TIES
    from moreplr.tables.options import TableOptions

    labels: Any = options.labels
    if labels is not None and len(labels) == 1:
        # One word is a number of columns, a prefix or a pattern, or one name.
        labels = int(labels[0]) if labels[0].isdecimal() else labels[0]
    return TableOptions(
        labels=labels,
        text=options.ranking_column,
        long=options.long,
        votes=options.votes,
        choices=options.choices,
        tried=options.tried,
        ratings=options.ratings,
        scores=options.scores,
        tolerance=0.0 if options.tie_within == "0" else options.tie_within,
        missing=options.missing,
        unranked=options.unranked,
        last=options.last,
        ties=[*TIES, *options.tie],
        skip=options.skip,
        drop_prefix=options.drop_prefix,
        weight=options.weight,
        group=options.group,
        ignore=options.ignore,
        gaps=options.gap,
        separator=options.separator,
        decimal=options.decimal,
        encoding=options.encoding,
        sheet=options.sheet,
        format=options.format,
    )


# What Python calls otherwise than the command.
_RENAMED = {
    "text": "ranking-column",
    "tolerance": "tie-within",
    "ties": "tie",
    "gaps": "gap",
    "drop_prefix": "drop-prefix",
}
_OPTION = re.compile(
    r"\b(labels|text|tolerance|ties|gaps|drop_prefix|ratings|scores|missing|unranked|last|skip|ignore|"
    r"separator|decimal|encoding)=(True|\d+|\[[^\]]*\]|'[^']*'|\"[^\"]*\")"
    r"|\((labels|text|long|votes|choices|tried|ignore|weight|group)\)"
)


def as_options(text: str) -> str:
    """A message for Python as one for the command line.

    Examples
    --------
    >>> as_options("say decimal=',' or gaps=['?', 'x'] or ratings=True")
    "say --decimal ',' or --gap '?' 'x' or --ratings"
    >>> as_options("there is no column 'order' (text)")
    "there is no column 'order' (--ranking-column)"
    """

    def spell(match: re.Match[str]) -> str:
        if match[3]:
            return f"(--{_RENAMED.get(match[3], match[3])})"
        name, value = match[1], match[2]
        option = f"--{_RENAMED.get(name, name)}"
        if value == "True":
            return option
        return f"{option} {value[1:-1].replace(', ', ' ') if value[0] == '[' else value}"

    return _OPTION.sub(spell, text)


def table_options(options: argparse.Namespace) -> dict[str, Any]:
    """What :func:`moreplr.tables.reading.open_table` takes of the options."""
    return {
        "kind": options.format,
        "separator": options.separator,
        "encoding": options.encoding,
        "sheet": options.sheet,
    }
