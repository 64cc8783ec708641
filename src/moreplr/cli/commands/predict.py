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

from typing import Any

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
    from moreplr._progress import Progress
    from moreplr.cli.models import load_model
    from moreplr.cli.options import table_options
    from moreplr.cli.problems import match_columns
    from moreplr.cli.writing import check_output, open_writer
    from moreplr.tables.cells import Reader
    from moreplr.tables.reading import open_table

    what = [f"--{name}" for name in ("text", "pairs", "scores") if getattr(options, name)]
    if len(what) > 1:
        raise click.UsageError(f"{what[0]} and {what[1]} contradict each other: say one")
    if options.model == options.table == "-":
        raise ValueError("model and table can't both come from standard input")
    check_output(options.output)
    model = load_model(options.model, options.jobs)
    names = ("n_buckets", "top", "total_order")
    given = {n: getattr(options, n) for n in names if getattr(options, n) is not None}
    kind = next((name for name in ("text", "pairs", "scores") if getattr(options, name)), "ranks")
    output = _Output(model, given, kind)
    with open_table(options.table, **table_options(options)) as table:
        columns = model.columns(table.columns, table.name)
        keep = match_columns(options.keep, table.columns, table.name, "--keep")
        output.check_names(keep)
        with (
            open_writer(options.output, safe_cells=options.safe_cells) as writer,
            Progress("predicting", unit="rows") as bar,
        ):
            done = 0
            for chunk in table.chunks:
                reader = Reader(table.name, options.gaps, options.decimal, done + 1)
                X = model.prepare(chunk, columns, reader)
                for frame in output.frames(X, chunk[keep], done + 1):
                    writer.write(frame)
                done += len(chunk)
                bar.advance(len(chunk))
            if not done:
                writer.write(output.empty(keep))


class _Output:
    """What is written of predicted rows: ranks, scores, texts or pairs."""

    def __init__(self, model: Any, given: dict[str, Any], kind: str) -> None:
        if kind in ("pairs", "scores"):
            if given:
                option = next(iter(given)).replace("_", "-")
                raise ValueError(f"--{option} says how to rank; --{kind} does not rank")
            said = "pair probabilities" if kind == "pairs" else "scores"
            model.check_has(f"predict_{kind}", said)
        self._model, self._given, self._kind = model, given, kind
        self._names = list(model.labels)
        if kind == "text":
            self._names = ["ranking"]
        elif kind == "pairs":
            self._names = ["row", "first", "second", "precedes", "tied", "follows"]

    def check_names(self, keep: list[str]) -> None:
        """Refuse copied columns that would be named as predicted ones."""
        both = [name for name in keep if name in self._names]
        if both:
            raise ValueError(
                f"--keep {both[0]!r}: a predicted column has the same name; rename it in the table"
            )

    def frames(self, X: Any, kept: Any, first_row: int) -> Any:
        """The rows to write for some prepared rows, a bounded number at a time."""
        import numpy as np
        import pandas as pd

        from moreplr.rankings import to_text

        if self._kind == "pairs":
            yield from self._pair_frames(X, kept, first_row)
            return
        ranks = None if self._kind == "scores" else self._model.ranks(X, self._given)
        if ranks is None:
            scores = np.asarray(self._model.ranker.predict_scores(X)).round(6)
            found = pd.DataFrame(scores, columns=pd.Index(self._names))
        elif self._kind == "text":
            found = pd.DataFrame({"ranking": to_text(ranks, self._model.labels)}, dtype=object)
        else:
            found = pd.DataFrame(ranks, columns=pd.Index(self._names)).astype("Int64")
        yield pd.concat([kept.reset_index(drop=True), found], axis=1)

    def empty(self, keep: list[str]) -> Any:
        """The header alone."""
        import pandas as pd

        return pd.DataFrame(columns=[*keep, *self._names])

    def _pair_frames(self, X: Any, kept: Any, first_row: int) -> Any:
        import numpy as np
        import pandas as pd

        labels = np.array(self._model.labels, dtype=object)
        i, j = np.triu_indices(len(labels), 1)
        at = 0
        for P, Q in self._model.pairs(X):
            n = len(P)
            rows = np.repeat(np.arange(at, at + n), len(i))
            values = [rows + first_row, np.tile(labels[i], n), np.tile(labels[j], n)]
            values += [M.ravel().round(6) for M in (P[:, i, j], Q[:, i, j], P[:, j, i])]
            found = pd.DataFrame(dict(zip(self._names, values, strict=True)))
            copied = kept.iloc[rows].reset_index(drop=True)
            yield pd.concat([copied, found], axis=1)
            at += n
