"""Scenarios of ASlib, the algorithm selection library: a folder of ARFF files each.

A scenario holds features of instances and what each algorithm took for them. See Bischl et al.
(2016), ASlib: a benchmark library for algorithm selection.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moreplr._files import existing_file
from moreplr.datasets._dataset import Dataset
from moreplr.rankings._cells import clip
from moreplr.rankings._scores import rank_scores

RUNS, FEATURES, FOLDS = "algorithm_runs.arff", "feature_values.arff", "cv.arff"
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)


def from_aslib(folder: str | Path, *, tolerance: float | str = "1%") -> Dataset:
    """A data set from the folder of an ASlib scenario.

    Runs that did not end well (time-outs, crashes) come last, all tied. Runs of several
    repetitions are averaged. `groups` are the scenario's own folds, where it has some: ten folds
    of :class:`sklearn.model_selection.GroupKFold` are its ten.

    Parameters
    ----------
    folder : str or path
        Holds `algorithm_runs.arff` and `feature_values.arff`, and may hold `cv.arff` and
        `description.txt`.
    tolerance : float or str
        How close performances tie, see :func:`moreplr.rankings.from_scores`.
    """
    folder = Path(folder)
    runs, values = read_arff(folder / RUNS), read_arff(folder / FEATURES)
    measure = _measure(runs, folder)
    larger = _is_maximized(folder)
    worst = -np.inf if larger else np.inf
    runs["value"] = runs[measure].astype(float).where(runs["runstatus"] == "ok", worst)
    scores = runs.pivot_table(
        index="instance_id", columns="algorithm", values="value", aggfunc="mean", sort=False
    )
    own = values.drop(columns=["repetition"], errors="ignore").groupby("instance_id", sort=False)
    X = own.mean(numeric_only=True)
    shared = X.index[X.index.isin(scores.index)]
    if not len(shared):
        raise ValueError(f"{folder}: no instance has features and runs")
    X, scores = X.loc[shared], scores.loc[shared]
    scores = scores[sorted(scores, key=str)]
    Y = rank_scores(
        scores.to_numpy(), scores.columns, larger_is_better=larger, tolerance=tolerance
    )
    better = "the largest is best" if larger else "the smallest is best"
    return Dataset(
        folder.name,
        "plr",
        X.reset_index(drop=True),
        pd.DataFrame(Y, columns=pd.Index(scores.columns.tolist())),
        groups=_folds(folder, shared),
        meaning=f"{measure}: {better}, within {tolerance} is tied, failed is last",
    )


def read_arff(path: str | Path) -> pd.DataFrame:
    """A table of an ARFF file: numbers as floats, all else as texts, ``?`` as a gap.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.arff"
    ...     _ = path.write_text("@RELATION r\\n@ATTRIBUTE id STRING\\n@ATTRIBUTE x NUMERIC\\n"
    ...                         "@DATA\\n'a, b',1.5\\nc,?\\n")
    ...     read_arff(path).to_dict("list")
    {'id': ['a, b', 'c'], 'x': [1.5, nan]}
    """
    path = existing_file(path)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    types: dict[str, str] = {}
    rows: list[list[str]] = []
    in_data = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            rows.append(_cells(text, len(types), f"{path}: line {number}"))
        elif text.lower().startswith("@data"):
            in_data = True
        elif text.lower().startswith("@attribute"):
            named = _ATTRIBUTE.match(text)
            if named is None:
                raise ValueError(f"{path}: line {number}: {clip(text)} is no attribute")
            types[named[1].strip("'\"")] = named[2].strip().lower()
        elif not text.lower().startswith("@relation"):
            raise ValueError(f"{path}: line {number}: {clip(text)} is not of an ARFF file")
    if not in_data:
        raise ValueError(f"{path} has no line @DATA")
    columns = {}
    for at, (name, kind) in enumerate(types.items()):
        cells = [None if row[at] == "?" else row[at] for row in rows]
        is_number = kind.split()[0] in ("numeric", "real", "integer")
        columns[name] = _numbers(cells, name, path) if is_number else np.array(cells, dtype=object)
    return pd.DataFrame(columns)


def _cells(text: str, width: int, where: str) -> list[str]:
    quote = "'" if "'" in text else '"'
    cells = next(csv.reader([text], quotechar=quote, skipinitialspace=True))
    if len(cells) != width:
        raise ValueError(f"{where} has {len(cells)} cells, but there are {width} attributes")
    return [cell.strip() for cell in cells]


def _numbers(cells: list[str | None], name: str, path: Path) -> np.ndarray:
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except ValueError as error:
        raise ValueError(f"{path}: attribute {name!r}: {error}") from error


def _measure(runs: pd.DataFrame, folder: Path) -> str:
    known = ("instance_id", "repetition", "algorithm", "runstatus")
    absent = [name for name in ("instance_id", "algorithm", "runstatus") if name not in runs]
    measures = [name for name in runs if name not in known]
    if absent or not measures:
        raise ValueError(f"{folder / RUNS} has no attribute {(absent or ['of performance'])[0]!r}")
    return str(measures[0])


def _is_maximized(folder: Path) -> bool:
    """Whether large values of the first measure are good, by the description."""
    description = folder / "description.txt"
    if not description.is_file():
        return False
    text = description.read_text(encoding="utf-8", errors="replace")
    maximize = re.search(r"^maximize:\s*\[?(?:\n\s*-)?\s*(\w+)", text, re.MULTILINE)
    return maximize is not None and maximize[1].lower() == "true"


def _folds(folder: Path, instances: Any) -> Any:
    if not (folder / FOLDS).is_file():
        return None
    table = read_arff(folder / FOLDS)
    first = table[table["repetition"] == table["repetition"].min()]
    fold = first.drop_duplicates("instance_id").set_index("instance_id")["fold"]
    own = fold.reindex(instances)
    return None if own.isna().any() else own.to_numpy()
