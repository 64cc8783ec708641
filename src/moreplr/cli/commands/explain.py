"""Explain why a saved model ranks one row as it does.

For the first two labels of the predicted ranking, or those of --labels, this prints which columns
of the row are reasons to put one before the other, and the smallest change of one column that
would turn them around. The row is compared with the others of its table, or those of --compare.

A ranking forest predicts from the training rows in the same leaves. For such a model, this also
prints the training rows of the largest weight, and the probabilities of both orders and of a tie
for each pair of neighbours in the predicted ranking, or for the two labels. Rows are counted from
1, in the new table and in the one that the model was fitted on.

Examples:
  moreplr explain people.moreplr new.csv --row 3
  moreplr explain people.moreplr new.csv --row 3 --labels tea milk
  moreplr explain people.moreplr new.csv --row 3 --labels tea milk --compare people.csv
  moreplr explain people.moreplr new.csv --row 3 --rows 0 -o training-rows.csv
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import click

from moreplr.cli.declaring import FILE, Options, argument, command, file_option
from moreplr.cli.options import reading_options

# Rows to compare with: enough for shares, and few to predict.
_COMPARED = 200


@command(help=__doc__)
@argument("model", type=FILE, about="a model that `moreplr fit` wrote")
@argument("table", type=FILE, about="the table of the row; - for standard input")
@click.option("--row", default=1, metavar="N", help="counted from 1")
@click.option("--labels", nargs=2, metavar="LABEL LABEL", help="explain these two only")
@file_option("--compare", help="a table of rows to compare with (default: those of the table)")
@click.option("--rows", default=5, metavar="N", help="training rows to show")
@file_option("-o", "--output", help="write all training rows and their weights")
@reading_options
def explain(options: Options) -> None:
    """Explain one row."""
    from moreplr.cli.models import load_model
    from moreplr.cli.tables import say, write_scores
    from moreplr.cli.writing import check_output
    from moreplr.rankings import to_text

    if options.output is not None:
        check_output(options.output)
    model = load_model(options.model)
    x = _find_row(model, options)
    ranker = model.ranker
    # The training rows behind a prediction, where a ranker knows them.
    why = ranker.explain(x) if hasattr(ranker, "explain") else None
    ranks = ranker.predict(x)[0] if why is None else why.ranks
    say(options, f"predicted: {to_text(ranks[None], ranker.labels_)[0]}")
    labels = ranker.labels_[ranks.argsort(kind="stable")]
    pairs = list(pairwise(labels))
    if options.labels is not None:
        pairs = [(_find_label(model, options.labels[0]), _find_label(model, options.labels[1]))]
    compare = _compare(model, options, why is None or options.labels is not None)
    for place, pair in enumerate(pairs):
        if why is not None:
            say(options, str(why.pair(*pair)))
        if compare is not None and (why is None or place == 0):
            say(options, str(ranker.reasons(x, *pair, compare)))
    if why is not None:
        rows = why.rows if options.labels is None else why.pair(*pairs[0]).rows
        rows = rows.assign(row=rows["row"] + 1)
        _show_rows(rows, options)
        write_scores(options, rows)


def _compare(model: Any, options: Options, needed: bool) -> Any:
    """Rows to compare with; where they are not needed, None if there are none."""
    from moreplr.cli.problems import cell_reader, open_source
    from moreplr.tables.formats import STREAM

    source = options.table if options.compare is None else options.compare
    if source == STREAM and not needed:
        return None
    if source == STREAM:
        raise ValueError("a table from standard input is read once: give rows with --compare")
    with open_source(source, options) as table:
        columns = model.columns(table.columns, table.name)
        for chunk in table.chunks:
            if len(chunk) < 2 and not needed:
                return None
            some = chunk.head(_COMPARED)
            return model.prepare(some, columns, cell_reader(table, options))
    raise ValueError(f"{source} has no rows to compare with")


def _show_rows(rows: Any, options: Options) -> None:
    import sys

    from moreplr.cli.tables import say_table

    shown = rows.head(max(options.rows, 0))
    if len(shown):
        say_table(options, shown)
        if len(shown) < len(rows):
            print(f"and {len(rows) - len(shown):,} more training rows", file=sys.stderr)


def _find_row(model: Any, options: Options) -> Any:
    from moreplr.cli.problems import cell_reader, open_source

    if options.row < 1:
        raise ValueError(f"--row counts from 1, got {options.row}")
    with open_source(options.table, options) as table:
        columns = model.columns(table.columns, table.name)
        done = 0
        for chunk in table.chunks:
            if options.row <= done + len(chunk):
                one = chunk.iloc[[options.row - done - 1]]
                return model.prepare(one, columns, cell_reader(table, options, options.row))
            done += len(chunk)
    raise ValueError(f"{table.name} has {done:,} rows, there is no row {options.row}")


def _find_label(model: Any, name: str) -> Any:
    from moreplr.rankings._cells import shorten

    for label in model.ranker.labels_:
        if str(label) == name:
            return label
    raise ValueError(f"{model.name} has no label {name!r}; its labels are {shorten(model.labels)}")
