"""What a report says, part by part: each function gives the HTML of one section."""

from __future__ import annotations

import json
from html import escape

import numpy as np
import pandas as pd

from moreplr.experiments.reporting import html, svg
from moreplr.experiments.reporting.summary import PROBLEMS, Block, Condition, Summary
from moreplr.experiments.statistics import bayesian_signed_rank, indistinct_groups
from moreplr.experiments.units import COMPLETE

# Below this many data sets, tests can hardly tell anything apart; the report says so.
_FEW = 6


def lead(summary: Summary) -> str:
    """The summary: what was run and what came out."""
    results = summary.results
    sets = results[["problem", "dataset"]].drop_duplicates()
    folds = summary.cells["folds"]
    per_cell = str(folds.max()) if folds.nunique() == 1 else f"{folds.min()} to {folds.max()}"
    facts = [
        f"{len(results):,} results: {len(sets)} data sets, {len(summary.methods)} methods, "
        f"{per_cell} folds for each mean."
    ]
    for condition in summary.conditions:
        for block in summary.blocks(condition):
            if block.scores.shape[1] == summary.scores(condition).shape[1]:
                facts.append(_verdict(block))
    facts += _against_paper(summary)
    if len(summary.failures):
        failed = int(summary.failures["folds"].sum())
        facts.append(f"{failed:,} results failed or took too long, see below.")
    items = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    return f'<div class="summary"><ul>{items}</ul></div>'


def _verdict(block: Block) -> str:
    tests = block.tests
    ranks = tests.table["rank"]
    others = tests.table[tests.table["holm_p"] >= 0.05].index
    said = f"{block.title[0].upper()}{block.title[1:]}: {tests.control} ranks first"
    said += f" (mean rank {ranks.iloc[0]:.2f} of {len(ranks)})"
    if tests.friedman.p_value >= 0.05 or len(block.scores) < _FEW:
        why = "too few data sets to tell methods apart" if len(block.scores) < _FEW else (
            f"but Friedman's test finds no difference, p = {tests.friedman.p_value:.2g}"
        )  # fmt: skip
        return f"{said}; {why}."
    if len(others):
        return f"{said}; not distinguishable from it: {', '.join(map(str, others))}."
    return f"{said}, and all others are worse (Holm, 5 %)."


def _against_paper(summary: Summary) -> list[str]:
    difference = summary.cells["difference"].dropna()
    if difference.empty:
        return ["No cell is of data and a method that the paper has values for."]
    near = (difference.abs() <= 0.01).mean()
    return [
        f"Against the paper: {len(difference)} cells compared, mean difference "
        f"{html.signed(float(difference.mean()))}, {near:.0%} within 0.010, the largest "
        f"{html.signed(float(difference.loc[difference.abs().idxmax()]))}."
    ]


def ranks(summary: Summary) -> str:
    """Mean ranks of all methods under all conditions, one sortable table."""
    columns: dict[str, pd.Series] = {}
    for condition in summary.conditions:
        for block in summary.blocks(condition):
            if block.scores.shape[1] == summary.scores(condition).shape[1]:
                columns[f"{block.problem}: {condition}"] = block.tests.table["rank"]
    if not columns:
        return "<p>There are fewer than two data sets or methods to compare.</p>"
    frame = pd.DataFrame(columns).reindex(summary.compared).dropna(how="all")
    best = frame.min()
    rows = [
        [
            html.text(method),
            *(html.number(value, 2, best=value == best[name]) for name, value in row.items()),
        ]
        for method, row in frame.iterrows()
    ]
    heads = [("method", "ascending"), *((name, "ascending") for name in frame)]
    return html.table(heads, rows, "Mean rank over the data sets, 1 is best; best in bold.")


