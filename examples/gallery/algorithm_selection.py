"""
Algorithm selection: which classifier for which problem?
========================================================

No learning algorithm is the best everywhere, and on many problems several are as good as each
other: a ranking with ties. Here five classifiers of scikit-learn really run on 160 generated
problems. What can be measured on a problem's training rows becomes its features, and a ranker
learns which classifiers come first, so that a new problem gets a choice without trying them all.
"""

# %%
# The problems are made by :func:`sklearn.datasets.make_classification`: few or many rows and
# columns, clear or blurred classes, one or more clusters in a class, some labels flipped.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from moreplr import DummyRanker, MORERanker, RankingForest
from moreplr.metrics import tau_x_score, top_one_score
from moreplr.rankings import to_text

CLASSIFIERS = {
    "logistic": LogisticRegression(solver="liblinear"),
    "bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(algorithm="kd_tree"),
    "tree": DecisionTreeClassifier(random_state=0),
    "svm": SVC(),
}
N_TEST = 300
rng = np.random.default_rng(0)


def make_problem():
    """A problem with drawn properties: training rows, test rows."""
    informative = int(rng.integers(2, 6))
    X, y = make_classification(
        n_samples=(n := int(rng.choice([40, 80, 160, 320]))) + N_TEST,
        n_features=informative + int(rng.choice([0, 3, 10, 30, 60])),
        n_informative=informative,
        n_redundant=0,
        n_clusters_per_class=int(rng.integers(1, min(4, 2 ** (informative - 1)) + 1)),
        class_sep=rng.uniform(0.4, 2.0),
        flip_y=rng.choice([0.0, 0.1, 0.2]),
        random_state=int(rng.integers(2**31)),
    )
    scaler = StandardScaler().fit(X[:n])
    return scaler.transform(X[:n]), y[:n], scaler.transform(X[n:]), y[n:]


# %%
# What is known of a problem before any of the five is chosen: its size, how far apart the class
# means are, how their spreads differ, and how often a row's nearest neighbour has its class.


def describe(X, y):
    """Properties of the training rows."""
    gap = np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0))
    spread = np.abs(np.log(X[y == 0].std(axis=0) / X[y == 1].std(axis=0)))
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    correlation = np.abs(np.corrcoef(X[y == 1].T) - np.corrcoef(X[y == 0].T))
    return {
        "rows": len(X),
        "columns": X.shape[1],
        "gap of means": gap.max(),
        "mean gap": gap.mean(),
        "gap of spreads": spread.mean(),
        "gap of correlations": correlation.mean(),
        "neighbours agree": (y[distance.argmin(axis=1)] == y).mean(),
    }


# %%
# Ties where the difference may be chance
# ---------------------------------------
# Classifiers are sorted by their accuracy on 300 test rows. One that is worse than the best of
# the current bucket by more than two standard errors of the paired difference opens a new one.


def rank(correct):
    """Positions of classifiers from which test rows each gets right."""
    order = np.argsort(-correct.mean(axis=1), kind="stable")
    positions = np.empty(len(correct))
    best, bucket = order[0], 1
    for one in order:
        difference = correct[best].astype(float) - correct[one]
        if difference.mean() > 2 * difference.std() / np.sqrt(N_TEST):
            best, bucket = one, bucket + 1
        positions[one] = bucket
    return positions


features, rankings, accuracy = [], [], []
for _ in range(160):
    X_train, y_train, X_test, y_test = make_problem()
    correct = np.array(
        [one.fit(X_train, y_train).predict(X_test) == y_test for one in CLASSIFIERS.values()]
    )
    features.append(describe(X_train, y_train))
    rankings.append(rank(correct))
    accuracy.append(correct.mean(axis=1))
X = pd.DataFrame(features)
Y = pd.DataFrame(rankings, columns=list(CLASSIFIERS))
accuracy = np.array(accuracy)
for text in to_text(Y[:5], signs="≻∼"):
    print(text)

# %%
# Learning to rank them
# ---------------------
# Five folds over problems. Beside τ_X: how often a classifier drawn from the predicted best
# bucket is among the truly best, and the accuracy of that choice.

RANKERS = {
    "consensus": DummyRanker(),
    "MORE, round-rank": MORERanker(random_state=0),
    "ranking forest": RankingForest(random_state=0),
}


predicted = {name: np.empty(Y.shape) for name in [*RANKERS, "ranking forest, top=1"]}
for train, test in KFold(5, shuffle=True, random_state=0).split(X):
    for name, ranker in RANKERS.items():
        predicted[name][test] = ranker.fit(X.iloc[train], Y.iloc[train]).predict(X.iloc[test])
    # Where one classifier must be taken, ask for one: all others share the second bucket.
    forest = RANKERS["ranking forest"]
    predicted["ranking forest, top=1"][test] = forest.predict(X.iloc[test], top=1)


def chosen(ranks):
    """Mean accuracy of a classifier drawn from the best bucket of each problem."""
    best = ranks == ranks.min(axis=1, keepdims=True)
    return (accuracy * best).sum(axis=1) / best.sum(axis=1)


pd.DataFrame(
    {
        name: {
            "τ_X": tau_x_score(Y.to_numpy(), ranks),
            "top one": top_one_score(Y.to_numpy(), ranks),
            "accuracy of the choice": chosen(ranks).mean(),
        }
        for name, ranks in predicted.items()
    }
).T.round(3)

# %%
# What the choice costs
# ---------------------
# How far the chosen classifier is behind the best one of each problem, in percentage points of
# accuracy, averaged. Bars without a ranker always take the same classifier.

best = accuracy.max(axis=1)
loss = {f"always {name}": (best - accuracy[:, at]).mean() for at, name in enumerate(CLASSIFIERS)}
loss |= {name: (best - chosen(ranks)).mean() for name, ranks in predicted.items()}
loss = dict(sorted(loss.items(), key=lambda item: -item[1]))
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
colors = ["tab:blue" if name in predicted else "0.75" for name in loss]
bars = ax.barh(list(loss), [100 * value for value in loss.values()], color=colors)
ax.bar_label(bars, fmt="%.1f", padding=3)
ax.set_xlabel("points behind the best classifier of the problem")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Who wants the whole ranking takes the bucket order of the highest τ_X. Who must take one
# classifier asks for one, with `top=1`: that says less about the others, and so its τ_X is lower,
# but the choice is better than any that does not look at the problem. What the forest looks at:

forest.fit(X, Y)
pd.Series(forest.feature_importances_, X.columns, name="share").sort_values(
    ascending=False
).to_frame().round(2)
