"""Options that several commands share: how a table is read, and which columns mean what."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from moreplr.cli.declaring import (
    FILE,
    Option,
    Options,
    Words,
    argument,
    file_option,
    several,
    together,
)
from moreplr.tables.formats import FORMATS

if TYPE_CHECKING:
    from moreplr.tables.options import TableOptions

_reading = partial(click.option, cls=Option, heading="Reading tables")
_ranking = partial(click.option, cls=Option, heading="Rankings")
_rankings = partial(several, heading="Rankings")
_others = partial(click.option, cls=Option, heading="Other columns")


def _one_or_all(context: Any, option: Any, words: tuple[str, ...]) -> Any:
    # One word is a number of columns, a prefix, a pattern or a name.
    if len(words) != 1:
        return words
    return int(words[0]) if words[0].isdecimal() else words[0]


table_argument = argument(
    "table",
    type=FILE,
    about="CSV, TSV (also .gz, .bz2, .xz, .zip), Parquet, Excel or JSON; - for standard input",
)
data_option = file_option(
    "--data",
    metavar="FOLDER",
    help="folder of benchmark data with a manifest.csv (default: where the environment "
    "variable MOREPLR_DATA points; bundled data and OpenML serve what it does not have)",
)
# How cells and files are read.
reading_options = together(
    _reading(
        "--gap",
        "gaps",
        cls=Words,
        help="a cell of the features that means no value, beside empty ones, NA, NaN, null and "
        "the like; a model remembers numbers",
    ),
    _reading("--separator", metavar="SIGN", help="between cells (default: comma, or tab in .tsv)"),
    _reading("--decimal", metavar="SIGN", default=".", help="between whole and fraction"),
    _reading("--encoding", metavar="NAME", default="utf-8", help="of CSV"),
    _reading("--sheet", metavar="NAME", help="of an Excel workbook (default: the first)"),
    _reading(
        "--format",
        type=click.Choice(FORMATS),
        help="of tables that are read (default: by the name's ending; CSV from standard input)",
    ),
)
# Which columns are labels and which are features; named in Python as TableOptions has them.
column_options = together(
    _rankings(
        "--labels",
        metavar="NAME",
        callback=_one_or_all,
        help="the label columns: names, patterns such as 'rank_*', one prefix, or the number of "
        "last columns; they hold positions (1 is best, equal is tied, empty is not ranked). "
        "Give the table before this option. With the options below, the labels' names",
    ),
    _ranking(
        "--ranking-column",
        "text",
        metavar="NAME",
        help="the column of rankings as texts such as 'b > a ~ c'",
    ),
    _ranking(
        "--long",
        nargs=3,
        metavar="ROW LABEL POSITION",
        help="the table has a line for each row and label: its three columns for them",
    ),
    _ranking(
        "--votes",
        nargs=3,
        metavar="A B WINNER",
        help="the columns of two labels and of the winner (its name, A's or B's column, a, b, or "
        "a tie); each vote is a row",
    ),
    _rankings(
        "--choices",
        metavar="COLUMN",
        help="the columns of the best and of the worst of those tried (labels, or A, B, C …)",
    ),
    _rankings("--tried", help="the columns of what was tried, with --choices; patterns too"),
    _ranking("--ratings", is_flag=True, help="label columns hold ratings: larger is better"),
    _ranking(
        "--scores",
        type=click.Choice(("smaller", "larger")),
        help="label columns hold scores, such as run times, and which are better; inf is last",
    ),
    _ranking(
        "--tie-within",
        "tolerance",
        metavar="SIZE",
        callback=lambda context, option, size: None if size == "0" else size,
        help="scores that are so close tie: a difference, or a share of the better one such as 1%",
    ),
    _ranking(
        "--missing",
        type=click.Choice(("unranked", "last")),
        default="unranked",
        help="whether nothing is known of a label without a score, or it comes last",
    ),
    _rankings("--unranked", help="a cell of the labels that means not ranked (such as 0 or -1)"),
    _rankings("--last", help="a score that means the last place, such as timeout"),
    _rankings(
        "--tie", "ties", help="a winner of --votes that means a tie, beside tie, draw, both bad"
    ),
    _rankings("--skip", help="a winner of --votes that makes the vote be left out"),
    _ranking("--drop-prefix", help="what labels' names lose at their beginning, such as rank_"),
    _others(
        "--ignore",
        cls=Words,
        metavar="NAME",
        help="columns to leave out, such as identifiers; patterns too",
    ),
    _others("--weight", metavar="NAME", help="the column of the rows' weights"),
    _others(
        "--group",
        metavar="NAME",
        help="the column of what rows belong together, such as a user: folds do not split them",
    ),
    reading_options,
)


def read_options(options: Options) -> TableOptions:
    """The options as Python has them; others keep their defaults."""
    from moreplr.rankings._votes import TIES
    from moreplr.tables.options import TableOptions

    names = {field.name for field in fields(TableOptions)} - {"ties"}
    given: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(options).items()
        if name in names and value not in (None, ())
    }
    return TableOptions(ties=[*TIES, *options.ties], **given)


# Names that differ between Python and the command.
_RENAMED = {"text": "ranking-column", "tolerance": "tie-within", "ties": "tie", "gaps": "gap"}
_COLUMNS = "labels|text|long|votes|choices|tried|ignore|weight|group"
_NAMES = (
    f"{_COLUMNS}|ratings|scores|tolerance|missing|unranked|last|ties|skip|drop_prefix|gaps|"
    "separator|decimal|encoding|sheet|format|problem"
)
# A name with its value, or the name of a column's option in parentheses.
_OPTION = re.compile(rf"\b({_NAMES})=(True|\d+|\[[^\]]*\]|'[^']*'|\"[^\"]*\")|\(({_COLUMNS})\)")
# Where a message begins with a name, or with two, perhaps behind the table's.
_SUBJECT = re.compile(
    rf"(?:^|(?<=: ))({_NAMES})(?: and (tried|text|long|votes|choices))?"
    r"(?= (?:must be|names? |is for|has no|contradict|belong|and scores=))"
)


def as_options(text: str) -> str:
    """A message with names of Python's parameters, with the command's options instead.

    Examples
    --------
    >>> as_options("say decimal=',' or gaps=['?', 'x'] or ratings=True")
    "say --decimal ',' or --gap '?' 'x' or --ratings"
    >>> as_options("there is no column 'order' (text)")
    "there is no column 'order' (--ranking-column)"
    >>> as_options("runs.csv: tolerance must be a number")
    'runs.csv: --tie-within must be a number'
    """

    def spell(match: re.Match[str]) -> str:
        if match[3]:
            return f"({_option(match[3])})"
        value = match[2]
        option = _option(match[1])
        if value == "True":
            return option
        return f"{option} {value[1:-1].replace(', ', ' ') if value[0] == '[' else value}"

    text = _OPTION.sub(spell, text)
    return _SUBJECT.sub(lambda match: " and ".join(_option(n) for n in match.groups() if n), text)


def _option(name: str) -> str:
    return f"--{_RENAMED.get(name, name).replace('_', '-')}"
