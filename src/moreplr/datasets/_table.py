"""A ranking problem from any table: which columns are labels, and how to read them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from moreplr.rankings import check_rankings, from_text


def read_table(path: str | Path) -> pd.DataFrame:
    """Read CSV or TSV (plain or compressed) or Parquet, told apart by the file's name."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes[-2:])
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pd.read_parquet(path)
        return pd.read_csv(path, sep="\t" if tabs else ",")
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'moreplr[parquet]'") from error
    except ValueError as error:  # an empty file, another encoding, lines of different lengths
        raise ValueError(f"{path}: {error}") from error


def split_table(
    frame: Any, labels: Any = None, text: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and positions of a pandas or polars frame, see :func:`moreplr.datasets.from_csv`.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [0.5], "rank_a": [2], "rank_b": [1]})
    >>> X, Y = split_table(frame, "rank_*")
    >>> list(X), list(Y)
    (['x'], ['rank_a', 'rank_b'])
    """
    if not isinstance(frame, pd.DataFrame):
        frame = frame.to_pandas()
    frame = frame.reset_index(drop=True)
    if text is not None:
        if text not in frame.columns:
            raise ValueError(f"there is no column {text!r}; columns are {list(frame.columns)}")
        names = labels if _is_names(labels) else None
        positions, found = from_text(frame[text].to_list(), names)
        columns = [text]
    else:
        columns = find_labels(list(frame.columns), labels)
        positions, found = check_rankings(frame[columns])
    X = frame.drop(columns=columns)
    if X.shape[1] == 0:
        raise ValueError("no column is left for the features: all of them are labels")
    return X, pd.DataFrame(positions, columns=pd.Index(found.tolist()))


def find_labels(columns: list[Any], labels: Any) -> list[Any]:
    """The label columns: by their names, a pattern or prefix, or the number of last columns.

    Examples
    --------
    >>> find_labels(["x", "L1", "L2"], 2)
    ['L1', 'L2']
    >>> find_labels(["x", "L1", "L2"], "L")
    ['L1', 'L2']
    """
    if labels is None:
        raise ValueError(
            "say which columns are labels: their names, a pattern such as 'rank_*', a prefix, "
            "or the number of last columns"
        )
    if isinstance(labels, int) and not isinstance(labels, bool):
        if not 0 < labels < len(columns):
            raise ValueError(f"{labels} label columns in a table of {len(columns)} columns")
        return columns[-labels:]
    if isinstance(labels, str):
        pattern = labels if any(sign in labels for sign in "*?[") else labels + "*"
        found = [column for column in columns if fnmatchcase(str(column), pattern)]
        if not found:
            raise ValueError(f"no column matches {labels!r}; columns are {columns}")
        return found
    names = list(labels)
    absent = [name for name in names if name not in columns]
    if absent:
        raise ValueError(f"there are no columns {absent}; columns are {columns}")
    return names


def _is_names(labels: Any) -> bool:
    return isinstance(labels, Iterable) and not isinstance(labels, str)
