"""
Incomplete rankings: two protocols, two conclusions
===================================================

To study missing labels, experiments take labels away from complete rankings. It matters when:

- **honest**: the labels go first, and what is left is ranked among itself. This is what incomplete
  data look like. In the library: ``positions="observed"``.
- **published**: the complete ranking is turned into positions first, and then some positions are
  blanked. Those that stay still tell where the label stood among *all* labels. The paper's tables
  were made this way. In the library: ``positions="given"``.

The same methods look very different. See :doc:`/incomplete` for the whole story.
"""

# %%
# One ranking shows it. Without b and c, label d is the second of two; with the published protocol
# its position 4 gives away that two labels are missing before it.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from moreplr import MORERanker, PairwiseRanker, RankingForest
from moreplr.datasets import load
from moreplr.encoders import encode
from moreplr.incomplete import remove_labels

complete = np.array([[1.0, 2.0, 3.0, 4.0]])
gone = np.array([[False, True, True, False]])
honest = encode(np.where(gone, np.nan, complete))
published = np.where(gone, np.nan, encode(complete))
pd.DataFrame(np.vstack([honest, published]), ["honest", "published"], list("abcd"))

# %%
# Two methods that regress positions and two that look at pairs, on the bundled wine data: partial
# rankings made from scikit-learn's data set. Training rankings lose up to 60 % of their labels;
# scores are on complete rankings of test rows. Taking labels away leaves some rows with none;
# rankers say so in a warning.

warnings.filterwarnings("ignore", message=".* rows rank no label")
X, Y = load("wine")
SHARES = [0.0, 0.15, 0.3, 0.45, 0.6]


def make_rankers(positions):
    """The rankers, told what the positions mean."""
    return {
        "MORE, single target": MORERanker(
            regressor="single_target", positions=positions, random_state=0
        ),
        "MORE, native": MORERanker(regressor="native", positions=positions, random_state=0),
        "pairwise": PairwiseRanker(random_state=0),
        "ranking forest": RankingForest(50, positions=positions, random_state=0),
    }


def score(ranker, share, positions):
    """Mean τ_X over three folds, labels taken from the training rows only."""
    scores = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        incomplete = remove_labels(encode(Y.iloc[train]), share, random_state=0)
        ranker.fit(X.iloc[train], pd.DataFrame(incomplete, columns=Y.columns))
        scores.append(ranker.score(X.iloc[test], Y.iloc[test]))
    return np.mean(scores)


# %%
# `remove_labels` blanks cells and leaves the others as they are. So the same incomplete positions
# serve both protocols: ``"observed"`` ranks the rest anew, ``"given"`` takes the numbers as they
# stand.

protocols = {"honest": "observed", "published": "given"}
found = {
    (protocol, name): [score(ranker, share, positions) for share in SHARES]
    for protocol, positions in protocols.items()
    for name, ranker in make_rankers(positions).items()
}
table = pd.DataFrame(found, index=[f"{share:.0%}" for share in SHARES]).T
table.round(3)

# %%

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
for ax, protocol in zip(axes, protocols, strict=True):
    for name in make_rankers("observed"):
        ax.plot(SHARES, found[protocol, name], marker="o", label=name)
    ax.set(title=protocol, xlabel="labels missing in training", xticks=SHARES)
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("τ_X on complete test rankings")
axes[0].legend(frameon=False)
plt.show()

# %%
# With the published protocol regression hardly suffers: every surviving position still says where
# the label stood among all. With honest data it falls behind, because the second of two and the
# second of three are not the same target. Methods that look at pairs ask only which of two labels
# comes first, which no missing third one changes. The pairwise ranker gets the same under both.
