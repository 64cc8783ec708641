"""Compare the ranker that chooses a ranker with the forest that it starts from.

    MOREPLR_DATA=<folder> python benchmarks/auto.py [plr/iris lr/wine …] [--budget 30] [--cpu]

Five outer folds, each held out once. On each, AutoRanker gets the budget (all of its fit, the
last one included) and is compared with RankingForest and with every candidate that the data
suggest, fitted on the same training rows without a limit. "hindsight" is the candidate of the
highest mean over the outer folds: the best that any choice of one candidate could have had,
not something that a user can know. "gain" is AutoRanker less RankingForest, with its standard
error over the held-out rows. With --cpu the budget is of processor time, for a machine that is
not idle (set OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.model_selection import KFold

from moreplr import AutoRanker, RankingForest
from moreplr.datasets import load
from moreplr.metrics import tau_x_score
from moreplr.rankers import halving
from moreplr.rankers.candidates import describe, prepare, suggest

DATA = ("plr/iris", "plr/glass", "plr/algae", "plr/movies", "lr/wine", "lr/vowel")


def held_out(ranker, X, Y, train, test) -> np.ndarray:
    """τ_X of each held-out row."""
    return tau_x_score(Y[test], ranker.fit(X[train], Y[train]).predict(X[test]), per_sample=True)


def measure(name: str, budget: float, everything: bool) -> dict:
    problem, data = name.split("/")
    X, Y = (part.to_numpy(dtype=float) for part in load(data, problem))
    scores: dict[str, np.ndarray] = {}
    chosen, seconds = [], []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        auto = AutoRanker(budget, random_state=0)
        start = halving.monotonic()
        auto.fit(X[train], Y[train])
        seconds.append(halving.monotonic() - start)
        chosen.append(auto.best_name_)
        note(
            scores,
            "AutoRanker",
            tau_x_score(Y[test], auto.predict(X[test]), per_sample=True),
            test,
            len(X),
        )
        rankers = {"RankingForest": RankingForest(random_state=0)}
        if everything:
            found = suggest(describe(X[train], Y[train]))
            rankers |= {
                key: prepare(one.ranker, positions="observed", n_jobs=None, seed=0)
                for key, one in found.items()
                if key not in rankers
            }
        for key, ranker in rankers.items():
            note(scores, key, held_out(clone(ranker), X, Y, train, test), test, len(X))
    return {"scores": scores, "chosen": Counter(chosen), "seconds": max(seconds)}


def note(scores: dict, key: str, tau: np.ndarray, test: np.ndarray, n: int) -> None:
    scores.setdefault(key, np.full(n, np.nan))[test] = tau


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=DATA, help="problem/name, such as plr/iris")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds")
    parser.add_argument("--fast", action="store_true", help="leave out the other candidates")
    parser.add_argument("--cpu", action="store_true", help="count processor seconds")
    arguments = parser.parse_args()
    if arguments.cpu:
        halving.monotonic = time.process_time
    table = Table(
        "data", "AutoRanker", "RankingForest", "gain", "±", "hindsight", "", "chosen", "s"
    )
    progress = Console(stderr=True)
    warnings.simplefilter("ignore")
    for name in arguments.names:
        result = measure(name, arguments.budget, not arguments.fast)
        scores = result["scores"]
        means = {key: np.nanmean(tau) for key, tau in scores.items()}
        gain = scores["AutoRanker"] - scores["RankingForest"]
        gain = gain[~np.isnan(gain)]
        best = max((key for key in means if key != "AutoRanker"), key=lambda key: means[key])
        row = (
            name,
            f"{means['AutoRanker']:.4f}",
            f"{means['RankingForest']:.4f}",
            f"{gain.mean():+.4f}",
            f"{gain.std(ddof=1) / np.sqrt(len(gain)):.4f}",
            f"{means[best]:.4f}",
            best,
            ", ".join(f"{key} ({times})" for key, times in result["chosen"].items()),
            f"{result['seconds']:.0f}",
        )
        table.add_row(*row)
        progress.print(*row, means)
    Console().print(table)


if __name__ == "__main__":
    main()
