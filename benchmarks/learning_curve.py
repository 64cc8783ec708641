"""Learning curves of RankingForest: more rows must not make it worse.

    MOREPLR_DATA=<folder> python benchmarks/learning_curve.py [smooth lr_fried …] [--most 100000]

"smooth" is made: 20 normal features, 8 labels, positions = dense ranks of
floor(-3 · (tanh(XW / 3) + 0.3 · noise)). The other names are of the field data, in random order.
3,000 rows are held out, the same for all sizes. Printed are τ_X, its fall from the best smaller
size, CPU seconds, the trees of a forest with the rows that each draws, and the leaf size.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from moreplr import RankingForest
from moreplr.datasets import load
from moreplr.encoders import encode

SIZES = (500, 1_000, 2_000, 2_001, 5_000, 10_000, 20_000, 50_000, 100_000)
HELD_OUT = 3_000
NAMES = ("smooth", "lr_fried", "lr_elevators", "plr_shuttle")


def smooth(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which any number of the first ones is the same for all n."""
    rng = np.random.default_rng(0)
    W = rng.normal(size=(20, 8))
    both = rng.normal(size=(n, 28))
    X, noise = both[:, :20], both[:, 20:]
    return X, encode(np.floor(-3 * (np.tanh(X @ W / 3) + 0.3 * noise)))


def rows_of(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from after those that are held out."""
    if name == "smooth":
        return smooth(HELD_OUT + most)
    data = load(name, "field")
    order = np.random.default_rng(0).permutation(len(data.X))
    return data.X.to_numpy(float)[order], data.Y.to_numpy(float)[order]


def main() -> None:
    """Print a curve for each name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--most", type=int, default=SIZES[-1])
    arguments = parser.parse_args()
    for name in arguments.names or NAMES:
        X, Y = rows_of(name, arguments.most)
        known = len(X) - HELD_OUT
        best = -1.0
        for n in sorted({size for size in SIZES if size <= min(known, arguments.most)}):
            rows = slice(HELD_OUT, HELD_OUT + n)
            start = time.process_time()
            ranker = RankingForest(n_jobs=1, random_state=0).fit(X[rows], Y[rows])
            middle = time.process_time()
            tau = ranker.score(X[:HELD_OUT], Y[:HELD_OUT])
            end = time.process_time()
            forest = ranker.forests_[0]
            print(
                f"{name:13} {n:7,} rows  τ_X {tau:.4f}  fall {max(best - tau, 0):.4f}  "
                f"fit {middle - start:5.1f} s  predict {end - middle:4.1f} s  "
                f"{forest.n_estimators} trees of {forest.max_samples:,}, "
                f"leaves of {ranker.min_samples_}",
                flush=True,
            )
            best = max(best, tau)


if __name__ == "__main__":
    main()
