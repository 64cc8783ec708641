"""This version beside the forest of 0.1.0, on the same folds of the paper's data sets.

    python benchmarks/since.py [benchmarks/results/paper]

`now.csv.gz` has the first repetition of `RankingForest` with all shares of missing labels: ten
folds, five of data sets with more than 3,000 rows, two of the letter data. It has the first two
folds of `AutoRanker` and `RankingBoost` on complete rankings, run with an earlier forest in the
mixture. All are from the plan `paper` with other methods and limits. `results.csv.gz` has the same
folds of `RankingForest` of 0.1.0. Printed are mean differences in τ_X over data sets, with their
standard errors, and the ratio of the seconds of all fits, of different days and machines:
`python benchmarks/since_cost.py` compares seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

FOLD = ["problem", "dataset", "missing", "protocol", "repetition", "fold"]


def main(folder: str = "benchmarks/results/paper") -> None:
    before = pd.read_csv(Path(folder, "results.csv.gz"))
    before = before[before["method"] == "Forest"][[*FOLD, "tau_x", "fit_seconds"]]
    both = pd.read_csv(Path(folder, "now.csv.gz")).merge(before, on=FOLD, suffixes=("", "_before"))
    both["gain"] = both["tau_x"] - both["tau_x_before"]
    for (method, missing, protocol), part in both.groupby(["method", "missing", "protocol"]):
        by_set = part.groupby(["problem", "dataset"])["gain"].mean()
        seconds = part["fit_seconds"].sum() / part["fit_seconds_before"].sum()
        print(
            f"{method:7} {missing:4.0%} {protocol:10} {len(by_set)} data sets  "
            f"{by_set.mean():+.4f} ± {by_set.sem():.4f} τ_X  {seconds:.2f} of the seconds"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
