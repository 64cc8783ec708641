"""The tables of the page on field data, from the report of the plan `field`.

    python benchmarks/field_tables.py [benchmarks/results/field]

The first ranks the methods by the mean scores of the folds on each data set. The second has the
measures that decide in each group of data sets. Nothing is rounded before it is ranked.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

NAMES = {
    "Auto": "`AutoRanker`",
    "Forest": "`RankingForest`",
    "Boost": "`RankingBoost`",
    "kNN": "`NearestNeighborsRanker`",
    "BradleyTerry": "`BradleyTerryRanker`",
    "RPC (optimal)": "`PairwiseRanker`",
    "Tree": "`RankingTree`",
    "Dummy": "`DummyRanker`, the consensus",
}
SHOWN = ["Auto", "Forest", "Boost", "Dummy"]
GROUPS = [
    ("selection", "algorithm selection", "tau_x", "τ_X"),
    ("selection", "algorithm selection", "closed_gap", "gap to the best solver that is closed"),
    ("crops", "crop trials", "tau_x", "τ_X"),
    ("texts", "language models", "regret", "regret of the chosen model"),
    ("made_lr", "made label rankings", "tau_x", "τ_X"),
    ("made_plr", "made partial label rankings", "tau_x", "τ_X"),
]


def main(folder: str = "benchmarks/results/field") -> None:
    folds = pd.read_csv(Path(folder, "results.csv"))
    measures = pd.read_csv(Path(folder, "measures.csv"))
    print(ranked(folds[folds["status"] == "ok"], measures), by_group(measures), sep="\n\n")


def ranked(folds: pd.DataFrame, measures: pd.DataFrame) -> str:
    """Mean ranks over the data sets that all methods have done, and seconds of a fit."""
    by_set = {
        column: folds.pivot_table(column, "dataset", "method").dropna()
        for column in ("tau_x", "log_loss", "fit_seconds")
    }
    tau = by_set["tau_x"].rank(axis=1, ascending=False).mean()
    loss = by_set["log_loss"].rank(axis=1).mean()
    behind = measures.groupby("method")["behind"].sum()
    table = pd.DataFrame(
        {
            "mean rank by τ_X": tau.map("{:.2f}".format),
            "mean rank by log loss of pairs": loss.map("{:.2f}".format),
            "sets surely behind the consensus": behind.map("{:.0f}".format),
            "mean seconds of a fit": by_set["fit_seconds"].mean().map("{:.1f}".format),
        }
    ).loc[tau.sort_values().index]
    counts = folds.groupby("dataset")["fold"].nunique()
    done = " to ".join(map(str, sorted({counts.min(), counts.max()})))
    sets = f"{len(by_set['tau_x'])} data sets, {done} folds"
    return f"{sets}\n\n{as_text(table.rename(NAMES), 'ranker')}"


def by_group(measures: pd.DataFrame) -> str:
    """The measures that decide in each group."""
    rows = []
    for problem, group, column, name in GROUPS:
        part = measures[measures["problem"] == problem].set_index("method")
        scores = part[column].reindex(SHOWN).map("{:.3f}".format)
        rows.append({"group": f"{group}, {name}", "data sets": part["datasets"].max(), **scores})
    table = pd.DataFrame([{k: str(v) for k, v in row.items()} for row in rows])
    return as_text(table.set_index("group").rename(columns=NAMES), "group")


def as_text(table: pd.DataFrame, first: str) -> str:
    lines = [[first, *table.columns], ["---"] * (1 + table.shape[1])]
    lines += [[name, *row] for name, row in zip(table.index, table.to_numpy(), strict=True)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