def condition_part(summary: Summary, condition: Condition) -> str:
    """Tests and accuracies under one condition."""
    blocks = list(summary.blocks(condition))
    diagrams = [
        html.figure(
            svg.critical_difference(
                block.tests.table["rank"].to_dict(),
                indistinct_groups(block.scores),
                f"critical differences, {block.title}",
            ),
            f"{block.title}. Mean ranks; a bar joins methods that all-pairs Holm does not tell "
            "apart at 5 %.",
        )
        for block in blocks
    ]
    tests = "".join(_holm(block) for block in blocks)
    folded = f"<details><summary>Friedman's and Holm's tests</summary>{tests}</details>"
    return _accuracy(summary, condition) + html.figures(diagrams) + (folded if tests else "")


def _accuracy(summary: Summary, condition: Condition) -> str:
    scores = summary.scores(condition)
    cells = summary.cells
    rows = []
    for place, row in scores.iterrows():
        problem, dataset = place  # type: ignore[misc]
        best, line = row.max(), [html.text(f"{dataset} ({problem})")]
        for method, mean in row.items():
            if pd.isna(mean):
                line.append(html.Cell(""))
                continue
            cell = cells.loc[(problem, dataset, *condition, method)]
            line.append(
                html.score(
                    mean,
                    cell["std"],
                    best=mean == best,
                    paper=cell["paper"],
                    difference=cell["difference"],
                    folds=int(cell["folds"]),
                )
            )
        rows.append(line)
    heads = [("data set", "ascending"), *((name, "descending") for name in scores)]
    caption = "τ_X, mean ± standard deviation over the folds; the best of a data set in bold."
    if cells.xs(condition, level=("missing", "protocol"))["paper"].notna().any():
        caption += " Below, the paper's mean and our difference, shaded by its size."
    return html.table(heads, rows, caption)


def _holm(block: Block) -> str:
    tests = block.tests
    rows = []
    for method, row in tests.table.iterrows():
        line = [html.text(method), html.number(row["rank"], 2), html.p_value(row["holm_p"])]
        line += [html.number(row[name], 0) for name in ("win", "tie", "loss")]
        line.append(html.number(row["effect"], 2))
        shares = [np.nan] * 3
        if method != tests.control:
            shares = list(bayesian_signed_rank(block.scores, tests.control, method).values())
        rows.append([*line, *(html.number(share, 2) for share in shares)])
    names = ["method", "rank", "p (Holm)", "win", "tie", "loss", "effect"]
    names += ["P(better)", "P(equal)", "P(worse)"]
    caption = (
        f"{block.title}: {tests.control} against the others. Friedman p = "
        f"{tests.friedman.p_value:.3g}, Iman–Davenport p = {tests.iman_davenport.p_value:.3g}; "
        "p in bold: no difference at 5 %. Effect: rank-biserial correlation. P: Bayesian "
        "signed-rank test, equal is within 0.01."
    )
    return html.table([(name, "ascending") for name in names], rows, caption)


