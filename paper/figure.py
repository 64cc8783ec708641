"""Draw the figure of the paper from the committed results on field data: paper/field.png.

python paper/figure.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd

from moreplr.plotting import MeanRanksDisplay

HERE = Path(__file__).parent
NAMES = {
    "Auto": "AutoRanker",
    "Forest": "RankingForest",
    "Boost": "RankingBoost",
    "RPC (optimal)": "PairwiseRanker",
    "kNN": "NearestNeighborsRanker",
    "BradleyTerry": "BradleyTerryRanker",
    "Tree": "RankingTree",
    "Dummy": "consensus",
}


def main() -> None:
    mpl.use("agg")
    from matplotlib import pyplot

    folds = pd.read_csv(HERE.parent / "benchmarks" / "results" / "field" / "results.csv")
    folds = folds[folds["status"] == "ok"]
    figure, panels = pyplot.subplots(2, 1, figsize=(8, 6), layout="constrained")
    for panel, measure, sign in zip(panels, ("tau_x", "log_loss"), (1, -1), strict=True):
        scores = sign * folds.pivot_table(measure, "dataset", "method")[list(NAMES)].dropna()
        MeanRanksDisplay.from_predictions(scores.rename(columns=NAMES), ax=panel)
        name = {"tau_x": "$\\tau_X$", "log_loss": "log loss of pairs"}[measure]
        panel.set_title(f"mean rank by {name}, {len(scores)} data sets")
    figure.savefig(HERE / "field.png", dpi=150)


if __name__ == "__main__":
    main()
