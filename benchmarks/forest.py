"""The forest engine beside others' forests: time, accuracy, memory, growth.

    MOREPLR_DATA=<folder> python benchmarks/forest.py [section …] [--trees 100] [--plot growth.svg]

Sections: native, missing, single, pairwise, threads, memory, growth, import, cold, accuracy;
by default all but accuracy, which takes long. Both sides run in one process, warm, one after
the other, and CPU time is compared; fit and predict count. Of `--repeats` the least time counts.
Forests of single outputs are compared with scikit-learn-intelex (`pip install
'moreplr[benchmarks]'`), too, whose forests are compiled and have histograms.

Features are prepared on the training part of the first split of RepeatedKFold(10, 5,
random_state=0); predictions are rounded to positions for τ_X.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, islice
from multiprocessing import Pool
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import RepeatedKFold

from moreplr.datasets import PROBLEMS, list_datasets, load
from moreplr.forest import ForestBatch, ForestClassifier, ForestRegressor
from moreplr.metrics import tau_x_score

NAMES = ("segment", "pendigits", "letter")
Fold = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def folds(name: str, problem: str = "plr") -> Iterator[Fold]:
    """Training and test parts, features as the library prepares them for its experiments."""
    data = load(name, problem)
    Y = data.Y.to_numpy(float)
    for train, test in RepeatedKFold(n_splits=10, n_repeats=5, random_state=0).split(Y):
        prepare = data.preprocessor().fit(data.X.iloc[train]).transform
        yield prepare(data.X.iloc[train]), Y[train], prepare(data.X.iloc[test]), Y[test]


def cpu(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """CPU seconds and the result."""
    begin = time.process_time()
    result = work(*arguments)
    return time.process_time() - begin, result


REPEATS = 3


def least(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """The least CPU seconds of several runs, and the result of the last."""
    times = []
    for _ in range(REPEATS):
        seconds, result = cpu(work, *arguments)
        times.append(seconds)
    return min(times), result


def fit_predict(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    return model.fit(X, y).predict(X_test)


def each(
    make: Callable[[], Any], X: np.ndarray, y: np.ndarray, X_test: np.ndarray, method: str
) -> list:
    """Fit a model of its own on each column of y."""
    return [getattr(make().fit(X, column), method)(X_test) for column in y.T]


def peers(kind: str) -> dict[str, Any]:
    """Classes of forests of single outputs: `RandomForest` and `kind`."""
    import sklearn.ensemble

    out = {"scikit-learn": getattr(sklearn.ensemble, f"RandomForest{kind}")}
    try:
        import sklearnex.ensemble
    except ImportError:
        return out
    return out | {"scikit-learn-intelex": getattr(sklearnex.ensemble, f"RandomForest{kind}")}


def compared(ours: float, theirs: float) -> str:
    return f"{ours:7.2f} s, scikit-learn {theirs:7.2f} s, ratio {theirs / ours:5.2f}"


def tau(Y: np.ndarray, predicted: np.ndarray) -> float:
    return float(tau_x_score(Y, np.floor(predicted + 0.5)))


def gaps(Y: np.ndarray, share: float) -> np.ndarray:
    blanked = Y.copy()
    blanked[np.random.default_rng(0).random(Y.shape) < share] = np.nan
    return blanked


def warm_up() -> None:
    X, Y = np.random.default_rng(0).random((60, 3)), np.random.default_rng(1).random((60, 2))
    ForestRegressor(1).fit(X, Y).predict(X)
    ForestRegressor(1).fit(X, gaps(Y, 0.3)).predict(X)
    ForestClassifier(1).fit(X, Y[:, 0] > 0.5).predict(X)
    ForestBatch(1).fit(X, Y).predict(X)
    ForestBatch(1).fit(X, (Y > 0.5).astype(int), 2).predict_proba(X)


def native(trees: int) -> None:
    print("native: one forest for all labels, a share of the features at each split")
    for name in NAMES:
        X, Y, X_test, Y_test = next(folds(name))
        for share in (1 / 3, 1.0):
            options = {"n_estimators": trees, "max_features": share, "random_state": 0}
            ours, mine = least(fit_predict, ForestRegressor(**options), X, Y, X_test)
            theirs, its = least(fit_predict, RandomForestRegressor(**options), X, Y, X_test)
            print(
                f"  {name:10s} {share:.2f} {compared(ours, theirs)},"
                f" tau_x {tau(Y_test, mine):.4f} and {tau(Y_test, its):.4f}",
                flush=True,
            )


def missing(trees: int) -> None:
    print("missing: native with gaps in the targets, against complete targets; best of 3")
    for name in NAMES:
        X, Y, X_test, Y_test = next(folds(name))
        shares, times, scores = (0.0, 0.3, 0.6), {}, {}
        for repetition in range(3):
            for share in shares:
                model = ForestRegressor(trees, random_state=0)
                seconds, mine = cpu(fit_predict, model, X, gaps(Y, share), X_test)
                times[share] = min(seconds, times.get(share, seconds))
                scores[share] = tau(Y_test, mine) if repetition == 0 else scores[share]
        print(
            f"  {name:10s} {times[0.0]:6.2f} s; 30 % {times[0.3] / times[0.0]:.2f} times,"
            f" 60 % {times[0.6] / times[0.0]:.2f} times; tau_x "
            + ", ".join(f"{scores[share]:.4f}" for share in shares),
            flush=True,
        )


def single(trees: int) -> None:
    print("single: a forest for each label; others on 3 labels and scaled")
    for name in NAMES:
        X, Y, X_test, Y_test = next(folds(name))
        k = Y.shape[1]
        some = [0, k // 2, k - 1]
        for share in (1 / 3, 1.0):
            options = {"n_estimators": trees, "max_features": share, "random_state": 0}
            ours, mine = least(fit_predict, ForestBatch(**options), X, Y, X_test)
            error = np.mean((mine[:, some] - Y_test[:, some]) ** 2)
            print(f"  {name:10s} {share:.2f} {ours:7.2f} s, squared error {error:.4f}", flush=True)
            for peer, kind in peers("Regressor").items():
                make = partial(kind, n_jobs=1, **options)
                theirs, its = least(each, make, X, Y[:, some], X_test, "predict")
                theirs *= k / len(some)
                error = np.mean((np.column_stack(its) - Y_test[:, some]) ** 2)
                print(
                    f"    {peer:20s} {theirs:7.2f} s, ratio {theirs / ours:5.2f},"
                    f" squared error {error:.4f}",
                    flush=True,
                )


def pairwise(trees: int) -> None:
    print("pairwise: a classifier for each pair of labels; others on 10 pairs and scaled")
    for name in NAMES:
        X, Y, X_test, Y_test = next(folds(name))
        pairs = np.array(list(combinations(range(Y.shape[1]), 2)))
        codes, truth = (
            (np.sign(y[:, pairs[:, 0]] - y[:, pairs[:, 1]]) + 1).astype(np.int8)
            for y in (Y, Y_test)
        )
        some = np.linspace(0, len(pairs) - 1, min(10, len(pairs))).astype(int)
        options = {"n_estimators": trees, "max_features": "sqrt", "random_state": 0}

        def ours_of(X: np.ndarray, codes: np.ndarray, X_test: np.ndarray) -> np.ndarray:
            return ForestBatch(**options).fit(X, codes, 3).predict_proba(X_test)  # noqa: B023

        ours, mine = least(ours_of, X, codes, X_test)
        right = np.mean(mine[:, some].argmax(axis=2) == truth[:, some])
        print(f"  {name:10s} {ours:7.2f} s, accuracy {right:.4f}", flush=True)
        for peer, kind in peers("Classifier").items():
            make = partial(kind, n_jobs=1, **options)
            theirs, its = least(each, make, X, codes[:, some], X_test, "predict")
            theirs *= len(pairs) / len(some)
            right = np.mean(np.column_stack(its) == truth[:, some])
            print(
                f"    {peer:20s} {theirs:7.2f} s, ratio {theirs / ours:5.2f},"
                f" accuracy {right:.4f}",
                flush=True,
            )


def threads(trees: int) -> None:
    """Two processes that share nothing show what the machine has to give."""
    print("threads: wall time of one and two, and of two processes with half of the trees each")
    for name in NAMES:
        _hold(*next(folds(name))[:2])
        wall: dict[str, list[float]] = {"one": [], "two": [], "apart": []}
        with Pool(2, _hold, _held) as pool:
            _grow(trees, 2)
            pool.map(_grow, [trees] * 2, 1)
            for _ in range(25 if len(_held[0]) < 5_000 else 7):
                wall["one"].append(_wall(_grow, trees, 1))
                wall["two"].append(_wall(_grow, trees, 2))
                wall["apart"].append(_wall(pool.map, _grow, [trees // 2] * 2, 1))
        one, two, apart = (median(times) for times in wall.values())
        print(
            f"  {name:10s} {one:.3f} s and {two:.3f} s: {one / two:.2f} times;"
            f" two processes: {one / apart:.2f} times",
            flush=True,
        )


_held: tuple[np.ndarray, ...] = ()


def _hold(*data: np.ndarray) -> None:
    """Keep what a process is to grow forests on."""
    global _held
    _held = data


def _grow(trees: int, jobs: int = 1) -> None:
    ForestRegressor(trees, random_state=0, n_jobs=jobs).fit(*_held)


def _wall(work: Callable[..., Any], *arguments: Any) -> float:
    begin = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begin


_MEMORY = """
import sys
sys.path.insert(0, {folder!r})
import forest
from safety import peak
X, Y, _, _ = next(forest.folds({name!r}))
forest.warm_up()
forest.RandomForestRegressor(1).fit(X[:50], Y[:50])
before = peak()
forest.{model}({trees}, random_state=0).fit(X, Y)
print(before, peak())
"""


def memory(trees: int) -> None:
    print("memory: peak of a native fit in a process of its own, above what loading takes")
    folder = str(Path(__file__).parent)
    for name in NAMES:
        peaks = []
        for model in ("ForestRegressor", "RandomForestRegressor"):
            code = _MEMORY.format(folder=folder, name=name, model=model, trees=trees)
            answer = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            before, after = map(float, answer.stdout.split())
            peaks.append((after, after - before))
        print(
            f"  {name:10s} peak {peaks[0][0]:.0f} MiB (fit {peaks[0][1]:.0f}), "
            f"scikit-learn {peaks[1][0]:.0f} MiB (fit {peaks[1][1]:.0f}): "
            f"{peaks[0][0] / peaks[1][0]:.2f} times"
        )


def growth(trees: int, plot: str, most: int) -> None:
    print(f"growth: synthetic, 20 features, 10 labels, {trees} trees")
    sizes, times = [s for s in (10_000, 31_623, 100_000, 316_228, 1_000_000) if s <= most], []
    for n in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 20)).astype(np.float32)
        scores = X @ rng.normal(size=(20, 10)).astype(np.float32)
        scores += rng.normal(size=scores.shape).astype(np.float32)
        Y = scores.argsort(axis=1).argsort(axis=1) + 1.0
        del scores
        seconds, _ = cpu(ForestRegressor(trees, random_state=0).fit, X, Y)
        times.append(seconds)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"  {n:8d} rows {seconds:8.2f} s, peak so far {peak:.2f} GB", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    steps = np.diff(np.log(times)) / np.diff(np.log(sizes))
    print(f"  time grows as n^{slope:.3f}; step by step {', '.join(f'{s:.2f}' for s in steps)}")
    Path(plot).write_text(_svg(sizes, times, slope))
    print(f"  plot: {plot}")


def _svg(sizes: list[int], times: list[float], slope: float) -> str:
    """A log-log plot, small enough to be written by hand."""
    x = np.interp(np.log10(sizes), [np.log10(sizes[0]), np.log10(sizes[-1])], [70, 440])
    y = np.interp(np.log10(times), [np.log10(times[0]), np.log10(times[-1])], [260, 40])
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    marks = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4"/>'
        f'<text x="{a:.1f}" y="285" text-anchor="middle">{n:,}</text>'
        f'<text x="{a - 8:.1f}" y="{b - 8:.1f}" text-anchor="end">{t:.1f} s</text>'
        for a, b, n, t in zip(x, y, sizes, times, strict=True)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="310" '
        'font-family="sans-serif" font-size="11"><rect width="500" height="310" fill="white"/>'
        f'<text x="250" y="18" text-anchor="middle">CPU time of a fit: n^{slope:.2f}</text>'
        f'<polyline points="{points}" fill="none" stroke="black"/>{marks}'
        '<text x="250" y="303" text-anchor="middle">rows (both axes logarithmic)</text></svg>\n'
    )


def _seconds(code: str, **environment: str) -> float:
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env=os.environ | environment,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - begin


def import_time(trees: int) -> None:
    print("import: wall time, best of 5")
    peers = min(_seconds("import sklearn.ensemble, numba") for _ in range(5))
    ours = min(_seconds("import moreplr.forest") for _ in range(5))
    print(
        f"  moreplr.forest {ours:.2f} s, sklearn.ensemble and numba {peers:.2f} s:"
        f" {ours / peers:.2f} times"
    )


_FIRST_FIT = """
import time
import numpy as np
from moreplr import RankingForest
from moreplr.datasets import load
imported = time.process_time()
data = load("iris", "plr")
RankingForest(random_state=0).fit(data.X, data.Y)
print(imported, time.process_time())
"""


def cold_start(trees: int) -> None:
    print("cold: CPU seconds of a process until RankingForest is fitted on iris, imports included")
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    peer = "import numba, pandas, sklearn.ensemble"
    subprocess.run([sys.executable, "-c", peer], check=True)
    peer_time = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    with tempfile.TemporaryDirectory() as folder:
        for label in ("empty cache", "filled cache"):
            answer = subprocess.run(
                [sys.executable, "-c", _FIRST_FIT],
                check=True,
                capture_output=True,
                text=True,
                env=os.environ | {"NUMBA_CACHE_DIR": folder},
            )
            imported, whole = map(float, answer.stdout.split())
            print(
                f"  {label:12s} {whole:5.2f} s, of which {imported:.2f} s are imports", flush=True
            )
    print(f"  importing numba, pandas and scikit-learn alone takes {peer_time:.2f} s")


def accuracy(trees: int) -> None:
    """Averages of five forests a side on fewer than 3,000 rows, where one says little."""
    print("accuracy: tau_x over 10 folds, native and rounded, data sets of 300 rows or more")
    means = []
    for problem, name in ((p, n) for p in PROBLEMS for n in list_datasets(p)):
        n_rows = len(load(name, problem).X)
        if n_rows < 300:
            continue
        ours, theirs = (
            np.array(
                [
                    [
                        tau(Y_test, fit_predict(kind(trees, random_state=seed), X, Y, X_test))
                        for seed in range(5 if n_rows < 3000 else 1)
                    ]
                    for X, Y, X_test, Y_test in islice(folds(name, problem), 10)
                ]
            )
            for kind in (ForestRegressor, RandomForestRegressor)
        )
        difference = ours.mean(axis=1) - theirs.mean(axis=1)
        means.append(difference.mean())
        print(
            f"  {problem:3s} {name:10s} {ours.mean():.4f}, scikit-learn {theirs.mean():.4f},"
            f" difference {means[-1]:+.4f} ± {difference.std(ddof=1) / 10**0.5:.4f}",
            flush=True,
        )
    print(f"  mean difference {np.mean(means):+.4f}")


def main() -> None:
    sections: dict[str, Callable[[int], None]] = {
        "native": native,
        "missing": missing,
        "single": single,
        "pairwise": pairwise,
        "threads": threads,
        "memory": memory,
        "import": import_time,
        "cold": cold_start,
        "accuracy": accuracy,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(sections)}, growth")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--growth-trees", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1_000_000, help="the most rows of growth")
    parser.add_argument("--plot", default="growth.svg")
    options = parser.parse_args()
    globals()["REPEATS"] = options.repeats
    warm_up()
    for name in options.sections or [*(s for s in sections if s != "accuracy"), "growth"]:
        if name == "growth":
            growth(options.growth_trees, options.plot, options.rows)
        else:
            sections[name](options.trees)


if __name__ == "__main__":
    main()
