"""Benchmark data sets from a local folder: a manifest and one gzipped CSV for each."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from moreplr.datasets._dataset import Dataset
from moreplr.datasets._table import make_dataset
from moreplr.tables.options import TableOptions

_CUTOFF = re.compile(r"inf where not solved within ([\d.]+) s")


def data_folder() -> Path | None:
    """The folder that the environment variable MOREPLR_DATA names, if it is there."""
    named = os.environ.get("MOREPLR_DATA")
    if named is None:
        return None
    folder = Path(named)
    if not (folder / "manifest.csv").is_file():
        raise FileNotFoundError(f"MOREPLR_DATA names {folder}, which holds no manifest.csv")
    return folder


def manifest(folder: Path) -> pd.DataFrame:
    """The folder's data sets, indexed by problem and name."""
    return pd.read_csv(folder / "manifest.csv").set_index(["problem", "dataset"]).sort_index()


def field_manifest(folder: Path) -> pd.DataFrame:
    """The data sets of the sub-folder `field`, by name; none where it is not there."""
    path = folder / "field" / "manifest.csv"
    if not path.is_file():
        return pd.DataFrame(columns=["kind", "sha256"], index=pd.Index([], name="dataset"))
    return pd.read_csv(path).set_index("dataset").sort_index()


def read_field(folder: Path, name: str) -> Dataset:
    """A data set of the sub-folder `field`, checked against its manifest.

    Its label columns are called ``label:NAME``. They hold positions, or scores: those within 1 %
    are tied, and infinitely bad ones (a solver that did not finish) are last.
    """
    entry: Any = field_manifest(folder).loc[name]
    scores = {"smaller_is_better": "smaller", "larger_is_better": "larger"}.get(entry["kind"])
    options = TableOptions(
        labels="label:", drop_prefix="label:", scores=scores, tolerance="1%" if scores else 0.0
    )
    frame = _read_checked(folder / "field" / f"{name}.csv.gz", entry["sha256"])
    data = make_dataset(frame, name, options, "field")
    if scores is None:
        return data
    known = frame.filter(regex="^label:").set_axis(data.Y.columns, axis=1).astype(float)
    cutoff = _CUTOFF.search(str(entry["note"]))
    return replace(
        data,
        scores=known,
        larger_is_better=scores == "larger",
        cutoff=None if cutoff is None else float(cutoff[1]),
    )


def read(folder: Path, name: str, problem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and positions of one data set, its checksum verified."""
    entry: Any = manifest(folder).loc[(problem, name)]
    frame = _read_checked(folder / entry["file"], entry["sha256"])
    split = frame.shape[1] - int(entry["labels"])
    return frame.iloc[:, :split], frame.iloc[:, split:].astype(float)


def _read_checked(path: Path, checksum: str) -> pd.DataFrame:
    content = gzip.decompress(path.read_bytes())
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ValueError(f"{path} does not have the manifest's checksum")
    return pd.read_csv(io.BytesIO(content))