def times(summary: Summary) -> str:
    """Accuracy against time, one point for each method, over the data sets that all have."""
    condition = summary.conditions[0]
    whole = summary.scores(condition).dropna(axis=0)
    if whole.empty:
        return ""
    cells = summary.cells.reset_index()
    chosen = cells[
        (cells["missing"] == condition.missing) & (cells["protocol"] == condition.protocol)
    ].set_index(["problem", "dataset"])
    chosen = chosen.loc[chosen.index.isin(whole.index)]
    points = {}
    for method in whole:
        own = chosen[chosen["method"] == method]
        seconds = float(np.exp(np.log(own["seconds"].clip(lower=1e-6)).mean()))
        points[str(method)] = (seconds, float(own["tau_x"].mean()))
    x_title = "CPU seconds for a fold (geometric mean)"
    return html.figure(
        svg.scatter(points, x_title, "mean τ_X"),
        f"{condition}, {len(whole)} data sets. Fit and predict on one core; a fit that several "
        "methods share counts in full for each.",
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
            usual = usual[~usual["method"].str.contains("(published)", regex=False)]
            parts += _trait_curves(usual, trait, x_title, problem)
    return html.figures(parts)


def _missing_curves(cells: pd.DataFrame, problem: str) -> list[str]:
    parts = []
    for protocol in ("published", "honest"):
        own = cells[cells["protocol"].isin([COMPLETE, protocol])]
        if own["missing"].nunique() < 2 or protocol not in set(own["protocol"]):
            continue
        series = _mean_series(own, "method", "missing")
        chart = svg.curves(series, "missing labels", "mean τ_X", percent=True)
        parts.append(html.figure(chart, f"{PROBLEMS[problem]}, {protocol} protocol."))
    return parts


def _trait_curves(cells: pd.DataFrame, trait: str, x_title: str, problem: str) -> list[str]:
    if cells[trait].nunique() < 3:
        return []
    parts = []
    for condition, own in cells.groupby(["missing", "protocol"]):
        series = _mean_series(own, "regressor", trait)
        chart = svg.curves(series, x_title, "mean τ_X")
        where = f"{PROBLEMS[problem]}, {Condition(*condition)}"
        parts.append(html.figure(chart, f"{x_title}: {where}."))
    return parts


def _mean_series(cells: pd.DataFrame, by: str, over: str) -> dict[str, list[tuple[float, float]]]:
    """Means over the data sets that have every point of a series, so that points compare."""
    wide = cells.pivot_table(index="dataset", columns=[by, over], values="tau_x").dropna()
    means = wide.mean() if len(wide) else cells.groupby([by, over])["tau_x"].mean()
    series: dict[str, list[tuple[float, float]]] = {}
    for (name, x), y in means.items():  # type: ignore[misc]
        series.setdefault(str(name), []).append((float(x), float(y)))
    return {name: points for name, points in series.items() if len(points) > 1}


def encoders(summary: Summary) -> str:
    """Heat maps of encoders for each regressor and layer."""
    cells = summary.cells["tau_x"].reset_index().join(summary.traits, on="method")
    cells = cells[~cells["method"].str.contains("(published)", regex=False)]
    several = cells.groupby(["regressor", "layer"])["encoder"].nunique()
    if not (several > 1).any():
        return ""
    parts = []
    for key, own in cells.groupby(["problem", "missing", "protocol"]):
        problem, missing, protocol = key
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
        if values:
            where = f"{PROBLEMS[problem]}, {Condition(missing, protocol)}"
            chart = svg.heat_map(values, f"encoders, {where}")
            parts.append(html.figure(chart, f"Mean τ_X, {where}; darker is better in a row."))
    return html.figures(parts)


def _row_names(cells: pd.DataFrame) -> pd.Series:
    """Method names without their encoder, all with the value of q or ε."""
    names = cells["regressor"].astype(str) + "-" + cells["layer"].astype(str)
    for trait, sign in (("q", " q="), ("epsilon", " ε=")):
        given = cells[trait].notna()
        values = cells.loc[given, trait].map(lambda value: f"{value:g}")
        names[given] = names[given] + sign + values
    return names


def failures(summary: Summary) -> str:
    """What went wrong."""
    columns = [(str(name), "ascending") for name in summary.failures]
    rows = [
        [
            html.text(value, "text long" if name == "message" else "text")
            for name, value in row.items()
        ]
        for _, row in summary.failures.iterrows()
    ]
    return html.table(columns, rows, "Methods that raised an error or took too long.")


def notes(summary: Summary) -> str:
    """How the numbers came about."""
    versions = "; ".join(
        ", ".join(f"{name} {number}" for name, number in json.loads(text).items())
        for text in summary.results["versions"].unique()
    )
    items = [
        "Score: τ_X of each test row, mean over the fold, then mean and standard deviation over "
        "the folds. Ranks, wins and tests are over means of three digits, as in the paper.",
        "Published protocol: the complete training ranking is encoded, then labels are taken "
        "away; what is left keeps its position in the complete ranking. Honest protocol: labels "
        "are taken away, then what is left is encoded, as with incomplete data. Rankers that "
        "look at the order alone have the same results in both.",
        "(published) after Chain and Native: −1 in place of missing labels, as if it were a "
        "position, which is what the paper's tables show. Without it they learn from what is "
        "there.",
        "ε here is the gap itself; the paper's value is half of it.",
        "Friedman without correction for ties; Holm against the method of the best mean rank; "
        "wins, ties and losses are those of that method.",
        f"Versions: {versions}.",
    ]
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
