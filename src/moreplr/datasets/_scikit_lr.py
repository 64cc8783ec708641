"""The CSV files of scikit-lr: three numbers, then features and ranks without a header."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from moreplr._files import existing_file
from moreplr.datasets._dataset import Dataset


def from_scikit_lr(path: str | Path, *, problem: str = "plr") -> Dataset:
    """A data set from a file of scikit-lr.

    The first line holds the numbers of rows, features and labels; each other line holds the
    features of a row and the ranks of its labels. Columns have no names: features are called
    x1, x2, …, labels L1, L2, …

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.csv"
    ...     _ = path.write_text("2,1,3\\n0.5,1,2,2\\n1.5,3,1,2\\n")
    ...     X, Y = from_scikit_lr(path)
    >>> Y.values.tolist()
    [[1.0, 2.0, 2.0], [3.0, 1.0, 2.0]]
    """
    path = existing_file(path)
    lines = path.read_text(encoding="utf-8").split()
    heading = lines[0].split(",") if lines else []
    if len(heading) != 3 or not all(cell.isdecimal() for cell in heading):
        raise ValueError(
            f"{path}: the first line of a file of scikit-lr says how many rows, features and "
            "labels it has, such as '150,4,3'"
        )
    n, d, k = map(int, heading)
    rows = [line.split(",") for line in lines[1:]]
    if len(rows) != n:
        raise ValueError(f"{path} says {n} rows, but has {len(rows)}")
    for number, row in enumerate(rows, start=2):
        if len(row) != d + k:
            raise ValueError(f"{path}: line {number} has {len(row)} cells, not {d + k}")
    try:
        values = np.array(rows, dtype=float).reshape(n, d + k)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    X = pd.DataFrame(values[:, :d], columns=pd.Index([f"x{at + 1}" for at in range(d)]))
    Y = pd.DataFrame(values[:, d:], columns=pd.Index([f"L{at + 1}" for at in range(k)]))
    return Dataset(path.name.split(".")[0], problem, X, Y)
