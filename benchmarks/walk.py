"""How many functions and files of the library a fit and a prediction run through.

    python benchmarks/walk.py

Counts distinct Python functions of `moreplr` that RankingForest calls on iris, after a first fit
and prediction that imported and compiled what they need. Version 0.1.0 had 190 functions in 40
files for the fit, 76 in 22 for the prediction.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import moreplr
from moreplr import RankingForest
from moreplr.datasets import load

SOURCE = str(Path(moreplr.__file__).parent)


def called(work: Callable[[], Any]) -> set[tuple[str, str, int]]:
    """File, name and line of each function that `work` calls."""
    codes = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    files = ((code.co_filename, code.co_qualname, code.co_firstlineno) for code in codes)
    return {(str(Path(file).relative_to(SOURCE)), name, line) for file, name, line in files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="name the functions, too")
    options = parser.parse_args()
    X, Y = load("iris", "plr")
    ranker = RankingForest(random_state=0)
    ranker.fit(X, Y).predict(X)
    walks = {"fit": lambda: ranker.fit(X, Y), "predict": lambda: ranker.predict(X)}
    for what, work in walks.items():
        functions = called(work)
        files = Counter(file for file, _, _ in functions)
        print(f"{what}: {len(functions)} functions in {len(files)} files")
        for file, count in sorted(files.items()) if options.names else ():
            names = sorted(name for its, name, _ in functions if its == file)
            print(f"  {file} ({count}): {', '.join(names)}")


if __name__ == "__main__":
    main()
