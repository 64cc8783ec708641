"""Peak memory and seconds of fit, save, load and predict, of every ranker.

    python benchmarks/safety.py [--sizes 2000x10 …] [--rankers RankingForest …] [--rows 10000]
    python benchmarks/safety.py --million
    python benchmarks/safety.py --threads

Made data: 20 features, rankings that follow noisy linear utilities, with ties. Each ranker and
size runs in a process of its own, on one thread, under Linux with glibc. Memory is what a step
adds to the process at most, beside what it had before, with the ranks that it gives. A ranker
that takes longer than `--most` seconds, or more than 8 GB, is given up and said so. `AutoRanker`
has a time budget of 60 seconds.

--million: predictions of 10⁶ rows, of rankers fitted on 2,000 rows with 10 labels. 80 MB of the
memory are the ranks themselves.

--threads: how much faster a default forest of 2,000 rows with 10 labels is fitted by two threads.
The least of `--repeats` times; and, as clocks mean little on a machine with other work, CPU
seconds: those of the main thread, in which no other works, and half of the others.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import moreplr
from moreplr import (
    AutoRanker,
    BradleyTerryRanker,
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingBoost,
    RankingForest,
    RankingTree,
    TableRanker,
)
from moreplr.forest import ForestClassifier

RANKERS: dict[str, Callable[[], Any]] = {
    "DummyRanker": DummyRanker,
    "RankingForest": lambda: RankingForest(random_state=0),
    "RankingBoost": lambda: RankingBoost(random_state=0),
    "BradleyTerryRanker": BradleyTerryRanker,
    "NearestNeighborsRanker": NearestNeighborsRanker,
    "RankingTree": lambda: RankingTree(random_state=0),
    "MORERanker": lambda: MORERanker(random_state=0),
    "PairwiseRanker, forests": lambda: PairwiseRanker(ForestClassifier(), random_state=0),
    "PairwiseRanker, logistic": lambda: PairwiseRanker(LogisticRegression()),
    "TableRanker": lambda: TableRanker(RankingForest(random_state=0)),
    "AutoRanker": lambda: AutoRanker(random_state=0),
}
SIZES = (
    "2000x10",
    "2000x2",
    "20000x10",
    "20000x2",
    "100000x10",
    "100000x2",
    "1000x100",
    "1000x300",
)
STEPS = ("fit", "save", "load", "predict")
MOST_BYTES = 8 << 30
MEBIBYTE = 1 << 20


def made(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, and rankings with ties: half as many places as labels, where there are many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    utilities = X @ np.random.default_rng(0).normal(size=(20, k)) + rng.normal(size=(n, k))
    places = (-utilities).argsort(axis=1).argsort(axis=1) + 1.0
    return X, places if k == 2 else np.ceil(places / 2)


def peak(reset: bool = False) -> float:
    """The most memory of this process, since the last reset, in MiB."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measured(step: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a step gives, its CPU seconds, and the memory that it adds at most."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free already goes back to the system
    before = peak(reset=True)
    start = time.process_time()
    result = step()
    return result, time.process_time() - start, max(peak() - before, 0.0)


def run(name: str, n: int, k: int, rows: int) -> None:
    """Measure one ranker in this process; prints a line for each step."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    warnings.simplefilter("ignore")
    warm = RANKERS[name]()
    if isinstance(warm, AutoRanker):
        warm.set_params(time_budget=5.0)
    warm.fit(*made(60, 4, 1)).predict(made(5, 4, 2)[0])  # compiled
    X, Y = made(n, k, 1)
    new = made(rows, k, 2)[0]

    def note(step: str, seconds: float, memory: float, **more: Any) -> None:
        print(json.dumps({"step": step, "seconds": seconds, "memory": memory, **more}), flush=True)

    ranker, *cost = measured(lambda: RANKERS[name]().fit(X, Y))
    note("fit", *cost)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        _, *cost = measured(lambda: moreplr.save(ranker, path))
        note("save", *cost, size=os.path.getsize(path) / MEBIBYTE)
        del ranker
        ranker, *cost = measured(lambda: moreplr.load(path, max_bytes=MOST_BYTES))
        note("load", *cost)
    _, *cost = measured(lambda: ranker.predict(new))
    note("predict", *cost)


def row_of(name: str, n: int, k: int, rows: int, most: float) -> str:
    """A line of the table."""
    code = f"from safety import run; run({name!r}, {n}, {k}, {rows})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, error = process.communicate(timeout=most)
        fault = error.strip().splitlines()[-1] if process.returncode else ""
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        fault = f"given up after {most:g} s"
    found = {line["step"]: line for line in map(json.loads, out.splitlines())}
    cells = [name, f"{n:,}", str(k)]
    for step in STEPS:
        if step not in found:
            cells.append(fault[:60])
            break
        one = found[step]
        size = f", file {one['size']:,.1f} MiB" if "size" in one else ""
        cells.append(f"{one['seconds']:.1f} s, {one['memory']:,.0f} MiB{size}")
    return "| " + " | ".join(cells) + " |"


def threads(repeats: int) -> None:
    """Print seconds and CPU seconds of a fit by one thread and by two."""
    RANKERS["RankingForest"]().fit(*made(60, 4, 1))  # compiled
    X, Y = made(2000, 10, 1)
    clock, work = {1: [], 2: []}, {1: [], 2: []}
    for _ in range(repeats):
        for n_jobs in clock:
            starts = time.perf_counter(), time.process_time(), time.thread_time()
            RankingForest(n_jobs=n_jobs, random_state=0).fit(X, Y)
            ends = time.perf_counter(), time.process_time(), time.thread_time()
            seconds, total, alone = np.subtract(ends, starts)
            clock[n_jobs].append(seconds)
            work[n_jobs].append(alone + (total - alone) / n_jobs)
    for name, found in (("clock", clock), ("CPU", work)):
        one, two = min(found[1]), min(found[2])
        print(f"{name}: {one:.2f} s by one thread, {two:.2f} s by two, {one / two:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="rows x labels")
    parser.add_argument("--rankers", nargs="+", default=list(RANKERS))
    parser.add_argument("--rows", type=int, default=10_000, help="rows to predict")
    parser.add_argument("--most", type=float, default=600.0, help="seconds of a ranker and size")
    parser.add_argument("--million", action="store_true", help="predict 10⁶ rows instead")
    parser.add_argument("--threads", action="store_true", help="fit by two threads instead")
    parser.add_argument("--repeats", type=int, default=5, help="fits by each number of threads")
    options = parser.parse_args()
    if options.threads:
        threads(options.repeats)
        return
    sizes, rows = (["2000x10"], 10**6) if options.million else (options.sizes, options.rows)
    print(f"Rows to predict: {rows:,}. CPU seconds of one thread; memory beside what was there.\n")
    print(f"| ranker | rows | labels | {' | '.join(STEPS)} |")
    print("|---|---:|---:|---|---|---|---|")
    for size in sizes:
        n, k = map(int, size.split("x"))
        for name in options.rankers:
            print(row_of(name, n, k, rows, options.most), flush=True)


if __name__ == "__main__":
    main()
