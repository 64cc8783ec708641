"""
The first ten minutes: from a table to rankings one can trust
=============================================================

A café asks its guests for their favourite drinks. Some rank all, some tie two, some leave one out.
Can it tell from age, town and weather what the next guest would like? The table is made here, so
that we know what there is to find.
"""

# %%
# A table as people have it
# -------------------------
# Guests over 50 prefer tea, younger ones cola, and when it is hot everybody wants water first.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from moreplr import RankingForest, TableRanker
from moreplr.datasets import from_csv
from moreplr.evaluation import evaluate
from moreplr.plotting import ImportancesDisplay, PairsDisplay

rng = np.random.default_rng(0)
n = 240
guests = pd.DataFrame(
    {
        "age": rng.integers(16, 85, n),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        "visit": pd.date_range("2024-03-01", periods=n, freq="D"),
        "degrees": rng.normal(20, 7, n).round(1),
    }
)
liking = pd.DataFrame(
    {
        "tea": (guests["age"] - 50) / 15,
        "cola": (50 - guests["age"]) / 15,
        "water": np.where(guests["degrees"] > 25, 4.0, 0.0),
        "milk": -0.5,
    }
)
liking += rng.normal(0, 0.7, liking.shape)
ranks = liking.rank(axis=1, ascending=False).astype(int)
ranks[ranks == 4] = 3  # nobody tells the last two apart
ranks = ranks.mask(rng.random(ranks.shape) < 0.1)  # and some did not answer
table = guests.join(ranks.add_prefix("rank_"))
table.head()

# %%
# Read it
# -------
# ``from_csv`` takes a file or a frame. It says what it understood: look at the first row and at
# the consensus, which would be upside down if ratings had been read as places.

data = from_csv(table, "rank_*", drop_prefix="rank_", name="guests")
print(data.overview())

# %%
# Learn and predict
# -----------------
# ``TableRanker`` takes columns of any kind. Here it learns from the first 200 guests.

ranker = TableRanker(RankingForest(random_state=0)).fit(data.X[:200], data.Y[:200])
new = data.X[200:]
pd.DataFrame(
    {"age": new["age"], "degrees": new["degrees"], "predicted": ranker.predict_text(new)}
).head()

# %%
# Is it any good?
# ---------------
# Cross-validation beside the consensus, the one ranking that agrees best with all guests. If the
# ranker were not better, the features would tell nothing.

found = evaluate(data, n_folds=5, n_repeats=1)
print(found)

# %%
# τ_X in plain words: of 100 pairs of drinks, 50 · (1 + τ_X) are put right. A page about all of
# this, to send to the café, is written by ``found.report("guests.html")``.

# %%
# Why?
# ----
# Which features of this guest speak for the first drink before the second, and what would turn the
# two around?

guest = new.iloc[[0]]
first, second = ranker.predict_scores(guest)[0].argsort()[::-1][:2]
print(ranker.reasons(guest, ranker.labels_[first], ranker.labels_[second], data.X[:100]))

# %%
# How sure is it?
# ---------------
# The probabilities of each pair of drinks for this guest, and which columns count at all.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
PairsDisplay.from_estimator(ranker, guest, ax=left)
ImportancesDisplay.from_estimator(ranker, ax=right)
plt.show()

# %%
# Keep it
# -------
# ``moreplr.save(ranker, "guests.moreplr")`` writes a file that is opened without running any code.
# Everything above works on the command line, too: ``moreplr fit``, ``predict``, ``evaluate`` and
# ``explain``.
