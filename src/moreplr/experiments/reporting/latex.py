"""The tables of a report as LaTeX (booktabs) for a paper of your own."""

from __future__ import annotations

import pandas as pd

from moreplr.experiments.reporting.summary import (
    DIGITS,
    Block,
    Condition,
    Summary,
    percent,
)

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def escape(text: object) -> str:
    """Text with LaTeX's special signs escaped.

    Examples
    --------
    >>> print(escape("a_b 5%"))
    a\\_b 5\\%
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in str(text))


def accuracy_table(summary: Summary, condition: Condition) -> str:
    """Mean ± standard deviation of τ_X, the best of each data set in bold."""
    texts = summary.across_methods(summary.under(condition).apply(score, axis=1)).fillna("--")
    table = _named(texts.reset_index(), problem="Problem", dataset="Data set")
    return _tabular(table, "ll" + "r" * texts.shape[1], f"$\\tau_X$, {condition}")


def score(cell: pd.Series) -> str:
    """Mean ± standard deviation of a cell, in bold if it is the best."""
    number = f"{cell['tau_x']:.{DIGITS}f}"
    number = rf"\textbf{{{number}}}" if cell.get("best", False) else number
    return number if pd.isna(cell["std"]) else rf"{number} $\pm$ {cell['std']:.{DIGITS}f}"


def wide_table(cells: pd.DataFrame, caption: str) -> str:
    """A table with a column for each method, from cells with their `text`."""
    wide = cells.pivot(index=["missing", "problem", "dataset"], columns="method", values="text")
    table = wide.fillna("--").reset_index()
    table["missing"] = table["missing"].map(percent)
    table = _named(table, missing="Missing", problem="Problem", dataset="Data set")
    return _tabular(table, "rll" + "r" * wide.shape[1], caption)


def holm_table(block: Block, whose: str = "") -> str:
    """Mean ranks and Holm's p-values against the best method."""
    tests = block.tests.table
    texts = {
        "Rank": tests["rank"].map("{:.2f}".format),
        "$p$ (Holm)": tests["holm_p"].map(lambda p: f"${scientific(p)}$", na_action="ignore"),
        **{
            name.title(): tests[name].map("{:.0f}".format, na_action="ignore")
            for name in ("win", "tie", "loss")
        },
    }
    table = pd.DataFrame(texts).fillna("--").reset_index(names="Method")
    p = scientific(block.tests.friedman.p_value)
    title = f"{block.title}{whose and ', '}{escape(whose)}, Friedman $p = {p}$"
    return _tabular(table, "lrrrrr", title)


def scientific(value: float) -> str:
    """A number with four digits, as a paper prints it.

    Examples
    --------
    >>> scientific(0.0312), scientific(5.136e-07)
    ('0.0312', '5.136 \\\\times 10^{-7}')
    """
    if value >= 0.001 or value == 0:
        return f"{value:.4g}"
    digits, exponent = f"{value:.3e}".split("e")
    return rf"{digits} \times 10^{{{int(exponent)}}}"


def _named(table: pd.DataFrame, **names: str) -> pd.DataFrame:
    """The table with heads for its first columns, and the names of methods escaped."""
    return table.rename(columns=lambda name: names.get(name, escape(name)))


def _tabular(table: pd.DataFrame, columns: str, caption: str) -> str:
    """A table of texts; its names of data sets and methods are escaped."""
    names = [name for name in ("Missing", "Problem", "Data set", "Method") if name in table]
    return (
        table.assign(**{name: table[name].map(escape) for name in names})
        .style.hide(axis="index")
        .to_latex(
            caption=caption.replace("%", r"\%"),
            column_format=columns,
            position_float="centering",
            hrules=True,
        )
    )
