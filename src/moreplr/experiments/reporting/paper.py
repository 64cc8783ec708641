"""The paper's tables from our results: accuracy, time, and tests of its ten methods.

Means are compared with the three digits that the paper prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from moreplr._files import write_text
from moreplr.experiments.archive import to_csv
from moreplr.experiments.methods import COMPLETE
from moreplr.experiments.reporting import latex
from moreplr.experiments.reporting.summary import (
    Block,
    Condition,
    Summary,
    paper_name,
    published,
)
from moreplr.experiments.statistics import compare_with, friedman_holm

PLACE = ["problem", "dataset", "missing"]


def write(summary: Summary, folder: Path, others: list[str]) -> None:
    """Write paper_accuracy, paper_time and paper_tests as CSV, and all of them as paper.tex.

    Parameters
    ----------
    summary : results that hold the paper's methods on its data
    folder : where to write
    others : methods of the results to test beside the paper's own columns, one at a time
    """
    own = paper_results(summary)
    if own.empty:
        raise ValueError("the results hold none of the paper's methods on its data")
    measured = {
        "accuracy": own[[*PLACE, "method", "tau_x", "std", "folds", "paper"]],
        "time": own[[*PLACE, "method", "fit_seconds", "predict_seconds", "folds"]],
    }
    for name, table in measured.items():
        to_csv(table, folder / f"paper_{name}.csv")
    texts = [
        latex.wide_table(own.assign(text=own.apply(latex.score, axis=1)), "$\\tau_X$"),
        latex.wide_table(
            own.assign(text=own.apply(_seconds, axis=1)), "CPU seconds: fit, predict"
        ),
    ]
    tests = []
    for whose, block in paper_blocks(summary, own, others):
        table = compare_with(block.scores, block.tests.control).reset_index(names="method")
        about: dict[str, Any] = {"columns": whose, "problem": block.problem}
        about |= {"missing": block.condition.missing, "datasets": len(block.scores)}
        tests.append(table.assign(**about, friedman_p=block.tests.friedman.p_value))
        texts.append(latex.holm_table(block, whose))
    if tests:
        to_csv(pd.concat(tests), folder / "paper_tests.csv")
    write_text(folder / "paper.tex", "\n".join(texts))


def paper_results(summary: Summary) -> pd.DataFrame:
    """Our means of the paper's methods, under its names and its protocol, in its order."""
    cells = summary.cells.reset_index()
    cells = cells[cells["paper"].notna() & cells["protocol"].isin([COMPLETE, "published"])]
    names = [paper_name(*pair) for pair in zip(cells["method"], cells["missing"], strict=True)]
    order = list(published()["method"].unique())
    cells = cells.assign(method=pd.Categorical(names, order, ordered=True))
    return cells.sort_values([*PLACE, "method"])


def paper_blocks(
    summary: Summary, own: pd.DataFrame, others: list[str]
) -> Iterator[tuple[str, Block]]:
    """Whose columns are compared, and the comparison, for each problem and missing share."""
    yield from (("ours", block) for block in _blocks(_pivoted(own)))
    paper = published().assign(missing=published()["missing"] / 100)
    paper = _pivoted(paper.rename(columns={"tau_x_mean": "tau_x"}))
    cells = summary.cells.reset_index()
    cells = cells[cells["protocol"].isin([COMPLETE, "published"])]
    for name in others:
        column = cells[cells["method"] == name].set_index(PLACE)["tau_x"].rename(name)
        if column.empty:
            raise ValueError(f"the results hold no method {name!r}")
        beside = paper.join(column, how="inner")
        yield from ((f"the paper's and {name}", block) for block in _blocks(beside))


def _pivoted(cells: pd.DataFrame) -> pd.DataFrame:
    wide = cells.pivot(index=PLACE, columns="method", values="tau_x")
    return wide.set_axis(wide.columns.astype(str), axis=1)


def _blocks(scores: pd.DataFrame) -> Iterator[Block]:
    """Tests over the data sets that all methods have, if there are two of each or more."""
    for problem in ("lr", "plr", "both"):
        own = scores if problem == "both" else scores[scores.index.get_level_values(0) == problem]
        for share, part in own.groupby(level="missing"):
            missing = float(str(share))
            whole = part.dropna().droplevel("missing")
            if len(whole) > 1 and whole.shape[1] > 1:
                condition = Condition(missing, "published" if missing else COMPLETE)
                yield Block(condition, problem, whole, friedman_holm(whole))


def _seconds(cell: pd.Series) -> str:
    return f"{cell['fit_seconds']:.2f}, {cell['predict_seconds']:.2f}"
