"""
Pictures of a ranker
====================

A ranker is fitted on half of the wine data. Seven pictures say what it predicts, how far that can
be trusted, what it looks at, and how it compares.
"""

# %%
# What it predicts
# ----------------
# A box is a bucket: labels in one box are tied. The best stands first.

from importlib.resources import files

import pandas as pd

from moreplr import BradleyTerryRanker, NearestNeighborsRanker, RankingForest, RankingTree
from moreplr.datasets import load
from moreplr.plotting import (
    ImportancesDisplay,
    LearningCurveDisplay,
    MeanRanksDisplay,
    PairsDisplay,
    RankingDisplay,
    TieCalibrationDisplay,
    UtilitiesDisplay,
)

X, Y = load("wine")
train, test = slice(0, None, 2), slice(1, None, 2)
forest = RankingForest(random_state=0).fit(X[train], Y[train])
RankingDisplay.from_estimator(forest, X[test].iloc[25:33])

# %%
# How sure it is
# --------------
# The share of each cell is how probable it is that the label of the row stands before that of the
# column. Here for one row; for several, the mean is drawn.

PairsDisplay.from_estimator(forest, X[test].iloc[[30]])

# %%
# Whether ties come true as often as predicted: on the diagonal they do.

TieCalibrationDisplay.from_estimator(forest, X[test], Y[test], n_bins=6)

# %%
# What it looks at
# ----------------
# Importances from the trees, without new rows; or, for any ranker, the τ_X that is lost when a
# column is shuffled.

ImportancesDisplay.from_estimator(forest)

# %%
# How labels stand without features
# ---------------------------------
# A Bradley–Terry model of the rankings alone, with 95 % confidence intervals.

consensus = BradleyTerryRanker(standard_errors="rows").fit([[0.0]] * len(Y), Y)
UtilitiesDisplay.from_estimator(consensus)

# %%
# Would more rows help?
# ---------------------

tree = LearningCurveDisplay.from_estimator(RankingTree(random_state=0), X, Y, label="tree")
LearningCurveDisplay.from_estimator(NearestNeighborsRanker(), X, Y, label="neighbors", ax=tree.ax_)

# %%
# Methods on many data sets
# -------------------------
# Mean ranks of the paper's methods on complete rankings, from its own table. A bar joins methods
# that can't be told apart.

with files("moreplr.experiments").joinpath("published.csv").open(encoding="utf-8") as file:
    published = pd.read_csv(file)
complete = published[(published["problem"] == "plr") & (published["missing"] == 0)]
scores = complete.pivot(index="dataset", columns="method", values="tau_x_mean").dropna()
MeanRanksDisplay.from_predictions(scores)
