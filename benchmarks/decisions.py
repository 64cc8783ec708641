"""What a choice by a ranker is worth: the table of three decisions, from the plan `field`.

    python benchmarks/decisions.py [benchmarks/results/field]

Means of the folds on each data set, then of the data sets. Beside each, on how many data sets the
choice is better than that of the consensus, which makes the same choice for everybody.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

SHOWN = {"Dummy": "the consensus", "BradleyTerry": "linear", "Forest": "forest", "Auto": "mixture"}
# Where a decision is made, what it is judged by, and whether more of that is better.
DECISIONS = [
    ("a solver for an instance: gap closed", "aslib_", "closed_gap", True),
    ("the same: PAR10 in seconds", "aslib_", "par10", False),
    ("a language model for a prompt: regret", "llm_", "regret", False),
    ("a bread wheat for a farm: best of three right", "tricot_breadwheat", "top_one", True),
    ("a cassava for a farm: best of three right", "tricot_cassava", "top_one", True),
]


def main(folder: str = "benchmarks/results/field") -> None:
    folds = pd.read_csv(Path(folder, "results.csv"))
    folds = folds[(folds["status"] == "ok") & folds["method"].isin(SHOWN)]
    lines = [["choice", "data sets", *SHOWN.values()]]
    lines.append(["---"] * len(lines[0]))
    for name, prefix, measure, more in DECISIONS:
        own = folds[folds["dataset"].str.startswith(prefix)]
        lines.append([name, *row(own.pivot_table(measure, "dataset", "method"), more)])
    print("\n".join("| " + " | ".join(line) + " |" for line in lines))


def row(means: pd.DataFrame, more: bool) -> list[str]:
    """The number of data sets; each method's mean, and where it beats the consensus."""
    cells = [str(len(means))]
    for method in SHOWN:
        value = means[method].mean()
        gain = (means[method] - means["Dummy"]) * (1 if more else -1)
        text = f"{value:,.0f}" if value > 100 else f"{value:.3f}"
        cells.append(text if method == "Dummy" else f"{text} ({(gain > 0).sum()})")
    return cells


if __name__ == "__main__":
    main(*sys.argv[1:])
