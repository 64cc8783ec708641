"""Fold scores of other authors, from CSV files, beside those of a store.

A file has a row for each method and split, with the columns

- ``method``, a name that the store does not have;
- ``problem`` and ``dataset``, or ``dataset`` alone as in plans: ``plr/iris``;
- ``fold``, and ``repetition`` where there is more than one (else 0), as in results.csv;
- ``missing`` and ``protocol``, if labels were removed (else 0 and "complete");
- ``tau_x``, and if measured any other number of results.csv.

Means can only be compared over the same splits: a method must have all splits of a data set under
a condition, or none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from moreplr.experiments.methods import COMPLETE

_SPLIT = ["problem", "dataset", "missing", "protocol", "repetition", "fold"]
_PLACE = ["method", *_SPLIT[:4]]
_DEFAULTS: dict[str, Any] = {"missing": 0.0, "protocol": COMPLETE, "repetition": 0}
_NEEDED = ("method", "dataset", "fold", "tau_x")
_TEXTS = ("method", "problem", "dataset", "protocol")
_ORIGIN = "leaderboard"


def with_leaderboard(results: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The results with the scores of a file below; an error names what does not fit."""
    given = _read(path)
    known = set(results["method"])
    for method in given["method"].unique():
        if method in known:
            raise ValueError(f"{path}: the store has a method {method!r} already; rename it")
    twice = given.duplicated(["method", *_SPLIT])
    if twice.any():
        raise ValueError(f"{path} has two scores of {_name(given[twice].iloc[0])}")
    splits = results[_SPLIT].drop_duplicates()
    found = given[["method", *_SPLIT]].merge(splits, how="left", indicator="there")
    unknown = found["there"] != "both"
    if unknown.any():
        raise ValueError(
            f"{path}: the store has no results of the split of {_name(found[unknown].iloc[0])}"
        )
    wanted = splits.groupby(_PLACE[1:]).size().rename("splits")
    counts = given.groupby(_PLACE).size().rename("scores").reset_index().join(wanted, _PLACE[1:])
    for row in counts[counts["scores"] < counts["splits"]].itertuples():
        raise ValueError(
            f"{path} has {row.scores} of the {row.splits} splits of {row.problem}/{row.dataset} "
            f"for {row.method!r}, whose mean would not compare"
        )
    columns = [name for name in results.columns if name in given]
    rows = given[columns].assign(
        status="ok", message="", finished="", seed=0, versions=json.dumps({_ORIGIN: path.name})
    )
    return pd.concat([results, rows], ignore_index=True)


def origin(versions: str) -> str | None:
    """The file that scores with these versions come from; None for those of a run.

    Examples
    --------
    >>> origin('{"leaderboard": "theirs.csv"}')
    'theirs.csv'
    """
    return json.loads(versions).get(_ORIGIN)


def _read(path: Path) -> pd.DataFrame:
    try:
        given = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False)
    except FileNotFoundError:
        raise ValueError(f"there is no leaderboard {path}") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a CSV file: {error}") from error
    lacking = [name for name in _NEEDED if name not in given]
    if lacking:
        raise ValueError(f"{path} lacks the column {lacking[0]!r}; it needs {', '.join(_NEEDED)}")
    if "problem" not in given:
        parts = given["dataset"].str.partition("/")
        given = given.assign(problem=parts[0], dataset=parts[2])
    given = given.assign(**{name: _DEFAULTS[name] for name in _DEFAULTS if name not in given})
    numbers = [column for column in given.columns if column not in _TEXTS]
    given[numbers] = given[numbers].apply(pd.to_numeric, errors="coerce")
    bad = ~given["tau_x"].between(-1, 1)
    if bad.any():
        raise ValueError(f"{path}: tau_x of {_name(given[bad].iloc[0])} is no number in [-1, 1]")
    return given


def _name(row: pd.Series) -> str:
    place = f"{row['method']!r} on {row['problem']}/{row['dataset']}"
    if row["missing"]:
        place += f", missing {row['missing']:g}, {row['protocol']}"
    return f"{place}, repetition {row['repetition']:g}, fold {row['fold']:g}"
