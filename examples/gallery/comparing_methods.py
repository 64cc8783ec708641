"""
Comparing methods: tests and a critical-difference diagram
===========================================================

Is one ranker better than another, or was it luck? An experiment runs every method on every fold
of several data sets, keeps the results in a SQLite file, and tests the mean ranks: Friedman's
test asks whether the methods differ at all, Holm's procedure which ones differ from the best.

The data are twelve **made** ranking problems: each label has a score, linear or bent in the
features, and rounded scores give ties. ``moreplr benchmark`` does the same from the command line,
see :doc:`/experiments`.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from moreplr.datasets import Dataset
from moreplr.experiments import Plan, friedman_holm, results, run
from moreplr.experiments.statistics import average_ranks, indistinct_groups
from moreplr.rankings import dense_ranks


def make_data(number):
    """A ranking problem: 120 rows, 3 to 6 labels."""
    rng = np.random.default_rng(number)
    labels = 3 + number % 4
    X = rng.normal(size=(120, 6))
    bent = np.hstack([X, np.abs(X), X[:, :3] * X[:, 3:]]) if number % 2 else X
    scores = bent @ rng.normal(size=(bent.shape[1], labels)) + rng.normal(0, 0.5, (120, labels))
    Y = dense_ranks(-np.round(scores / (1 + number % 3)))
    names = [f"label {i}" for i in range(labels)]
    return Dataset(f"made {number:02}", "plr", pd.DataFrame(X), pd.DataFrame(Y, columns=names))


# %%
# The plan: methods by the paper's short names, three folds, small forests to be quick. What is in
# the store already is not run again, so the same call goes on after an interruption.

plan = Plan(
    [make_data(number) for number in range(12)],
    ["{ST,Native}-RR", "ST-{PI,EPS}", "RPC{, (optimal)}", "{Forest,kNN,Dummy}"],
    folds=3,
    repetitions=1,
    trees=30,
    forest="moreplr",
)
with tempfile.TemporaryDirectory() as folder:
    store = Path(folder) / "results.sqlite"
    print(run(plan, store, jobs=0))
    frame = results(store)
scores = frame.pivot_table(index="dataset", columns="method", values="tau_x")
scores.round(3)

# %%
# Friedman and Holm
# -----------------
# Ranks are averaged over the data sets. Each method is compared with the one of the best rank;
# `holm_p` are the adjusted p-values, `effect` is 1 where the best one always wins.

tests = friedman_holm(scores)
print(f"Friedman: p = {tests.friedman.p_value:.2g}; best rank: {tests.control}")
tests.table[["rank", "z", "holm_p", "win", "tie", "loss", "effect"]].round(4)

# %%
# Critical-difference diagram
# ---------------------------
# A dot is a mean rank. A bar joins methods of which no two differ at the 5 % level, all pairs
# compared by Holm's procedure. The report of ``moreplr report`` has this diagram, too.

ranks = average_ranks(scores).sort_values()
groups = indistinct_groups(scores)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
height = {name: place for place, name in enumerate(ranks.index)}
ax.hlines(list(height.values()), 1, ranks, color="0.85")
ax.plot(ranks, list(height.values()), "o", markersize=8)
for place, group in enumerate(groups):
    at = len(ranks) + 0.25 + 0.3 * place
    ax.vlines(at, height[group[0]] - 0.2, height[group[-1]] + 0.2, color="black", linewidth=3)
ax.set(
    yticks=list(height.values()),
    yticklabels=list(height),
    xticks=range(1, len(ranks) + 1),
    xlabel="mean rank (1 is best)",
    xlim=(1, len(ranks) + 0.6 + 0.3 * len(groups)),
)
ax.invert_yaxis()
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()
