"""Benchmark data sets from a local folder: a manifest and one gzipped CSV for each."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pandas as pd


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


def read(folder: Path, name: str, problem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and positions of one data set, its checksum verified."""
    entry: Any = manifest(folder).loc[(problem, name)]
    content = gzip.decompress((folder / entry["file"]).read_bytes())
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ValueError(f"{folder / entry['file']} does not have the manifest's checksum")
    frame = pd.read_csv(io.BytesIO(content))
    split = frame.shape[1] - int(entry["labels"])
    return frame.iloc[:, :split], frame.iloc[:, split:].astype(float)
