import shutil
import subprocess

import pytest

from moreplr.experiments.reporting import Summary, latex
from moreplr.experiments.reporting.summary import Condition


def test_tables_hold_the_numbers_the_best_in_bold(store):
    text = latex.accuracy_table(Summary.of(store), Condition(0.3, "published"))
    line = next(line for line in text.splitlines() if line.startswith("plr & iris"))
    assert r"\pm$ 0.014" in line
    assert line.count(r"\textbf") == 1
    head = next(line for line in text.splitlines() if line.startswith("Problem"))
    assert line.count("&") == head.count("&")
    assert "\\%" in text


def test_tests_are_tabled_with_names_escaped(store):
    summary = Summary.of(store)
    (block, *_) = summary.blocks(Condition(0.0, "complete"))
    text = latex.holm_table(block)
    assert r"\times 10^{" in text or "0." in text
    assert latex.escape("50% of a_b & {c}") == r"50\% of a\_b \& \{c\}"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_takes_them(store, tmp_path):
    summary = Summary.of(store)
    tables = "\n".join(latex.accuracy_table(summary, c) for c in summary.conditions)
    page = r"\documentclass{article}\usepackage{booktabs}\begin{document}%s\end{document}"
    (tmp_path / "t.tex").write_text(page % tables)
    subprocess.run(["pdflatex", "-interaction=batchmode", "t.tex"], cwd=tmp_path, check=True)
