"""
Language models: the cheapest that is good enough
==================================================

Judges compare the answers of a few models to a prompt. They often find two as good as each
other, and nobody compares all models on every prompt: rankings with ties and gaps. A ranker
learns from them which models come first for a *new* prompt. Every prompt can then go to the
cheapest model of its best bucket.

**The data are made up**: models, prices, prompts and judgements come from the few lines below,
which say how. They are no statement about any real model.
"""

# %%
# Five models. Each has a strength for each kind of prompt, and a price.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from moreplr import DummyRanker, RankingForest
from moreplr.metrics import tau_x_score, top_one_score
from moreplr.rankings import dense_ranks, to_text

KINDS = ["chat", "code", "maths", "translation"]
MODELS = pd.DataFrame(
    {
        "Large": [8.5, 8.2, 8.4, 8.3, 10.0],
        "Medium": [8.2, 7.0, 6.6, 7.6, 3.0],
        "Small": [7.4, 5.0, 4.4, 6.0, 0.5],
        "Coder": [5.5, 8.4, 6.8, 4.0, 2.0],
        "Polyglot": [7.0, 4.5, 4.2, 8.4, 1.5],
    },
    index=[*KINDS, "price"],
)
rng = np.random.default_rng(0)
MODELS.round(1)

# %%
# A prompt has a kind, a length and a difficulty. Difficult prompts cost the small models most;
# the difficulty itself is not known, only that longer prompts tend to be harder.


def make_prompts(n):
    """Features of prompts, and the true quality of each model's answer."""
    kind = rng.integers(len(KINDS), size=n)
    difficulty = rng.uniform(0, 1, n)
    words = np.exp(3 + 2 * difficulty + rng.normal(0, 0.5, n)).round()
    X = pd.DataFrame(np.eye(len(KINDS))[kind], columns=KINDS).assign(words=words)
    strength = MODELS.loc[KINDS].to_numpy()[kind]
    return X, strength - difficulty[:, None] * (10 - strength)


def judge(quality, models_seen=3):
    """Positions by a judge who sees some models' answers and gives them whole points."""
    points = np.round(quality + rng.normal(0, 0.5, quality.shape))
    hidden = rng.random(quality.shape).argsort(axis=1) >= models_seen
    return dense_ranks(np.where(hidden, np.nan, -points))


X_train, quality = make_prompts(600)
Y_train = pd.DataFrame(judge(quality), columns=MODELS.columns)
X_test, quality_test = make_prompts(400)
Y_test = judge(quality_test, models_seen=5)
for text in to_text(Y_train[:4]):
    print(text)

# %%
# Learning from judgements
# ------------------------
# Each training prompt has three of five models ranked. Test prompts have all five judged. The
# consensus ignores the prompt: it is the one leaderboard for all.

rankers = {"one leaderboard": DummyRanker(), "ranking forest": RankingForest(random_state=0)}
for ranker in rankers.values():
    ranker.fit(X_train, Y_train)
ranks = {name: ranker.predict(X_test) for name, ranker in rankers.items()}
pd.DataFrame(
    {
        name: {"τ_X": tau_x_score(Y_test, own), "top one": top_one_score(Y_test, own)}
        for name, own in ranks.items()
    }
).T.round(3)

# %%
# A short and a long prompt of each kind, by the forest:

asked = pd.DataFrame(np.repeat(np.eye(4), 2, axis=0), columns=KINDS)
asked["words"] = [20.0, 200.0] * 4
orders = rankers["ranking forest"].predict_text(asked, signs="≻∼")
pd.DataFrame({"kind": np.repeat(KINDS, 2), "words": asked["words"], "predicted": orders})

# %%
# Routing
# -------
# Send each prompt to the cheapest model of its best bucket, and compare with sending all prompts
# to the same model. Quality is the true one, which the ranker never saw.

price = MODELS.loc["price"].to_numpy()
best = ranks["ranking forest"] == 1
routed = np.where(best, price, np.inf).argmin(axis=1)
rows = np.arange(len(routed))
points = {f"always {m}": (price[i], quality_test[:, i].mean()) for i, m in enumerate(MODELS)}
points["routed"] = price[routed].mean(), quality_test[rows, routed].mean()

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, (cost, value) in points.items():
    mine = name == "routed"
    ax.scatter(cost, value, s=90, color="tab:blue" if mine else "0.6")
    up = 8 if name == "always Polyglot" else -14
    ax.annotate(name, (cost, value), (6, up), textcoords="offset points")
ax.set(xlabel="mean price of a prompt", ylabel="mean quality of the answers", xlim=(0, 12.5))
ax.margins(y=0.15)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Where the prompts went:

kind = X_test[KINDS].idxmax(axis=1).rename("kind")
pd.crosstab(kind, pd.Series(MODELS.columns[routed], name="sent to"))
