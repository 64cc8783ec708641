"""Learn to rank from a table, and save the model.

Every row holds features and a ranking: a column of positions for each label (1 is best, equal is
tied, empty is not ranked), or one column of texts such as 'b > a ~ c'. All other columns are
features: numbers or texts, with gaps.

Examples:
  moreplr fit people.csv --labels 'rank_*' -o people.moreplr
  moreplr fit people.csv --labels tea milk water --ignore name -o people.moreplr
  moreplr fit people.csv --ranking-column ranking -o people.moreplr
  moreplr fit stars.csv --labels 5 --ratings --unranked 0 -o stars.moreplr
  moreplr fit people.csv --labels 'rank_*' --ranker more --set layer=epsilon -o people.moreplr
  moreplr fit people.csv --labels 'rank_*' --ranker auto --set time_budget=60 -o people.moreplr
  zcat people.csv.gz | moreplr fit - --labels 'rank_*' -o people.moreplr
"""

from __future__ import annotations

import sys
from typing import Any

from moreplr.cli.choosing import ranker_options
from moreplr.cli.declaring import Options, command, file_option
from moreplr.cli.options import column_options, data_option, table_argument


@command(help=__doc__)
@table_argument
@file_option("-o", "--output", required=True, help="the model; - for standard output")
@ranker_options
@column_options
@data_option
def fit(options: Options) -> None:
    """Fit and save."""
    from moreplr._progress import Progress
    from moreplr.cli.choosing import ranker_from
    from moreplr.cli.models import save_model
    from moreplr.cli.problems import load_to_learn
    from moreplr.cli.writing import check_output
    from moreplr.rankers.table import TableRanker, vectorizer_for

    check_output(options.output)
    ranker = ranker_from(options, options.ranker, options.set)
    data = load_to_learn(options.table, options)
    model = TableRanker(ranker, vectorizer_for(ranker, data.missing_codes))
    with Progress(f"fitting {options.ranker}"):
        model.fit(data.X, data.Y, data.sample_weight)
        save_model(model, options.output)
    _print_leaderboard(model.ranker_)
    print(_summary(options, data, model), file=sys.stderr)


def _print_leaderboard(ranker: Any) -> None:
    """The scores of a mixture's members."""
    from moreplr.cli.tables import print_table

    if hasattr(ranker, "leaderboard_"):
        print_table(ranker.leaderboard_, sys.stderr)
        print(ranker.summary_, file=sys.stderr)


def _summary(options: Options, data: Any, model: Any) -> str:
    from collections import Counter

    from moreplr.rankings._cells import count, shorten

    found = Counter(model.vectorizer_.kinds_.values())
    kinds = [count(found[kind], kind) for kind in ("number", "date", "text") if found[kind]]
    kinds += [f"{found['category']} categorical"] * (found["category"] > 0)
    unused = found["identifier"] + found["empty"]
    features = ", ".join([*kinds, *[f"{unused} left out"] * (unused > 0)])
    return (
        f"moreplr: {options.output}: {options.ranker} of {count(len(data.X), 'row')}, "
        f"{count(data.X.shape[1], 'feature')} ({features}) and "
        f"{count(data.Y.shape[1], 'label')} ({shorten(data.Y, 8)}); "
        "`moreplr evaluate` with the same options estimates how good it is"
    )
