"""The library's rankers beside modern baselines, on the field data.

    MOREPLR_DATA=<folder> python benchmarks/baselines.py results.csv [--rows 2000] [--budget 60]
        [--folds 5] [--methods AutoRanker …] [--only tricot_cassava …]

Needs the extra "baselines". Five folds, drawn once. All methods get the same features: tables go
through the library's vectoriser, fitted on the training rows. Baselines have fixed settings that
nobody tuned: those of `moreplr.experiments.baselines`, which plans name, too, and pairs of labels
with support vectors. One thread each. With --rows, larger sets are cut to so many rows, drawn
once.

Each fold of each method is appended to the file when it is done, and not done again; without
anything left to do the tables are printed: mean τ_X and log loss, and mean ranks over data sets.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from moreplr import (
    AutoRanker,
    BradleyTerryRanker,
    DummyRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingBoost,
    RankingForest,
)
from moreplr.datasets import list_datasets, load
from moreplr.experiments.baselines import BASELINES
from moreplr.metrics import pair_calibration_error, pair_log_loss, tau_x_score
from moreplr.vectorizing import FrameVectorizer

COLUMNS = [
    *("data", "rows", "labels", "method", "fold", "tau_x", "log_loss", "calibration_error"),
    *("row_error", "seconds", "cpu_seconds", "budget", "fault"),
]


def scaled(*steps):
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(fill, StandardScaler(), *steps)


def kernel():
    logistic = PairwiseRanker(LogisticRegression(C=10.0, max_iter=200))
    return scaled(Nystroem(n_components=200, random_state=0), logistic)


METHODS = {
    "AutoRanker": lambda budget: AutoRanker(budget, random_state=0),
    "consensus": lambda _: DummyRanker(),
    "linear": lambda _: BradleyTerryRanker(),
    "neighbors": lambda _: scaled(NearestNeighborsRanker()),
    "kernel": lambda _: kernel(),
    "boost": lambda _: RankingBoost(random_state=0),
    "forest": lambda _: RankingForest(random_state=0),
    "SVC pairs": lambda _: scaled(PairwiseRanker(SVC(C=10, probability=True, random_state=0))),
    **{name: lambda _, make=make: make(0) for name, make in BASELINES.items()},
}


def score(method: str, budget: float, X, Y, train, test) -> dict:
    """What one method reaches on one fold."""
    inputs = X.iloc[train], X.iloc[test]
    vectorizer = FrameVectorizer().fit(inputs[0])
    A, B = (np.asarray(vectorizer.transform(part), float) for part in inputs)
    ranker = METHODS[method](budget)
    wall, cpu = time.monotonic(), time.process_time()
    ranker.fit(A, Y[train])
    found = {"seconds": time.monotonic() - wall, "cpu_seconds": time.process_time() - cpu}
    tau = tau_x_score(Y[test], np.asarray(ranker.predict(B)), per_sample=True)
    tau = tau[~np.isnan(tau)]
    found |= {"tau_x": tau.mean(), "row_error": tau.std(ddof=1) / np.sqrt(len(tau))}
    last, features = ranker, B
    if hasattr(ranker, "steps"):
        last, features = ranker[-1], ranker[:-1].transform(B)
    if hasattr(last, "predict_pairs"):
        pairs = last.predict_pairs(features)
        found["log_loss"] = pair_log_loss(Y[test], pairs)
        found["calibration_error"] = pair_calibration_error(Y[test], pairs)
    return found


def tables(path: Path, wanted: list[str]) -> None:
    """Means over folds, mean ranks over the data sets that all methods have."""
    results = pd.read_csv(path)
    results = results[results["method"].isin(wanted)]
    print("Complete folds of all methods only; smaller is better but for τ_X.")
    methods = list(dict.fromkeys(results["method"]))
    done = results[results["tau_x"].notna()].groupby(["data", "fold"])["method"].nunique()
    results = results.set_index(["data", "fold"]).loc[done[done == len(methods)].index]
    results = results.reset_index()
    for column, sign in (("tau_x", -1), ("log_loss", 1)):
        wide = results.pivot_table(column, "data", "method").reindex(columns=methods)
        wide = wide.dropna(axis=1, how="all")
        ranks = (sign * wide).rank(axis=1)
        wide.loc["mean"], wide.loc["mean rank"] = wide.mean(), ranks.mean()
        print(f"\n{column}\n{wide.round(3).to_string()}")
    auto = results[results["method"] == "AutoRanker"].set_index(["data", "fold"])
    floor = results[results["method"] == "consensus"].set_index(["data", "fold"])
    gain = (auto["tau_x"] - floor["tau_x"]).groupby("data").mean()
    error = floor["row_error"].groupby("data").mean() / np.sqrt(floor.groupby("data").size())
    board = pd.DataFrame(
        {
            "gain over consensus": gain,
            "standard error": error,
            "calibration error": auto["calibration_error"].groupby("data").mean(),
            "longest fit, s": auto["seconds"].groupby("data").max(),
            "budget, s": auto["budget"].groupby("data").max(),
        }
    )
    print(f"\nAutoRanker\n{board.round(3).to_string()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--folds", type=int, default=5, help="how many of the five")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--only", nargs="*", default=list_datasets("field"))
    parser.add_argument("--table", action="store_true", help="print the tables only")
    options = parser.parse_args()
    if options.table:
        tables(options.results, options.methods)
        return
    known = set()
    if options.results.exists():
        seen = pd.read_csv(options.results)
        known = set(zip(seen["data"], seen["method"], seen["fold"], strict=True))
    else:
        options.results.write_text(",".join(COLUMNS) + "\n")
    sets = {}
    for name in options.only:
        X, Y = load(name, problem="field")
        rows = np.arange(len(X))
        if len(X) > options.rows:
            rows = np.sort(np.random.default_rng(0).permutation(len(X))[: options.rows])
        sets[name] = X.iloc[rows].reset_index(drop=True), np.asarray(Y, float)[rows]
    # One fold of all data sets, then the next: a run that is cut short has seen all of them.
    for fold in range(options.folds):
        for name, (X, Y) in sorted(sets.items(), key=lambda one: one[1][1].shape[::-1]):
            splits = list(KFold(5, shuffle=True, random_state=0).split(Y))
            for method in options.methods:
                if (name, method, fold) in known:
                    continue
                line = {"data": name, "rows": len(Y), "labels": Y.shape[1], "method": method}
                line |= {"fold": fold, "budget": options.budget}
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        line |= score(method, options.budget, X, Y, *splits[fold])
                except Exception as error:
                    line["fault"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
                with options.results.open("a", newline="") as file:
                    csv.DictWriter(file, COLUMNS).writerow(line)
                tau = f"{line.get('tau_x', np.nan):.3f} in {line.get('seconds', np.nan):.1f} s"
                print(name, fold, method, line.get("fault", tau), flush=True)
    tables(options.results, options.methods)


if __name__ == "__main__":
    main()
