"""The tables of the page on the paper's benchmark, from the report of the plan `paper`.

    python benchmarks/tables.py [benchmarks/results]

The first puts our run beside the paper's numbers, method by method: mean τ_X over all data sets,
published protocol, Chain and Native as published (-1 for a missing label). The second compares
RankingForest with all methods of the paper, as published and as run here, without and with what
the library adds: positions stretched as expected, RPC decoded for the expected τ_X, nearest
neighbours, single trees. What was run here is compared on the folds that all methods have, and
nothing is rounded, but for the paper's means, which have three digits: there ours are rounded,
too.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from moreplr.experiments.reporting.summary import published

FOREST = "Forest"
OTHERS = ("kNN", "Tree")
PUBLISHED = [f"{regressor}-{layer}" for regressor in ("ST", "Chain", "Native")
             for layer in ("RR", "PI", "EPS")] + ["RPC"]  # fmt: skip
CONDITIONS = [(0.0, "complete"), (0.3, "published"), (0.6, "published"), (0.3, "honest"),
              (0.6, "honest")]  # fmt: skip


def main(folder: str = "benchmarks/results") -> None:
    paper = pd.read_csv(Path(folder, "paper", "summary.csv"))
    folds = pd.read_csv(Path(folder, "paper", "results.csv.gz"))
    print(reproduction(paper), forest(paper, folds), sep="\n\n")


def reproduction(cells: pd.DataFrame) -> str:
    """Mean τ_X of the paper's methods, ours and theirs."""
    rows = [["method"] + [f"{p.upper()} {m:.0%}" for p in ("lr", "plr") for m in (0, 0.3, 0.6)]]
    for method in PUBLISHED:
        row = [method]
        for problem in ("lr", "plr"):
            for missing, protocol in CONDITIONS[:3]:
                name = method
                if missing and not method.startswith(("ST", "RPC")):
                    name += " (published)"
                own = select(cells, missing, protocol).dropna(subset="paper")
                own = own[(own["method"] == name) & (own["problem"] == problem)]
                row.append(f"{own['tau_x'].mean():.3f} ({own['paper'].mean():.3f})")
        rows.append(row)
    return markdown(rows)


def forest(cells: pd.DataFrame, folds: pd.DataFrame) -> str:
    """On how many data sets RankingForest is at the best of the others or above, and its rank."""
    rows = [["labels missing", "≥ best published", "≥ the paper's methods here",
             "≥ the library's others too", "against RPC (optimal)", "mean rank",
             "data sets with all", "next best"]]  # fmt: skip
    paper = published().groupby(["problem", "dataset", "missing"])["tau_x_mean"].max()
    for missing, protocol in CONDITIONS:
        own = select(cells[cells["method"] == FOREST], missing, protocol)
        own = own.set_index(["problem", "dataset"])["tau_x"]
        best = paper.xs(round(100 * missing), level="missing").reindex(own.index)
        compared = on_common_folds(select(folds, missing, protocol))
        methods = [name for name in compared if name != FOREST]
        plain = [
            name for name in methods
            if is_paper(name) and not name.endswith(("(expected)", "(optimal)"))
        ]  # fmt: skip
        whole = compared.dropna()
        ranks = whole.rank(axis=1, ascending=False).mean()
        others = ranks.drop(FOREST)
        rows.append(
            [
                f"{missing:.0%}" + (f", {protocol}" if missing else ""),
                "–" if protocol == "honest" else share(own.round(3) >= best),
                *(share(compared[FOREST] >= compared[m].max(axis=1)) for m in (plain, methods)),
                against(compared[FOREST] - compared["RPC (optimal)"]),
                f"{ranks[FOREST]:.1f} of {len(ranks)}",
                str(len(whole)),
                f"{others.idxmin()} {others.min():.1f}",
            ]
        )
    return markdown(rows)


def on_common_folds(folds: pd.DataFrame) -> pd.DataFrame:
    """Mean τ_X by data set and method over the folds that all methods of the data set have."""
    known = folds["method"].map(lambda name: name in (FOREST, *OTHERS) or is_paper(name))
    means = {}
    for name, own in folds[known & (folds["status"] == "ok")].groupby(["problem", "dataset"]):
        scores = own.pivot_table(
            index=["repetition", "fold"], columns="method", values="tau_x"
        ).dropna()
        if {FOREST, "RPC"} <= set(scores):
            means[name] = scores.mean()
    return pd.DataFrame(means).T


def against(gain: pd.Series) -> str:
    """The mean gain, and where there is a loss."""
    known = gain.dropna()
    text = f"{known.mean():+.3f}, behind on {share(known < 0)}"
    return text + (f" by up to {-known.min():.4f}" if (known < 0).any() else "")


def share(wins: pd.Series) -> str:
    return f"{int(wins.sum())} of {len(wins)}"


def is_paper(name: str) -> bool:
    """Whether a method is one of the paper's, in any of the ways to run it here."""
    return name.partition(" (")[0] in PUBLISHED


def select(cells: pd.DataFrame, missing: float, protocol: str) -> pd.DataFrame:
    return cells[(cells["missing"].sub(missing).abs() < 1e-9) & (cells["protocol"] == protocol)]


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
