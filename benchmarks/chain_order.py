"""How much the order of a regression chain matters: τ_X of Chain-RR in several orders.

    MOREPLR_DATA=<folder> python benchmarks/chain_order.py [lr/movies …]

The first repetition of ten folds as published; dense encoding, round-rank. Beside the orders of
the paper's text and of its experiments: the columns as they stand, reversed, and at random.
"""

from __future__ import annotations

import sys
from itertools import islice

import numpy as np
from sklearn.model_selection import RepeatedKFold

from moreplr import MORERanker
from moreplr.datasets import load
from moreplr.metrics import tau_x_score
from moreplr.regressors import Chain


def measure(name: str) -> None:
    problem, _, dataset = name.partition("/")
    data = load(dataset, problem)
    Y = data.Y.to_numpy(float)
    columns = list(range(Y.shape[1]))
    orders = {name: name for name in ("published", "correlation", "random")}
    orders |= {"as they stand": columns, "reversed": columns[::-1]}
    scores = {name: [] for name in orders}
    folds = RepeatedKFold(n_splits=10, n_repeats=5, random_state=0).split(Y)
    for train, test in islice(folds, 10):
        prepare = data.preprocessor().fit(data.X.iloc[train]).transform
        X, X_test = prepare(data.X.iloc[train]), prepare(data.X.iloc[test])
        for label, order in orders.items():
            ranker = MORERanker("dense", Chain(order=order), "round_rank", random_state=0)
            predicted = ranker.fit(X, Y[train]).predict(X_test)
            scores[label].append(tau_x_score(Y[test], predicted))
    print(name, ", ".join(f"{label} {np.mean(tau):.3f}" for label, tau in scores.items()))


if __name__ == "__main__":
    for each in sys.argv[1:] or ["lr/movies"]:
        measure(each)
