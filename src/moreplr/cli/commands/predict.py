"""Predict rankings of new rows with a saved model.

Columns are found by name: others are ignored, labels may be there. Rows are read, predicted and
written a chunk at a time, so that a table of any length takes the same memory. The output has a
column of ranks for each label, 1 for the best, equal for tied ones.

Examples:
  moreplr predict people.moreplr new.csv -o ranks.csv
  moreplr predict people.moreplr new.csv --text --keep name
  moreplr predict people.moreplr new.csv --pairs -o pairs.parquet
  moreplr predict people.moreplr new.csv --top 3 --total-order
  zcat new.csv.gz | moreplr predict people.moreplr - | head
"""

from __future__ import annotations

import click

from moreplr.cli.choosing import jobs_option
from moreplr.cli.declaring import FILE, Options, argument, command, file_option, several
from moreplr.cli.options import reading_options, table_argument


@command(help=__doc__)
@argument("model", type=FILE, about="what `moreplr fit` wrote; - for standard input")
@table_argument
@file_option(
    "-o",
    "--output",
    default="-",
    show_default="CSV to standard output",
    help="format by the name's ending",
)
@click.option("--text", is_flag=True, help="one column `ranking` of texts such as 'b > a ~ c'")
@click.option(
    "--pairs",
    is_flag=True,
    help="probabilities of each row and pair of labels: row (from 1), first, second, precedes, "
    "tied, follows",
)
@click.option(
    "--scores",
    is_flag=True,
    help="a score of each label, the greater the better: how many of the others it is expected "
    "to beat, or the utility of rankers that have one",
)
@several(
    "--keep",
    metavar="NAME",
    help="columns to copy, in front of the predicted ones; patterns too ('*' for all)",
)
@click.option(
    "--safe-cells",
    is_flag=True,
    help="put a quote before texts in CSV or Excel that a spreadsheet would run as a formula",
)
@click.option("--n-buckets", type=int, metavar="N", help="exactly this many buckets")
@click.option("--top", type=int, metavar="N", help="resolve the best N labels only")
@click.option("--total-order", is_flag=True, default=None, help="no ties")
@jobs_option
@reading_options
def predict(options: Options) -> None:
    """Predict chunk by chunk."""
    import pandas as pd

    from moreplr._progress import Progress
    from moreplr.cli.models import load_model
    from moreplr.cli.problems import cell_reader, match_columns, open_source
    from moreplr.cli.writing import check_output, open_writer

    kinds = [name for name in ("text", "pairs", "scores") if getattr(options, name)]
    if len(kinds) > 1:
        raise click.UsageError(f"--{kinds[0]} and --{kinds[1]} contradict each other: say one")
    if options.model == options.table == "-":
        raise ValueError("model and table can't both come from standard input")
    check_output(options.output)
    model = load_model(options.model, options.jobs)
    names = ("n_buckets", "top", "total_order")
    given = {n: getattr(options, n) for n in names if getattr(options, n) is not None}
    kind = kinds[0] if kinds else "ranks"
    if kind in ("pairs", "scores"):
        if given:
            option = next(iter(given)).replace("_", "-")
            raise ValueError(f"--{option} says how to rank; --{kind} does not rank")
        model.check_has(f"predict_{kind}", {"pairs": "pair probabilities"}.get(kind, kind))
    with open_source(options.table, options) as table:
        columns = model.columns(table.columns, table.name)
        keep = match_columns(options.keep, table.columns, table.name, "--keep")
        for name in keep:
            if name in model.header(kind):
                raise ValueError(
                    f"--keep {name!r}: a predicted column has the same name; rename it in the "
                    "table"
                )
        with (
            open_writer(options.output, safe_cells=options.safe_cells) as writer,
            Progress("predicting", unit="rows") as bar,
        ):
            done = 0
            for chunk in table.chunks:
                X = model.prepare(chunk, columns, cell_reader(table, options, done + 1))
                for frame in model.predict(kind, X, given, done):
                    kept = chunk[keep].iloc[frame.index - done].set_axis(frame.index)
                    writer.write(pd.concat([kept, frame], axis=1))
                done += len(chunk)
                bar.advance(len(chunk))
            if not done:
                writer.write(pd.DataFrame(columns=[*keep, *model.header(kind)]))
