"""Benchmark data sets from OpenML by identifier, kept in scikit-learn's cache."""

from __future__ import annotations

import pandas as pd
from sklearn.datasets import fetch_openml

from moreplr.datasets._paper import Entry


def fetch(entry: Entry) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and positions of a data set; errors name a remedy."""
    if entry.openml_id is None:
        raise ValueError(f"{entry.problem}/{entry.name} is not on OpenML; {_FOLDER}")
    try:
        bunch = fetch_openml(data_id=entry.openml_id, as_frame=True, parser="auto")
    except OSError as error:
        raise ValueError(
            f"OpenML does not give data set {entry.openml_id} ({entry.problem}/{entry.name}): "
            f"{error}; {_FOLDER}"
        ) from error
    X, Y = bunch.data, bunch.target
    if getattr(Y, "ndim", 0) != 2 or Y.shape[1] != entry.labels:
        raise ValueError(
            f"OpenML's data set {entry.openml_id} does not have {entry.labels} labels as "
            f"{entry.problem}/{entry.name} has"
        )
    # Positions may come as categories, whose values are texts.
    return X.reset_index(drop=True), Y.astype(str).astype(float).reset_index(drop=True)


_FOLDER = "set MOREPLR_DATA to a folder that has it"
