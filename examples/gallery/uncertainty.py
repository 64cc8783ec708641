"""
Uncertainty: undecided pairs, reasons, intervals
================================================

A ranking looks equally sure of all it says. Three tools tell more, here on the bundled wine data
(partial rankings made from scikit-learn's data set):

- :meth:`moreplr.RankingForest.predict_set` leaves pairs of labels undecided, so that only a wanted
  share of the true relations is missed;
- :meth:`moreplr.RankingForest.explain` says which training rows are behind a prediction;
- :class:`moreplr.regressors.Conformal` gives each label's position an interval of known coverage.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, train_test_split

from moreplr import MORERanker, RankingForest
from moreplr.datasets import load
from moreplr.encoders import encode
from moreplr.regressors import Conformal

X, Y = load("wine")
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=0.4, random_state=0)
forest = RankingForest(random_state=0).fit(X_train, Y_train)

# %%
# What is sure, and what is not
# -----------------------------
# At ``alpha=0.05`` some wines get a full order, others only a part of one. A pair that is not
# listed is undecided: more than one of ≻, ∼ and ≺ is still possible.

shown = X_test.iloc[:6]
sure = forest.predict_set(shown, alpha=0.05).to_text()
for text, said in zip(forest.predict_text(shown), sure, strict=True):
    print(f"{text}   sure: {', '.join(said)}")

# %%
# Does it keep its word? Over five folds, the share of the true relations that are not in the sets
# should stay near or below α. What is paid for it are undecided pairs.

alphas = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2]
missed = {alpha: [] for alpha in alphas}
decided = {alpha: [] for alpha in alphas}
first, second = np.triu_indices(Y.shape[1], 1)
for train, test in KFold(5, shuffle=True, random_state=0).split(X):
    model = RankingForest(random_state=0).fit(X.iloc[train], Y.iloc[train])
    for alpha in alphas:
        sets = model.predict_set(X.iloc[test], alpha)
        missed[alpha] += list(1 - sets.covers(Y.iloc[test].to_numpy()))
        decided[alpha] += list(sets.decided[:, first, second].mean(axis=1))
table = pd.DataFrame(
    {
        "missed": {alpha: np.mean(values) for alpha, values in missed.items()},
        "pairs decided": {alpha: np.mean(values) for alpha, values in decided.items()},
    }
).rename_axis("α")
table.round(3)

# %%

fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.plot(alphas, alphas, color="0.7", linestyle="--", label="α, the share allowed")
ax.plot(alphas, table["missed"], marker="o", label="true relations missed")
ax.plot(alphas, 1 - table["pairs decided"], marker="o", label="pairs left undecided")
ax.set(xlabel="α", ylabel="share of pairs")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Why this ranking?
# -----------------
# The training rows that share leaves with a wine vote on every pair. Ask for the wine whose
# sets leave most open.

open_pairs = (~forest.predict_set(X_test, 0.05).decided).sum(axis=(1, 2))
why = forest.explain(X_test.iloc[int(open_pairs.argmax())])
print(why)

# %%
# The rows behind it, the weightiest first:

why.rows.head(5).round(3)

# %%
# Intervals for positions
# -----------------------
# The paper's prediction-interval layer ties labels whose intervals overlap. With a forest the
# intervals are standard errors of its mean, far narrower than the spread of true positions.
# `Conformal` measures errors on rows held out, so that an interval covers a label's position with
# the wanted probability.

regressors = {"forest": "single_target", "conformal": Conformal(coverage=0.9, random_state=0)}
rows = {}
for name, regressor in regressors.items():
    ranker = MORERanker("modified", regressor, "prediction_interval", random_state=0)
    ranker.fit(X_train, Y_train)
    positions, half_widths = ranker.predict_outputs(X_test)
    true = encode(Y_test, "modified")
    rows[name] = {
        "true positions covered": (np.abs(positions - true) <= half_widths + 1e-9).mean(),
        "mean half-width": half_widths.mean(),
        "mean buckets": ranker.predict(X_test).max(axis=1).mean(),
        "τ_X": ranker.score(X_test, Y_test),
    }
pd.DataFrame(rows).T.round(3)

# %%
# Wide intervals tie nearly everything: an honest answer to "where does this label stand?" is a
# poor layer for τ_X. Undecided pairs say more.
