"""The tables of a report as LaTeX (booktabs) for a paper of your own."""

from __future__ import annotations

from typing import Any, cast

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
    """Text that LaTeX prints as it is.

    Examples
    --------
    >>> print(escape("a_b 5%"))
    a\\_b 5\\%
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in str(text))


def accuracy_table(summary: Summary, condition: Condition) -> str:
    """Mean ± standard deviation of τ_X, the best of each data set in bold."""
    scores = summary.scores(condition)
    cells = summary.cells
    lines = []
    for place, row in scores.iterrows():
        problem, dataset = cast(tuple[str, str], place)
        best = row.max()
        texts = [escape(problem), escape(dataset)]
        for method, value in row.items():
            if pd.isna(value):
                texts.append("--")
                continue
            key: Any = (problem, dataset, *condition, method)
            std = cells.loc[key]["std"]
            number = f"{value:.{DIGITS}f}"
            number = rf"\textbf{{{number}}}" if value == best else number
            texts.append(number if pd.isna(std) else rf"{number} $\pm$ {std:.{DIGITS}f}")
        lines.append(" & ".join(texts) + r" \\")
    header = " & ".join(["Problem", "Data set", *map(escape, scores.columns)]) + r" \\"
    return _tabular("ll" + "r" * scores.shape[1], header, lines, f"$\\tau_X$, {condition}")


def wide_table(cells: pd.DataFrame, caption: str) -> str:
    """A column for each method; the cells come with their texts."""
    wide = cells.pivot(index=["missing", "problem", "dataset"], columns="method", values="text")
    lines = [
        " & ".join([percent(place[0]).replace("%", r"\%"), *map(escape, place[1:]), *row]) + r" \\"
        for place, row in zip(wide.index, wide.fillna("--").to_numpy(), strict=True)
    ]
    header = " & ".join(["Missing", "Problem", "Data set", *map(escape, wide)]) + r" \\"
    return _tabular("rll" + "r" * wide.shape[1], header, lines, caption)


def holm_table(block: Block, whose: str = "") -> str:
    """Mean ranks and Holm's p-values against the best method."""
    lines = []
    for method, row in block.tests.table.iterrows():
        numbers = ["--"] * 4
        if method != block.tests.control:
            outcome = (f"{row[name]:.0f}" for name in ("win", "tie", "loss"))
            numbers = [f"${scientific(row['holm_p'])}$", *outcome]
        lines.append(" & ".join([escape(method), f"{row['rank']:.2f}", *numbers]) + r" \\")
    header = r"Method & Rank & $p$ (Holm) & Win & Tie & Loss \\"
    p = scientific(block.tests.friedman.p_value)
    title = f"{block.title}{whose and ', '}{escape(whose)}, Friedman $p = {p}$"
    return _tabular("lrrrrr", header, lines, title)


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


def _tabular(columns: str, header: str, lines: list[str], caption: str) -> str:
    body = "\n".join(lines)
    text = caption.replace("%", r"\%")
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{text}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{header}\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )
