"""Compare MORE on scikit-learn's forests with the paper's accuracy table, at 0 % missing labels.

    MOREPLR_DATA=<folder> python benchmarks/paper_accuracy.py --published accuracy.csv [names …]

Five repetitions of ten folds as published: RepeatedKFold(10, 5, random_state=0), standardised
features, forests of 100 trees with random_state=0, round-rank with dense encoding and halves to
even, prediction intervals (q = 1) and ε-closeness (a gap of 0.06) with modified encoding. Where
rankings have no ties all encodings agree, and one fit serves all layers.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import RepeatedKFold
from sklearn.preprocessing import StandardScaler

from moreplr import MORERanker
from moreplr.datasets import list_datasets, load
from moreplr.layers import EpsilonCloseness, PredictionInterval, RoundRank
from moreplr.metrics import tau_x_score
from moreplr.rankings import count_buckets
from moreplr.regressors import Native, SingleTarget

NAMES = ["iris", "wine", "glass", "vehicle", "vowel", "libras"]
LAYERS = {
    "dense": {"RR": RoundRank(halves="even")},
    "modified": {"PI": PredictionInterval(q=1), "EPS": EpsilonCloseness(0.06)},
}
TOLERANCE = 0.01


def score_fold(X, Y, train, test):
    """τ_X of the four methods on one fold; each regressor is fitted once for all its layers."""
    scaler = StandardScaler().fit(X[train])
    X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    forest = RandomForestRegressor(100, random_state=0)
    scores = {}
    has_ties = (count_buckets(Y[train]) < Y.shape[1]).any()
    for name, regressor, encoders in (
        ("ST", SingleTarget(forest), ("dense", "modified")),
        ("Native", Native(forest), ("dense",)),
    ):
        fitted = None
        for encoder in encoders:
            if fitted is None or has_ties:
                fitted = MORERanker(encoder, regressor).fit(X_train, Y[train])
                outputs = fitted.predict_outputs(X_test, intervals=True)
            for layer, decoder in LAYERS[encoder].items():
                predicted = fitted.decode(outputs, decoder)
                scores[f"{name}-{layer}"] = tau_x_score(Y[test], predicted)
    return scores


def measure(name: str, problem: str, repetitions: int, jobs: int) -> dict[str, float]:
    X, Y = (part.to_numpy() for part in load(name, problem))
    folds = list(RepeatedKFold(n_splits=10, n_repeats=5, random_state=0).split(X))
    folds = folds[: 10 * repetitions]
    found = defaultdict(list)
    results = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(score_fold)(X, Y, train, test) for train, test in folds
    )
    label = f"{problem} {name}"
    for scores in track(results, label, total=len(folds), console=Console(stderr=True)):
        for method, score in scores.items():
            found[method].append(score)
    return {method: float(np.mean(scores)) for method, scores in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--published", required=True, help="the paper's table as a CSV file")
    parser.add_argument("--problems", nargs="+", default=["lr", "plr"])
    parser.add_argument("--repetitions", type=int, default=5, help="of the five published ones")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    published = pd.read_csv(arguments.published).query("missing == 0")
    published = published.set_index(["problem", "dataset", "method"])["tau_x_mean"]
    print(f"{'data':14} {'method':10} {'ours':>7} {'published':>9} {'difference':>10}")
    worst = 0.0
    for problem in arguments.problems:
        for name in arguments.names:
            if name not in list_datasets(problem):
                continue
            scores = measure(name, problem, arguments.repetitions, arguments.jobs)
            for method, score in scores.items():
                paper = published.loc[(problem, name, method)]
                difference = score - paper
                worst = max(worst, abs(difference))
                flag = "" if abs(difference) <= TOLERANCE else " !"
                data = f"{problem} {name}"
                print(f"{data:14} {method:10} {score:7.4f} {paper:9.3f} {difference:+10.4f}{flag}")
    print(f"largest difference {worst:.4f} (tolerance {TOLERANCE})")


if __name__ == "__main__":
    main()
