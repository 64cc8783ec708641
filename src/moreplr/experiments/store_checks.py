"""Refuse stores with values that no run writes, since they may come from anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moreplr.datasets import PROBLEMS
from moreplr.experiments.methods import COMPLETE, PROTOCOLS
from moreplr.experiments.units import MEASURED

_WORDS = {
    "problem": PROBLEMS,
    "protocol": (COMPLETE, *PROTOCOLS),
    "status": ("ok", "error", "timeout"),
}
_TEXTS = ("dataset", "method", "message", "finished", "versions")
_COUNTS = ("repetition", "fold", "n_train", "n_test")
_LARGEST = 2**53
# Bounds of numbers, both inclusive. Rounding may move a mean this far beyond them.
_ROUNDING = 1e-9
_NUMBERS = {
    "missing": (0, 1),
    "tau_x": (-1, 1),
    "buckets": (0, _LARGEST),
    "fit_seconds": (0, _LARGEST),
    "predict_seconds": (0, _LARGEST),
    "seed": (-_LARGEST, _LARGEST),
    "top_one": (0, 1),
    "log_loss": (0, _LARGEST),
    "calibration_error": (0, 1),
    "regret": (0, _LARGEST),
    "par10": (0, _LARGEST),
    "closed_gap": (-_LARGEST, 1),
    **dict.fromkeys(_COUNTS, (0, _LARGEST)),
}
_WHOLE = (*_COUNTS, "seed")


def check_results(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The results with numeric columns; an error names the first cell that no run writes."""
    found = frame.copy()
    for name, known in _WORDS.items():
        _refuse(~frame[name].isin(known), frame[name], path)
    for name in _TEXTS:
        _refuse(~_is_text(frame[name]), frame[name], path)
    for name, (least, most) in _NUMBERS.items():
        values = pd.to_numeric(frame[name], errors="coerce")
        fits = values.between(least - _ROUNDING, most + _ROUNDING)
        if name in _WHOLE:
            fits &= values == np.floor(values)
        if name in MEASURED:
            fits |= frame[name].isna()
        _refuse(~fits, frame[name], path)
        found[name] = values
    _refuse((frame["status"] == "ok") & frame["tau_x"].isna(), frame["tau_x"], path)
    texts = frame["versions"].unique()
    unknown = frame["versions"].isin([text for text in texts if not _holds_versions(text)])
    _refuse(unknown, frame["versions"], path)
    return found


def check_identities(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """What names stand for; refused unless all of it is text."""
    for name in frame:
        _refuse(~_is_text(frame[name]), frame[name], path)
    return frame


def _refuse(bad: pd.Series, column: pd.Series, path: Path) -> None:
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        shown = repr(column.iloc[row])
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise ValueError(
            f"{path} is not a store of results: {column.name} of row {row + 1} is {shown}"
        )


def _is_text(column: pd.Series) -> pd.Series:
    return column.map(lambda cell: isinstance(cell, str)).astype(bool)


def _holds_versions(text: str) -> bool:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
