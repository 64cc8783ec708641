"""A report of a store: one HTML file, LaTeX tables and CSV with the same numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from moreplr.experiments.reporting import content, html, latex
from moreplr.experiments.reporting.summary import Condition, Summary

__all__ = ["Summary", "report"]


def report(store: str | Path, folder: str | Path, title: str | None = None) -> Path:
    """Write ``report.html``, LaTeX tables and CSV files about the results in a store.

    Parameters
    ----------
    store : path of the SQLite file
    folder : where to write, made if it is not there
    title : str, optional

    Returns
    -------
    path of report.html, which needs no other file and no network
    """
    summary = Summary.of(store)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write_csv(summary, folder)
    _write_latex(summary, folder)
    path = folder / "report.html"
    path.write_text(make_page(summary, title or f"Results of {Path(store).stem}"), "utf-8")
    return path


def make_page(summary: Summary, title: str) -> str:
    """The whole report as HTML; parts without content are left out."""
    parts = [("ranks", "Mean ranks", content.ranks(summary))]
    for number, condition in enumerate(summary.conditions):
        heading = f"τ_X: {condition}"
        parts.append((f"c{number}", heading, content.condition_part(summary, condition)))
    parts += [
        ("time", "Accuracy against time", content.times(summary)),
        ("curves", "Missing labels, q and ε", content.curves(summary)),
        ("encoders", "Encoders", content.encoders(summary)),
        ("failures", "What failed", content.failures(summary) if len(summary.failures) else ""),
        ("notes", "How to read it", content.notes(summary)),
    ]
    return html.page(title, content.lead(summary), [part for part in parts if part[2]])


def _write_csv(summary: Summary, folder: Path) -> None:
    summary.results.to_csv(folder / "results.csv", index=False)
    summary.cells.reset_index().to_csv(folder / "summary.csv", index=False)
    tables = []
    for condition in summary.conditions:
        for block in summary.blocks(condition):
            tables.append(
                block.tests.table.reset_index(names="method").assign(
                    problem=block.problem,
                    missing=condition.missing,
                    protocol=condition.protocol,
                    datasets=len(block.scores),
                    friedman_p=block.tests.friedman.p_value,
                    iman_davenport_p=block.tests.iman_davenport.p_value,
                )
            )
    if tables:
        pd.concat(tables).to_csv(folder / "statistics.csv", index=False)


def _write_latex(summary: Summary, folder: Path) -> None:
    for condition in summary.conditions:
        name = _file_name(condition)
        (folder / f"accuracy_{name}.tex").write_text(
            latex.accuracy_table(summary, condition), "utf-8"
        )
        blocks = [latex.holm_table(block) for block in summary.blocks(condition)]
        if blocks:
            (folder / f"tests_{name}.tex").write_text("\n".join(blocks), "utf-8")


def _file_name(condition: Condition) -> str:
    return f"{condition.missing:.0%}_{condition.protocol}".replace("%", "")
