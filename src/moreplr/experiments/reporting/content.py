"""The texts and tables of a report: each function returns the HTML of one section."""

from __future__ import annotations

import json
from html import escape

import pandas as pd

from moreplr.experiments.methods import COMPLETE
from moreplr.experiments.reporting import figures, html
from moreplr.experiments.reporting.leaderboard import origin
from moreplr.experiments.reporting.summary import (
    PROBLEMS,
    Block,
    Condition,
    Summary,
)
from moreplr.experiments.statistics import compare_with, indistinct_groups
from moreplr.rankings._cells import count

_PROTOCOLS = (
    "Published protocol: the complete training ranking is encoded, then labels are taken away; "
    "what is left keeps its position in the complete ranking. Honest protocol: labels are taken "
    "away, then what is left is encoded, as with incomplete data. Rankers that look at the order "
    "alone have the same results in both."
)
_PUBLISHED = (
    "(published) after Chain and Native: −1 in place of missing labels, as if it were a position, "
    "which is what the paper's tables show. Without it they learn from what is there."
)
_EXPECTED = (
    "(expected): positions in incomplete rankings stretched to where they would stand among all "
    "labels, had the missing ones been drawn at random."
)
_TESTS = (
    "Friedman without correction for ties; Holm against the method of the best mean rank; wins, "
    "ties and losses are those of that method."
)
# With fewer data sets than this, tests find hardly any difference; the report has a note.
_FEW = 6


def lead(summary: Summary) -> str:
    """The summary: what was run, and its main results."""
    results = summary.results
    sets = results[["problem", "dataset"]].drop_duplicates()
    folds = summary.cells["folds"]
    per_cell = str(folds.max()) if folds.nunique() == 1 else f"{folds.min()} to {folds.max()}"
    facts = [
        f"{len(results):,} results: {count(len(sets), 'data set')}, "
        f"{count(len(summary.methods), 'method')}, {per_cell} folds for each mean."
    ]
    facts += _against_paper(summary)
    if len(summary.failures):
        failed = int(summary.failures["folds"].sum())
        facts.append(f"Failed or took too long: {failed:,}, see below.")
    items = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    return f'<div class="summary"><ul>{items}</ul>{_winners(summary)}</div>'


def _winners(summary: Summary) -> str:
    """The method that ranks first, and those not worse by the tests, by condition and problem."""
    blocks = {
        condition: {block.problem: block for block in summary.main_blocks(condition)}
        for condition in summary.conditions
    }
    problems = max(blocks.values(), key=len)
    if not problems:
        return ""
    table = [
        [
            html.text(condition.short),
            *(_winner(own[name]) if name in own else html.Cell("") for name in problems),
        ]
        for condition, own in blocks.items()
    ]
    heads = [("missing", "ascending"), *((PROBLEMS[name], "ascending") for name in problems)]
    caption = (
        "First by mean rank of τ_X, and below it the methods that Holm's test at 5 % does not "
        "tell from it."
    )
    if any(len(block.scores) < _FEW for own in blocks.values() for block in own.values()):
        caption += f" With fewer than {_FEW} data sets, tests tell next to nothing apart."
    return html.table(heads, table, caption)


def _winner(block: Block) -> html.Cell:
    tests = block.tests
    first = f"<span class='best'>{escape(tests.control)}</span>"
    rank = f"<span class='std'>rank {tests.table['rank'].iloc[0]:.2f}</span>"
    near = [str(name) for name in tests.table[tests.table["holm_p"] >= 0.05].index]
    others = "all others are worse"
    if tests.friedman.p_value >= 0.05:
        others = f"no difference by Friedman's test, p = {tests.friedman.p_value:.2g}"
    elif near:
        others = ", ".join(near)
    size = f"{block.scores.shape[1]} methods, {count(len(block.scores), 'data set')}"
    more = "".join(f"<span class='paper'>{escape(line)}</span>" for line in (others, size))
    return html.Cell(f"{first} {rank}{more}", tests.control, "text wrap")


def _against_paper(summary: Summary) -> list[str]:
    difference = summary.cells["difference"].dropna()
    if difference.empty:
        return []  # data or methods are not the published ones
    near = (difference.abs() <= 0.01).mean()
    return [
        f"Against the paper: {len(difference)} cells compared, mean difference "
        f"{html.signed(float(difference.mean()))}, {near:.0%} within 0.010, the largest "
        f"{html.signed(float(difference.iloc[int(difference.abs().argmax())]))}."
    ]


