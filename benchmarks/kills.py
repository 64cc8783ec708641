"""Commands that are killed at random moments: nothing may be lost, and nothing be half there.

    python benchmarks/kills.py [--kills 50]

Each command runs once undisturbed, and then as often as wanted with a kill -9 at a moment that is
drawn from its whole time. After each kill its output must be the old one or the new one, whole.
A plan goes on where it was killed until it is done; its results must be those of the first run.
At the end each command runs undisturbed again and must leave nothing in its folder but its output.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import moreplr
from moreplr.datasets import load
from moreplr.experiments import results

OLD = b"the old file"
FIT = ["fit", "wine.csv", "--labels", "rank_*", "-o"]
PREDICT = ["predict", "wine.moreplr", "many.csv", "-o"]
PLAN = ["benchmark", "--plan", "demo", "--jobs", "0", "--set", "data=['plr/iris']"]
PLAN += ["--set", "methods=['Dummy', 'kNN']", "--set", "repetitions=20", "--store"]
REPORT = ["report", "reference.sqlite", "-o"]
TIMES = ["fit_seconds", "predict_seconds", "finished", "versions"]


def start(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "moreplr", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finish(words: list[str], folder: Path) -> float:
    """Run a command to its end; its seconds."""
    begin = time.monotonic()
    if start(words, folder).wait() != 0:
        raise RuntimeError(f"{words} failed")
    return time.monotonic() - begin


def killed(words: list[str], folder: Path, most: float) -> bool:
    """Kill a command at a random moment; False where it had ended before."""
    process = start(words, folder)
    time.sleep(random.uniform(0, most))
    process.kill()
    return process.wait() != 0


def content(path: Path) -> dict[str, bytes]:
    """A file, or all files of a folder but those that are not finished."""
    files = [path] if path.is_file() else sorted(path.glob("*"))
    return {file.name: file.read_bytes() for file in files if ".part." not in file.name}


def is_old_or(new: dict[str, bytes], path: Path) -> bool:
    found = content(path)
    return all(data in (OLD, new.get(name)) for name, data in found.items())


def is_done(store: Path, reference: pd.DataFrame) -> bool:
    """Whether a plan is done; what it has so far must be of the undisturbed run."""
    found = results(store).drop(columns=TIMES)
    both = found.merge(reference)
    if len(both) != len(found):
        raise RuntimeError("a killed plan has other results")
    return len(found) == len(reference)


def try_file(words: list[str], output: str, folder: Path, kills: int) -> int:
    """Kill what writes a file or a folder; how many of the kills met it at work."""
    reference, path = folder / f"reference-{output}", folder / output
    most = finish([*words, reference.name], folder)
    new = content(reference)
    if reference.is_file():
        path.write_bytes(OLD)
        new = {output: new[reference.name]}
    met = 0
    for _ in range(kills):
        met += killed([*words, output], folder, most)
        if not is_old_or(new, path):
            raise RuntimeError(f"{output} is half there")
        if path.is_file():
            path.write_bytes(OLD)
    finish([*words, output], folder)
    if content(path) != new or any(".part." in one.name for one in folder.rglob(f".*{output}*")):
        raise RuntimeError(f"{output} is another one, or leaves something behind")
    return met


def try_plan(folder: Path, kills: int) -> int:
    """Kill a plan again and again, beginning anew whenever it is done."""
    most = finish([*PLAN, "reference.sqlite"], folder)
    reference = results(folder / "reference.sqlite").drop(columns=TIMES)
    store, met = folder / "plan.sqlite", 0
    for _ in range(kills):
        met += killed([*PLAN, store.name], folder, most)
        if store.exists() and store.stat().st_size and is_done(store, reference):
            store.unlink()
    finish([*PLAN, store.name], folder)
    if not is_done(store, reference):
        raise RuntimeError("a plan that was killed lacks results")
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    kills = parser.parse_args().kills
    random.seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, Y = load("wine")
        X.join(Y.add_prefix("rank_")).to_csv(folder / "wine.csv", index=False)
        pd.concat([X] * 100).to_csv(folder / "many.csv", index=False)
        moreplr.save(moreplr.RankingForest(random_state=0).fit(X, Y), folder / "wine.moreplr")
        steps: dict[str, Callable[[], int]] = {
            "benchmark": lambda: try_plan(folder, kills),
            "report": lambda: try_file(REPORT, "report", folder, kills),
            "fit -o": lambda: try_file(FIT, "model", folder, kills),
            "predict -o": lambda: try_file(PREDICT, "out.csv", folder, kills),
        }
        print("| command | kills | of them at work | outcome |\n|---|---:|---:|---|")
        for step, run in steps.items():
            print(f"| {step} | {kills} | {run()} | old or new, whole |", flush=True)


if __name__ == "__main__":
    main()
