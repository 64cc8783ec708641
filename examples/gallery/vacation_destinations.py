"""
Vacation destinations: both roads, step by step
================================================

The paper explains partial label ranking with four customers and five vacation destinations (its
figure 2). Here both roads of the figure are walked with the library: regression of positions
(MORE), and pairwise comparison (RPC). Four rows teach nothing about people; they show
what each step does.
"""

# %%
# Four customers and their rankings. Customer 1 did not rank Tokyo, customer 2 neither Tokyo nor
# Paris, customer 4 not Paris.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from moreplr import MORERanker, PairwiseRanker
from moreplr.aggregation import aggregate
from moreplr.encoders import encode
from moreplr.layers import EpsilonCloseness, PredictionInterval, RoundRank
from moreplr.rankings import check_rankings, to_text

customers = pd.DataFrame(
    {
        "age": [35, 28, 42, 30],
        "income": [50_000, 60_000, 65_000, 45_000],
        "occupation": ["Engineer", "Teacher", "Lawyer", "Doctor"],
        "city": ["New York", "Los Angeles", "Chicago", "Miami"],
    }
)
texts = [
    "Hawaii > Bali ~ Paris > Miami",
    "Bali > Hawaii > Miami",
    "Paris ~ Bali ~ Hawaii ~ Tokyo ~ Miami",
    "Hawaii > Bali ~ Tokyo > Miami",
]
places = ["Hawaii", "Bali", "Paris", "Tokyo", "Miami"]
rankings, _ = check_rankings(texts, labels=places)
pd.DataFrame(rankings, columns=places)

# %%
# The encoder
# -----------
# An encoder turns bucket orders into positions. The figure's table is the *standard competition*
# encoding: two labels tied at place 2 are followed by place 4.

pd.DataFrame(encode(rankings, "standard"), columns=places)

# %%
# The regressor
# -------------
# A regressor predicts a position for every label, for a customer of 37 with an income of 35,000.
# Rankers take numbers: occupation and city become columns of zeros and ones.

newcomer = pd.DataFrame(
    {"age": [37], "income": [35_000], "occupation": ["Teacher"], "city": ["Chicago"]}
)
table = pd.get_dummies(pd.concat([customers, newcomer], ignore_index=True), dtype=float)
X, x = table.iloc[:4], table.iloc[4:]
ranker = MORERanker("standard", "single_target", "epsilon", random_state=0)
ranker.fit(X, pd.DataFrame(rankings, columns=places))
outputs = ranker.predict_outputs(x, intervals=True)
pd.DataFrame(outputs.positions, columns=places).round(2)

# %%
# The layer
# ---------
# A layer turns the outputs into a bucket order. Each has its own idea of what is close enough to
# tie, and none needs another fit.

layers = [RoundRank(), PredictionInterval(q=1), EpsilonCloseness(0.05), EpsilonCloseness(0.3)]
for layer in layers:
    print(f"{layer!s:30}", *to_text(ranker.decode(outputs, layer), places, signs="≻∼"))

# %%
# The figure shows other outputs, 1.2, 2.2, 1.5, 1.3 and 2.8, and ends in
# Hawaii ∼ Tokyo ≻ Paris ≻ Bali ≻ Miami. That is what ε-closeness with ε = 0.1 makes of them;
# rounding ties Paris with Bali.

figure = np.array([[1.2, 2.2, 1.5, 1.3, 2.8]])
for layer in [RoundRank(), EpsilonCloseness(0.1)]:
    print(f"{layer!s:30}", *to_text(layer.decode(figure), places, signs="≻∼"))

# %%
# The pairwise road
# -----------------
# A classifier for each pair of labels says how probable it is that the first precedes, is tied
# with or succeeds the second. Aggregation finds the bucket order that suits all pairs best.

pairwise = PairwiseRanker(random_state=0).fit(X, pd.DataFrame(rankings, columns=places))
P, Q = pairwise.predict_pairs(x)
print(*pairwise.predict_text(x, signs="≻∼"))
pd.DataFrame(P[0] + Q[0] / 2, places, places).round(2)

# %%
# The figure's preference matrix can be aggregated directly. (The bucket order printed beside it
# there is an illustration; it does not follow from the matrix.)

order = ["Hawaii", "Bali", "Paris", "Miami", "Tokyo"]
C = [
    [0.5, 0.625, 0.75, 0.875, 0.75],
    [0.375, 0.5, 0.5, 0.875, 0.5],
    [0.25, 0.5, 0.5, 0.75, 0.5],
    [0.125, 0.125, 0.25, 0.5, 0.25],
    [0.25, 0.5, 0.5, 0.75, 0.5],
]
print(*to_text([aggregate(C)], order, signs="≻∼"))

# %%
# A picture of the layers
# -----------------------
# The figure's outputs on a line. Labels of the same colour share a bucket.

shown = {"round-rank": RoundRank(), "ε = 0.03": EpsilonCloseness(0.03)}
shown |= {f"ε = {e}": EpsilonCloseness(e) for e in (0.1, 0.2, 0.5)}
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for height, layer in enumerate(reversed(shown.values())):
    ranks = layer.decode(figure)[0]
    ax.axhline(height, color="0.85", zorder=0)
    ax.scatter(figure[0], [height] * 5, c=ranks, cmap="viridis", vmin=1, vmax=5, s=90)
for name, at in zip(places, figure[0], strict=True):
    ax.text(at, len(shown) - 0.45, name, ha="center", rotation=35)
ax.set(
    yticks=range(len(shown)),
    yticklabels=list(reversed(shown)),
    xlabel="predicted position",
    ylim=(-0.5, len(shown) + 0.6),
)
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()
