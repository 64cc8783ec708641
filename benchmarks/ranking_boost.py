"""RankingBoost beside LightGBM on pairs of labels, the forest, and the consensus.

    MOREPLR_DATA=<folder> python benchmarks/ranking_boost.py [section …] [--folds 5] [--data …]

Sections: field, smooth, speed; by default all. "field" compares τ_X, the log loss and the
calibration error of pairs, and CPU seconds of fit, on folds of data from elsewhere. "smooth" is
a learning curve on made data: positions are dense ranks of
floor(-3 · (tanh(XW / 3) + 0.3 · noise)), 20 features, 8 labels, 3,000 test rows. "speed" is how
fast fitted models predict scores, pairs and rankings. All run in one process, on one thread (set
OMP_NUM_THREADS=1), warm. LightGBM has 100 trees a pair and its defaults otherwise; it needs
`pip install lightgbm`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import KFold

from moreplr import DummyRanker, PairwiseRanker, RankingBoost, RankingForest
from moreplr.datasets import load
from moreplr.metrics import pair_calibration_error, pair_log_loss, tau_x_score
from moreplr.rankings import dense_ranks

FIELD = ("aslib_asp-potassco", "aslib_qbf-2014", "lr_spo", "lr_elevators", "lr_cold", "lr_cpu")
RANKERS: dict[str, Callable[[], Any]] = {
    "boost": lambda: RankingBoost(random_state=0),
    "LightGBM pairs": lambda: PairwiseRanker(
        LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=1), random_state=0
    ),
    "forest": lambda: RankingForest(random_state=0),
    "consensus": lambda: DummyRanker(),
}
console = Console(width=110)


def measure(ranker: Any, train: tuple, test: tuple) -> list[float]:
    """τ_X, log loss and calibration error on the test rows, and CPU seconds of fit."""
    start = time.process_time()
    ranker.fit(*train)
    seconds = time.process_time() - start
    X, Y = test
    pairs = ranker.predict_pairs(X)
    tau = tau_x_score(Y, ranker.predict(X))
    return [tau, pair_log_loss(Y, pairs), pair_calibration_error(Y, pairs), seconds]


def table(title: str, results: dict[str, dict[str, np.ndarray]]) -> None:
    """A line for each set and ranker: τ_X, log loss, calibration error, seconds."""
    shown = Table("data", "ranker", "τ_X", "log loss", "calibration", "seconds", title=title)
    for name, rows in results.items():
        for at, (ranker, values) in enumerate(rows.items()):
            cells = [f"{value:.3f}" for value in values[:3]] + [f"{values[3]:.1f}"]
            shown.add_row("" if at else name, ranker, *cells)
        shown.add_section()
    console.print(shown)


def field(names: list[str], folds: int, rankers: list[str]) -> None:
    results = {}
    for name in names:
        data = load(name, "field")
        Y = data.Y.to_numpy(float)
        rows: dict[str, list] = {ranker: [] for ranker in rankers}
        for train, test in KFold(5, shuffle=True, random_state=0).split(Y):
            prepare = data.preprocessor().fit(data.X.iloc[train]).transform
            X, X_test = prepare(data.X.iloc[train]), prepare(data.X.iloc[test])
            for ranker in rankers:
                found = measure(RANKERS[ranker](), (X, Y[train]), (X_test, Y[test]))
                rows[ranker].append(found)
            if len(rows[rankers[0]]) == folds:
                break
        results[name] = {ranker: np.mean(values, axis=0) for ranker, values in rows.items()}
        table(f"{name}: {len(Y)} rows, {Y.shape[1]} labels", {name: results[name]})


def made(n: int, seed: int, k: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Smooth utilities of 20 features; the same weights for all seeds."""
    weights = np.random.default_rng(7).normal(size=(20, k))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    utility = np.tanh(X @ weights / 3) + 0.3 * rng.normal(size=(n, k))
    return X, dense_ranks(np.floor(-3 * utility))


def smooth(rankers: list[str]) -> None:
    test = made(3_000, seed=1)
    results = {}
    for n in (500, 1_000, 2_500, 10_000):
        train = made(n, seed=100)
        chosen = [ranker for ranker in rankers if n <= 2_500 or ranker == "boost"]
        results[f"{n:,} rows"] = {
            ranker: np.array(measure(RANKERS[ranker](), train, test)) for ranker in chosen
        }
    table("smooth made data", results)


def speed() -> None:
    shown = Table("prediction, 10 labels", "CPU time")
    X, Y = made(2_500, seed=100, k=10)
    boost = RankingBoost(random_state=0).fit(X, Y)
    n_trees = sum(trees.n_trees for trees in boost.members_)
    many, _ = made(20_000, seed=2, k=10)
    for name, predict in (("scores", boost.predict_scores), ("pairs", boost.predict_pairs)):
        shown.add_row(
            f"{name}, {n_trees:,} trees", f"{len(many) / best(predict, many):,.0f} rows/s"
        )
    rows = iter(many)
    one = best(lambda: boost.predict(next(rows)[None]), repeats=50)
    shown.add_row("one row, with decoding", f"{1000 * one:.2f} ms")
    console.print(shown)


def best(function: Callable, *arguments: Any, repeats: int = 3) -> float:
    """The least CPU seconds of some calls, after one that does not count."""
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function(*arguments)
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", default=["field", "smooth", "speed"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--data", nargs="+", default=list(FIELD))
    parser.add_argument("--rankers", nargs="+", default=list(RANKERS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for make in RANKERS.values():
        measure(make(), made(100, 0), made(100, 1))  # compiles what is not compiled yet
    sections = {
        "field": partial(field, options.data, options.folds, options.rankers),
        "smooth": partial(smooth, options.rankers),
        "speed": speed,
    }
    for section in options.sections:
        sections[section]()


if __name__ == "__main__":
    main()
