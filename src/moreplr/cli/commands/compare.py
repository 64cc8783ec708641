"""Compare several rankers on one or more tables, and test their differences.

All rankers see the same splits. On one table, every pair of rankers is compared by the corrected
resampled t-test of Nadeau and Bengio (2003), wins, ties and losses counted over splits. On
several, mean scores are compared by Friedman's test, and each ranker with the best one by its
mean rank, wins, ties and losses counted over tables. All p-values of a table are adjusted by
Holm's procedure.

A ranker's parameters follow its name: forest:n_estimators=50,min_samples=4

Examples:
  moreplr compare people.csv --labels 'rank_*'
  moreplr compare people.csv --labels 'rank_*' --rankers forest forest:n_estimators=500 more
  moreplr compare iris wine lr/iris --rankers forest neighbors tree --repeats 1
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

from moreplr.cli.choosing import RANKERS, RIVALS, run_options
from moreplr.cli.commands.evaluate import fold_options
from moreplr.cli.declaring import FILE, Options, argument, command, several
from moreplr.cli.options import column_options, data_option

_DEFAULT = ("forest", "more", "pairwise", "neighbors", "tree", "dummy")
_FEW_TABLES = 6


@command(help=__doc__)
@argument("tables", nargs=-1, required=True, type=FILE, about="with labels, or data sets")
@several(
    "--rankers",
    default=_DEFAULT,
    metavar="NAME",
    help=f"{', '.join(RANKERS | RIVALS)}, with parameters",
)
@run_options
@fold_options
@column_options
@data_option
def compare(options: Options) -> None:
    """Cross-validate all rankers on all tables and test their differences."""
    import pandas as pd

    from moreplr._progress import Progress
    from moreplr.cli.choosing import ranker_from
    from moreplr.cli.problems import load_to_learn
    from moreplr.cli.resampling import cross_validate
    from moreplr.cli.tables import write_scores
    from moreplr.cli.writing import check_output

    if options.output is not None:
        check_output(options.output)
    names = list(dict.fromkeys(options.rankers))
    if len(names) < 2:
        raise ValueError("give two or more rankers to compare: --rankers forest more")
    rankers = {name: ranker_from(options, name) for name in names}
    problems = [load_to_learn(table, options, notes_only=True) for table in options.tables]
    twice = [name for name, times in Counter(data.name for data in problems).items() if times > 1]
    if twice:
        raise ValueError(f"two tables are named {twice[0]!r}; their names must differ")
    total = options.folds * options.repeats * len(rankers) * len(problems)
    with Progress("comparing", total, "fits") as progress:
        parts = [cross_validate(data, rankers, options, progress) for data in problems]
    scores = pd.concat(parts, ignore_index=True)
    if len(problems) == 1:
        _print_one(options, problems[0], scores)
    else:
        _print_several(options, scores)
    write_scores(options, scores)


def _print_one(options: Options, data: Any, scores: Any) -> None:
    import pandas as pd

    from moreplr.cli.tables import say, say_table
    from moreplr.evaluation._words import describe, folds
    from moreplr.experiments.statistics import holm, win_tie_loss
    from moreplr.model_selection import CORRECTED, by_split, corrected_t, ratio_of_rows

    wide, ratio = by_split(scores), ratio_of_rows(scores)
    wide = wide[wide.mean().sort_values(ascending=False, kind="stable").index]
    means = []
    for name in wide:
        found = corrected_t(wide[name], ratio, options.confidence)
        own = scores[scores["ranker"] == name]
        means.append((name, *_three(found), own["top_one"].mean(), own["fit_seconds"].mean()))
    columns = ["ranker", "tau_x", "low", "high", "top_one", "fit seconds"]
    say(options, describe(data) + "\n")
    say_table(options, pd.DataFrame(means, columns=columns))
    pairs = []
    for first, second in combinations(wide, 2):
        found = corrected_t(wide[first] - wide[second], ratio, options.confidence, 2)
        counts = "/".join(map(str, win_tie_loss(wide[first], wide[second]).values()))
        pairs.append((first, second, *_three(found), counts, found.p_value))
    columns = ["first", "second", "difference", "low", "high", "win/tie/loss", "p"]
    tests = pd.DataFrame(pairs, columns=columns)
    tests["p (Holm)"] = holm(tests["p"])
    say(options)
    say_table(options, tests)
    say(
        options,
        f"\nover {folds(scores)}; low to high is the "
        f"{100 * options.confidence:g}% {CORRECTED}; p is of the t-test that belongs to it",
    )


def _print_several(options: Options, scores: Any) -> None:
    from moreplr.cli.problems import note
    from moreplr.cli.tables import say, say_table
    from moreplr.evaluation._words import folds
    from moreplr.experiments.statistics import friedman_holm

    wide = scores.pivot_table(index="data", columns="ranker", values="tau_x", sort=False)
    found = friedman_holm(wide)
    table = found.table
    shown = wide[table.index].reset_index()
    shown.columns.name = None
    say_table(options, shown)
    say(options)
    counts = [
        "" if name == found.control else f"{int(row.win)}/{int(row.tie)}/{int(row.loss)}"
        for name, row in table.iterrows()
    ]
    tests = table[["rank", "p_value", "holm_p"]].rename_axis("ranker").reset_index()
    tests.columns = ["ranker", "mean rank", "p", "p (Holm)"]
    tests.insert(2, f"win/tie/loss of {found.control}", counts)
    say_table(options, tests)
    say(
        options,
        f"\nmean tau_x over {folds(scores)}; Friedman's "
        f"test that all are equal: p = {found.friedman.p_value:.3g}; p of each against "
        f"{found.control} by mean ranks",
    )
    if len(wide) < _FEW_TABLES:
        note(f"{len(wide)} tables are few: such tests can hardly find a difference")


def _three(found: Any) -> tuple[float, float, float]:
    return found.mean, found.low, found.high
