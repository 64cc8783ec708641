"""The pictures of a report: accuracy against time, curves over what varies, and encoders."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd

from moreplr.experiments.methods import COMPLETE
from moreplr.experiments.reporting import figures, html
from moreplr.experiments.reporting.summary import (
    PROBLEMS,
    Condition,
    Summary,
    percent,
)
from moreplr.rankings._cells import count


def times(summary: Summary) -> str:
    """Accuracy against time, one point for each method, over the data sets that all have."""
    condition = summary.conditions[0]
    blocks = list(summary.main_blocks(condition))
    if not blocks:
        return ""
    whole = blocks[-1].scores
    cells = summary.cells.reset_index()
    chosen = cells[
        (cells["missing"] == condition.missing) & (cells["protocol"] == condition.protocol)
    ].set_index(["problem", "dataset"])
    chosen = chosen.loc[chosen.index.isin(whole.index)]
    points = {}
    for method in whole:
        own = chosen[chosen["method"] == method]
        seconds = float(np.exp(np.log(own["seconds"].clip(lower=1e-6)).mean()))
        if np.isfinite(seconds):  # scores from a leaderboard may come without times
            points[str(method)] = (seconds, float(own["tau_x"].mean()))
    x_title = "CPU seconds for a fold (geometric mean)"
    return html.figure(
        figures.scatter(points, x_title, "mean τ_X"),
        f"{condition}, {count(len(whole), 'data set')}. Fit and predict on one core; a fit that "
        "several methods share counts in full for each.",
    )


def curves(summary: Summary) -> str:
    """τ_X over the missing share, q and ε, where there is more than one value of it."""
    cells = summary.cells["tau_x"].reset_index().join(summary.traits, on="method")
    parts = []
    for problem in cells["problem"].unique():
        own = cells[cells["problem"] == problem]
        parts += _missing_curves(own[own["method"].isin(summary.compared)], problem)
        for layer, trait, x_title in (("PI", "q", "q"), ("EPS", "epsilon", "ε")):
            usual = own[(own["layer"] == layer) & (own["encoder"] == "modified")]
            usual = usual[~usual["method"].str.contains("(", regex=False)]
            parts += _trait_curves(usual, trait, x_title, problem)
    return html.figures(parts)


def _missing_curves(cells: pd.DataFrame, problem: str) -> list[str]:
    parts = []
    for protocol in ("published", "honest"):
        own = cells[cells["protocol"].isin([COMPLETE, protocol])]
        if own["missing"].nunique() < 2 or protocol not in set(own["protocol"]):
            continue
        series = _mean_series(own, "method", "missing")
        chart = figures.curves(series, "missing labels", "mean τ_X", percent=True)
        parts.append(html.figure(chart, f"{PROBLEMS[problem]}, {protocol} protocol."))
    return parts


def _trait_curves(cells: pd.DataFrame, trait: str, x_title: str, problem: str) -> list[str]:
    if cells[trait].nunique() < 3:
        return []
    parts = []
    for protocol in ("published", "honest"):
        own = cells[cells["protocol"].isin([COMPLETE, protocol])]
        if protocol not in set(cells["protocol"]) and protocol != "published":
            continue
        own = own.assign(series=own["regressor"] + own["missing"].map(lambda s: f", {percent(s)}"))
        chart = figures.curves(_mean_series(own, "series", trait), x_title, "mean τ_X")
        which = f", {protocol} protocol" if own["missing"].any() else ""
        parts.append(html.figure(chart, f"Over {x_title}: {PROBLEMS[problem]}{which}."))
    return parts


def _mean_series(cells: pd.DataFrame, by: str, over: str) -> dict[str, list[tuple[float, float]]]:
    """Means over the data sets that have every point of a series, so that points compare."""
    wide = cells.pivot_table(index="dataset", columns=[by, over], values="tau_x").dropna()
    means = wide.mean() if len(wide) else cells.groupby([by, over])["tau_x"].mean()
    series: dict[str, list[tuple[float, float]]] = {}
    for key, y in means.items():
        name, x = cast(tuple[str, float], key)
        series.setdefault(str(name), []).append((float(x), float(y)))
    return {name: points for name, points in series.items() if len(points) > 1}


def encoders(summary: Summary) -> str:
    """Heat maps of encoders for each regressor and layer."""
    cells = summary.cells["tau_x"].reset_index().join(summary.traits, on="method")
    cells = cells[~cells["method"].str.contains("(", regex=False)]
    several = cells.groupby(["regressor", "layer"])["encoder"].nunique()
    if not (several > 1).any():
        return ""
    parts = []
    for key, own in cells.groupby(["problem", "missing", "protocol"]):
        problem, missing, protocol = cast(tuple[str, float, str], key)
        own = own.assign(row=_row_names(own))
        means = own.groupby(["row", "encoder"])["tau_x"].mean().unstack()
        means = means[means.notna().sum(axis=1) > 1].reindex(
            columns=["dense", "standard", "modified", "fractional"]
        )
        values = {
            (str(row), str(column)): float(value)
            for row, line in means.iterrows()
            for column, value in line.dropna().items()
        }
        if len(set(values.values())) > len({row for row, _ in values}):  # else all agree
            where = f"{PROBLEMS[problem]}, {Condition(missing, protocol)}"
            chart = figures.heat_map(values, f"encoders, {where}")
            parts.append(
                html.figure(chart, f"Mean τ_X, {where}; the more colour, the better in its row.")
            )
    return html.figures(parts)


def _row_names(cells: pd.DataFrame) -> pd.Series:
    """Method names without their encoder, all with the value of q or ε."""
    names = cells["regressor"].astype(str) + "-" + cells["layer"].astype(str)
    for trait, sign in (("q", " q="), ("epsilon", " ε=")):
        given = cells[trait].notna()
        # As text also where there is none, or numbers would be added to names.
        values = cells.loc[given, trait].map("{:g}".format).astype(str)
        names[given] = names[given] + sign + values
    return names
