"""Estimate how good a ranker is: by cross-validation, or of a saved model on new data.

The measure is tau_x, the rank correlation of Emond and Mason: 1 if every pair of labels is
ordered or tied as in truth, -1 if every pair is reversed. The consensus of the training rankings,
which does not look at the features, is shown beside it: a ranker that is not better has learned
nothing from them.

Without a model, the interval is the corrected resampled t interval of Nadeau and Bengio (2003)
over the folds of a repeated cross-validation. With one, it is a percentile bootstrap over rows, or
over the groups of --group.

Examples:
  moreplr evaluate people.csv --labels 'rank_*'
  moreplr evaluate people.csv --labels 'rank_*' --report people.html
  moreplr evaluate people.csv --labels 'rank_*' --ranker more --set layer=epsilon --folds 10
  moreplr evaluate people.csv --ranking-column ranking -o folds.csv
  moreplr evaluate new-people.csv --model people.moreplr
  moreplr evaluate iris
"""

from __future__ import annotations

import sys
from typing import Any

import click

from moreplr.cli.choosing import ranker_options
from moreplr.cli.declaring import FILE, Options, argument, command, file_option, together
from moreplr.cli.options import column_options, data_option

# Rankers of other kinds, which a report shows beside the one that is judged.
_BESIDE = ("forest", "linear", "neighbors")


def _check_confidence(context: Any, option: Any, level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"--confidence must lie between 0 and 1, got {level:g}")
    return level


# How to cross-validate, and where scores go.
fold_options = together(
    click.option("--folds", default=5, metavar="N", help="parts of the table"),
    click.option("--repeats", default=2, metavar="N", help="of all folds"),
    click.option(
        "--confidence",
        default=0.95,
        metavar="SHARE",
        callback=_check_confidence,
        help="of the intervals",
    ),
    file_option("-o", "--output", help="write each score (CSV and so on)"),
)


@command(help=__doc__)
@argument("table", type=FILE, about="with labels (- for standard input), or a data set")
@file_option("--model", help="a saved model, instead of --ranker")
@ranker_options
@fold_options
@file_option(
    "--report",
    help="write a page (HTML): what was read, this ranker beside others, pairs of labels, which "
    "columns count, and some predictions with reasons",
)
@column_options
@data_option
def evaluate(options: Options) -> None:
    """Evaluate a ranker, or a saved model."""
    from moreplr.cli.writing import check_output

    for path in (options.output, options.report):
        if path is not None:
            check_output(path)
    if options.report is not None and not options.report.lower().endswith((".html", ".htm")):
        raise ValueError(f"a report is a web page, such as report.html, got {options.report!r}")
    if options.model is not None:
        _run_model(options)
    else:
        _run_folds(options)


def _run_folds(options: Options) -> None:
    from moreplr._progress import Progress
    from moreplr.cli.choosing import ranker_from
    from moreplr.cli.problems import load_to_learn
    from moreplr.cli.resampling import cross_validate
    from moreplr.cli.tables import say, write_scores
    from moreplr.evaluation import Evaluation
    from moreplr.evaluation._unseen import Unseen
    from moreplr.evaluation._words import CONSENSUS

    beside = [] if options.report is None else [n for n in _BESIDE if n != options.ranker]
    names = dict.fromkeys([options.ranker, *beside, CONSENSUS])
    rankers = {
        name: ranker_from(options, name, options.set if name == options.ranker else ())
        for name in names
    }
    data = load_to_learn(options.table, options)
    unseen = Unseen(data, options.ranker, options.random_state)
    total = options.folds * options.repeats * len(rankers)
    with Progress("evaluating", total, "fits") as progress:
        watch = None if options.report is None else unseen
        scores = cross_validate(data, rankers, options, progress, watch)
    found = Evaluation(data, scores, unseen, options.confidence)
    say(options, str(found))
    write_scores(options, scores)
    if options.report is not None:
        print(found.report(options.report), file=sys.stderr)


def _run_model(options: Options) -> None:
    from moreplr._progress import Progress
    from moreplr.cli.models import load_model
    from moreplr.cli.options import read_options
    from moreplr.cli.problems import cell_reader, note, open_source
    from moreplr.cli.tables import write_scores
    from moreplr.model_selection import score_rows
    from moreplr.tables.shapes import shape_table

    if options.set or options.ranker != "forest":
        raise ValueError("--model is a fitted ranker: leave out --ranker and --set")
    if options.report is not None:
        raise ValueError("--report is of cross-validation: leave out --model")
    model = load_model(options.model, options.jobs)
    with open_source(options.table, options) as table:
        frame = table.read()
    reader = cell_reader(table, options)
    shaped = shape_table(frame, reader, read_options(options), model.labels)
    for text in shaped.notes:
        note(f"{table.name}: {text}")
    columns = model.columns(list(map(str, shaped.X)), table.name)
    with Progress("predicting"):
        ranks = model.ranker.predict(model.prepare(shaped.X, columns, reader))
    rows = score_rows(shaped.Y.to_numpy(dtype=float), ranks)
    rows.insert(0, "row", range(1, len(rows) + 1))
    _print_rows(options, table.name, rows, shaped)
    write_scores(options, rows)


def _print_rows(options: Options, name: str, rows: Any, shaped: Any) -> None:
    import numpy as np

    from moreplr.cli.tables import say
    from moreplr.model_selection import BOOTSTRAP, bootstrap
    from moreplr.rankings._cells import count

    weight = np.ones(len(rows)) if shaped.sample_weight is None else shaped.sample_weight
    scored = (rows["tau_x"].notna() & (weight > 0)).to_numpy()
    if not scored.any():
        raise ValueError(f"{name}: no row ranks two labels, so that nothing can be scored")
    found = bootstrap(
        rows["tau_x"][scored],
        options.confidence,
        options.random_state,
        weight=weight[scored],
        groups=None if shaped.groups is None else shaped.groups[scored],
    )
    top = np.average(rows["top_one"][scored], weights=weight[scored])
    mean = "mean" if shaped.sample_weight is None else "weighted mean"
    what = BOOTSTRAP.format("rows" if shaped.groups is None else "groups")
    say(options, f"{name}: {count(len(rows), 'row')}, {scored.sum():,} of them scored")
    say(options, f"tau_x {found}, best label right in {top:.0%}")
    say(options, f"{mean} over rows with a {100 * options.confidence:g}% interval: {what}")
