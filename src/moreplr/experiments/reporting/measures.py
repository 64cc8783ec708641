"""Measures other than τ_X, by problem: pair probabilities, the best label, decisions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from moreplr.experiments.reporting import html
from moreplr.experiments.reporting.summary import PROBLEMS, Condition, Summary
from moreplr.experiments.units import MEASURES
from moreplr.rankings._cells import count

CONSENSUS = "Dummy"
# Measures of which larger values are better.
_LARGE_IS_GOOD = ("tau_x", "top_one", "closed_gap")
_HEADS = {
    "tau_x": "τ_X",
    "tau_x_rank": "rank by τ_X",
    "log_loss": "log loss of pairs",
    "log_loss_rank": "rank by log loss",
    "calibration_error": "calibration error",
    "top_one": "best label right",
    "regret": "regret",
    "par10": "PAR10",
    "closed_gap": "gap closed",
    "behind": "sets behind the consensus",
}


def measures_table(summary: Summary, condition: Condition) -> pd.DataFrame:
    """Means over the data sets of each problem, a row for each problem and method.

    Ranks are over the data sets that all methods of a problem have, and by unrounded means.
    `behind` counts data sets whose mean τ_X is below the consensus's by more than the standard
    error of the difference over folds.
    """
    ok = summary.results[
        (summary.results["status"] == "ok")
        & (summary.results["missing"] == condition.missing)
        & (summary.results["protocol"] == condition.protocol)
        & summary.results["method"].isin(summary.compared)
    ]
    parts = []
    for problem, own in ok.groupby("problem", sort=False):
        means = own.groupby(["method", "dataset"])[["tau_x", *MEASURES]].mean()
        table = means.groupby("method").mean()
        for name in ("tau_x", "log_loss"):
            wide = means[name].unstack("method").dropna(axis=1, how="all").dropna()
            table[f"{name}_rank"] = wide.rank(axis=1, ascending=name != "tau_x").mean()
        table["behind"] = behind_consensus(own)
        table["datasets"] = own.groupby("method")["dataset"].nunique()
        parts.append(table.assign(problem=problem).reset_index())
    columns = ["problem", "method", "datasets", *_HEADS]
    return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)


def behind_consensus(results: pd.DataFrame) -> pd.Series:
    """For each method, the number of data sets on which it is behind the consensus."""
    wide = results.pivot_table(
        index=["dataset", "repetition", "fold"], columns="method", values="tau_x"
    )
    if CONSENSUS not in wide:
        return pd.Series(np.nan, index=wide.columns)
    gain = wide.sub(wide[CONSENSUS], axis=0).groupby("dataset")
    error = gain.std().div(gain.count() ** 0.5).fillna(0.0)
    return (gain.mean() < -error).sum()


def measures(summary: Summary) -> str:
    """The table as HTML, for each condition under which more than τ_X was measured."""
    parts = []
    for condition in summary.conditions:
        table = measures_table(summary, condition)
        if table["log_loss"].isna().all():
            continue
        for problem, own in table.groupby("problem", sort=False):
            parts.append(_as_html(own, f"{PROBLEMS[str(problem)]}, {condition}"))
    return "".join(parts)


def _as_html(table: pd.DataFrame, title: str) -> str:
    shown = [name for name in _HEADS if table[name].notna().any()]
    rows = []
    for _, row in table.sort_values("tau_x_rank").iterrows():
        cells = [html.text(row["method"])]
        for name in shown:
            column = table[name]
            best = column.max() if name in _LARGE_IS_GOOD else column.min()
            digits = {"par10": 1, "behind": 0}.get(name, 2 if name.endswith("rank") else 3)
            cells.append(html.number(float(row[name]), digits, best=row[name] == best))
        rows.append(cells)
    heads = [("method", "ascending")]
    heads += [
        (_HEADS[name], "descending" if name in _LARGE_IS_GOOD else "ascending") for name in shown
    ]
    size = count(int(table["datasets"].max()), "data set")
    return html.table(heads, rows, f"{title}: means over {size}")