def ranks(summary: Summary) -> str:
    """Mean ranks of all methods under all conditions, one sortable table."""
    columns: dict[str, pd.Series] = {}
    for condition in summary.conditions:
        for block in summary.main_blocks(condition):
            name = f"{block.problem.upper() if block.problem != 'both' else 'both'} "
            columns[name + condition.short] = block.tests.table["rank"]
    if not columns:
        return ""
    frame = pd.DataFrame(columns).reindex(summary.compared).dropna(how="all")
    frame = frame.sort_values(frame.columns[0], kind="stable")
    best = frame.min()
    rows = [
        [
            html.text(method),
            *(
                html.number(value, 2, best=value == least)
                for value, least in zip(row, best, strict=True)
            ),
        ]
        for method, row in frame.iterrows()
    ]
    heads = [("method", "ascending"), *((name, "ascending") for name in columns)]
    return html.table(heads, rows, "Mean rank over the data sets, 1 is best; best in bold.")


def condition_part(summary: Summary, condition: Condition) -> str:
    """Tests and accuracies under one condition."""
    blocks = list(summary.blocks(condition))
    diagrams = [
        html.figure(
            figures.critical_difference(
                {str(name): rank for name, rank in block.tests.table["rank"].items()},
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
    cells = summary.under(condition)
    wide = summary.across_methods(cells.apply(html.score, axis=1))
    empty = html.Cell("")
    rows = [
        [html.text(f"{dataset} ({problem})"), *(empty if pd.isna(cell) else cell for cell in line)]
        for (problem, dataset), line in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    heads = [("data set", "ascending"), *((str(name), "descending") for name in wide)]
    caption = "τ_X, mean ± standard deviation over the folds; the best of a data set in bold."
    if cells["paper"].notna().any():
        caption += " Below, the paper's mean and our difference, shaded by its size."
    return html.table(heads, rows, caption)


def _holm(block: Block) -> str:
    tests = block.tests
    table = compare_with(block.scores, tests.control)
    rows = [
        [
            html.text(method),
            html.number(row["rank"], 2),
            html.p_value(row["holm_p"]),
            html.p_value(row["wilcoxon_p"]),
            *(html.number(row[name], 0) for name in ("win", "tie", "loss")),
            *(html.number(row[name], 2) for name in ("effect", "better", "equal", "worse")),
        ]
        for method, row in table.iterrows()
    ]
    names = ["method", "rank", "p (Holm)", "p (Wilcoxon, Holm)", "win", "tie", "loss", "effect"]
    names += ["P(better)", "P(equal)", "P(worse)"]
    floor = table["floor"].iloc[0]
    caption = (
        f"{block.title}: {tests.control} against the others. Friedman p = "
        f"{tests.friedman.p_value:.3g}, Iman–Davenport p = {tests.iman_davenport.p_value:.3g}; "
        f"p in bold: no difference at 5 %. Were {tests.control} first on every data set, Holm's "
        f"test would give its nearest rival p = {floor:.3f}. Effect: rank-biserial "
        "correlation. P: Bayesian signed-rank test, equal is within 0.01."
    )
    return html.table([(name, "ascending") for name in names], rows, caption)


def failures(summary: Summary) -> str:
    """Errors and timeouts."""
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
    """How to read the numbers, and where they come from."""
    versions = "; ".join(
        ", ".join(f"{name} {number}" for name, number in json.loads(text).items())
        for text in summary.results["versions"].unique()
        if origin(text) is None
    )
    methods = " ".join(summary.methods)
    taken = any(condition.protocol != COMPLETE for condition in summary.conditions)
    # Notes that only some results need, each after whether these do.
    optional = [
        (taken, _PROTOCOLS),
        ("(published)" in methods, _PUBLISHED),
        ("(expected)" in methods, _EXPECTED),
        ("EPS" in methods, "ε here is the gap itself; the paper's value is half of it."),
        (len(summary.methods) > 1, _TESTS),
    ]
    items = [
        "Score: τ_X of each test row, mean over the fold, then mean and standard deviation over "
        "the folds. Ranks, wins and tests are over means of three digits.",
        *(words for holds, words in optional if holds),
        *_handed_in(summary),
        f"Folds: {_folds(summary)}.",
        f"Versions: {versions}.",
    ]
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _handed_in(summary: Summary) -> list[str]:
    """Methods that were not run here, and the files of their scores."""
    methods = summary.results.groupby("versions")["method"].unique()
    files = [(origin(str(text)), names) for text, names in methods.items()]
    return [
        f"Scores from {file}, not run here: {', '.join(names)}." for file, names in files if file
    ]


def _folds(summary: Summary) -> str:
    """The number of folds behind the means of each data set, the largest first."""
    folds = summary.cells.groupby(level=["problem", "dataset"])["folds"].agg(["min", "max"])
    names: dict[tuple[int, int], list[str]] = {}
    for key, (least, most) in zip(folds.index, folds.to_numpy(), strict=True):
        names.setdefault((int(most), int(least)), []).append("/".join(key))
    return "; ".join(
        (f"{most}" if least == most else f"{least} to {most}") + " of " + ", ".join(own)
        for (most, least), own in sorted(names.items(), reverse=True)
    )
