"""A report of a store: one HTML file, LaTeX tables and CSV with the same numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from moreplr._files import write_text
from moreplr.experiments import archive
from moreplr.experiments.reporting import html, latex, paper
from moreplr.experiments.reporting.measures import measures, measures_table
from moreplr.experiments.reporting.summary import Block, Summary
from moreplr.experiments.statistics import all_pairs_holm, wilcoxon_holm
from moreplr.experiments.store import Stores, paths_of

__all__ = ["Summary", "report"]


def report(
    store: Stores,
    folder: str | Path,
    title: str | None = None,
    *,
    leaderboard: Stores = (),
    paper_tables: Iterable[str] | None = None,
) -> Path:
    """Write ``report.html``, LaTeX tables and CSV files about the results in a store.

    Parameters
    ----------
    store : path of the SQLite file, or of the folder of a report
        Or several of these that hold parts of an experiment.
    folder : where to write, created if it does not exist
    title : str, optional
    leaderboard : path of a CSV file, or several
        Fold scores of other methods on the splits of the store, shown beside its own; see
        :mod:`moreplr.experiments.reporting.leaderboard` for the columns.
    paper_tables : names of methods, optional
        Also write the paper's tables: accuracy, time, tests of its ten methods, and tests of each
        method named here beside the paper's own columns. The list may be empty.

    Returns
    -------
    path of report.html, which needs no other file and no network. Beside it are results.csv
        (every fold), environments.csv (versions of packages), identities.csv (what names stand
        for), summary.csv (our means and the paper's), statistics.csv (Friedman and Holm),
        pairs.csv (all pairs by ranks and by Wilcoxon's test), measures.csv (pair probabilities
        and decisions, if measured) and LaTeX tables.
    """
    paths = paths_of(store)
    summary = Summary.of(paths, paths_of(leaderboard))
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write_csv(summary, folder)
    _write_latex(summary, folder)
    if paper_tables is not None:
        paper.write(summary, folder, list(paper_tables))
    path = folder / "report.html"
    heading = title or f"Results of {', '.join(each.stem for each in paths)}"
    write_text(path, make_page(summary, heading))
    return path


def make_page(summary: Summary, title: str) -> str:
    """The whole report as HTML; parts without content are left out."""
    # They import matplotlib, which takes a while: runs need not wait for it.
    from moreplr.experiments.reporting import charts, content

    parts = [("ranks", "Mean ranks", content.ranks(summary))]
    for number, condition in enumerate(summary.conditions):
        heading = f"τ_X: {condition}"
        parts.append((f"c{number}", heading, content.condition_part(summary, condition)))
    parts += [
        ("measures", "Pair probabilities and decisions", measures(summary)),
        ("time", "Accuracy against time", charts.times(summary)),
        ("curves", "Missing labels, q and ε", charts.curves(summary)),
        ("encoders", "Encoders", charts.encoders(summary)),
        ("failures", "What failed", content.failures(summary) if len(summary.failures) else ""),
        ("notes", "How to read it", content.notes(summary)),
    ]
    return html.page(title, content.lead(summary), [part for part in parts if part[2]])


def _write_csv(summary: Summary, folder: Path) -> None:
    archive.write(folder, summary.stored, summary.identities)
    archive.to_csv(summary.cells.reset_index(), folder / "summary.csv")
    tables = [(c, measures_table(summary, c)) for c in summary.conditions]
    if any(table["log_loss"].notna().any() for _, table in tables):
        named = [table.assign(missing=c.missing, protocol=c.protocol) for c, table in tables]
        archive.to_csv(pd.concat(named), folder / "measures.csv")
    blocks = [b for condition in summary.conditions for b in summary.blocks(condition)]
    if blocks:
        against_best = [
            _named(block, block.tests.table.reset_index(names="method")) for block in blocks
        ]
        archive.to_csv(pd.concat(against_best), folder / "statistics.csv")
        archive.to_csv(pd.concat([_named(b, _pairs(b)) for b in blocks]), folder / "pairs.csv")


def _pairs(block: Block) -> pd.DataFrame:
    """All pairs of methods by both tests."""
    by_rank, signed = all_pairs_holm(block.scores), wilcoxon_holm(block.scores)
    return by_rank.merge(signed, on=["first", "second"], suffixes=("", "_wilcoxon"))


def _named(block: Block, table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        problem=block.problem,
        missing=block.condition.missing,
        protocol=block.condition.protocol,
        datasets=len(block.scores),
        friedman_p=block.tests.friedman.p_value,
        iman_davenport_p=block.tests.iman_davenport.p_value,
    )


def _write_latex(summary: Summary, folder: Path) -> None:
    for condition in summary.conditions:
        name = f"{condition.missing:.0%}_{condition.protocol}".replace("%", "")
        write_text(folder / f"accuracy_{name}.tex", latex.accuracy_table(summary, condition))
        blocks = [latex.holm_table(block) for block in summary.blocks(condition)]
        if blocks:
            write_text(folder / f"tests_{name}.tex", "\n".join(blocks))
