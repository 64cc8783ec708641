"""CPU seconds of RankingForest's fit, of this version and of another one, side by side.

    MOREPLR_DATA=<folder> python benchmarks/since_cost.py OTHER_PYTHON [lr/iris …]

OTHER_PYTHON is the interpreter of an environment that has the other version, such as one made in
a `git worktree` of it. Both sides are processes that stay, warm and single-threaded, and take
turns on the training rows of the first of ten folds of the paper's data sets, complete and with
30 and 60 % of the labels missing (honest). The ratio of a data set is that of the sums of its
three fits. Printed at the end are the mean ratio over data sets, and the ratio of all seconds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold

from moreplr.datasets import list_datasets, load
from moreplr.incomplete import remove_labels
from moreplr.vectorizing import FrameVectorizer

WORKER = """
import sys, time, warnings
import numpy as np
from moreplr import RankingForest
warnings.simplefilter("ignore")
for line in sys.stdin:
    data = np.load(line.strip())
    start = time.process_time()
    RankingForest(n_jobs=1, random_state=0).fit(data["X"], data["Y"])
    print(time.process_time() - start, flush=True)
"""


def names(chosen: list[str]) -> list[str]:
    """Those of the paper's data sets that are asked for, as problem/name."""
    every = [f"{problem}/{name}" for problem in ("lr", "plr") for name in list_datasets(problem)]
    return [name for name in every if not chosen or name in chosen]


def seconds(worker: subprocess.Popen[str], path: Path) -> float:
    """What a fit on the rows in a file takes the worker."""
    ask, answer = worker.stdin, worker.stdout
    print(path, file=ask, flush=True)
    return float(answer.readline())


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    other, *chosen = sys.argv[1:]
    words = ["-c", WORKER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    sides = [subprocess.Popen([python, *words], **pipes) for python in (sys.executable, other)]
    found = []
    with tempfile.TemporaryDirectory() as room:
        path = Path(room, "rows.npz")
        X, Y = (part.to_numpy(float) for part in load("iris", "plr"))
        for gone in (0.0, 0.3):
            np.savez(path, X=X, Y=remove_labels(Y, gone, random_state=0))
            for side in sides:
                seconds(side, path)
        for name in names(chosen):
            problem, plain = name.split("/")
            X, Y = load(plain, problem)
            X, Y = np.asarray(FrameVectorizer().fit_transform(X), float), Y.to_numpy(float)
            rows, _ = next(KFold(10, shuffle=True, random_state=0).split(X))
            taken = np.zeros(2)
            for gone in (0.0, 0.3, 0.6):
                np.savez(path, X=X[rows], Y=remove_labels(Y[rows], gone, random_state=0))
                taken += [seconds(side, path) for side in sides]
            found.append(taken)
            print(
                f"{name:16} {taken[0]:6.2f} {taken[1]:6.2f}  {taken[0] / taken[1]:.2f}", flush=True
            )
    both = np.array(found)
    print(f"mean ratio over {len(both)} data sets: {np.mean(both[:, 0] / both[:, 1]):.3f}")
    print(f"ratio of all seconds: {both[:, 0].sum() / both[:, 1].sum():.3f}")


if __name__ == "__main__":
    main()
