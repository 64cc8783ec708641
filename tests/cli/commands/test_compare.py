import pandas as pd
import pytest

from moreplr.experiments.statistics import friedman_holm, holm
from moreplr.model_selection import by_split, corrected_t

WORDS = ["--labels", "rank_*", "--ignore", "name", "--folds", "3", "--repeats", "1"]
RANKERS = ["--rankers", "tree", "tree:max_depth=1", "dummy"]


def cells(text, first):
    """Lines of a printed table below a header, split into cells."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(first)) + 1
    return [line.split() for line in lines[start : start + lines[start:].index("")]]


def test_one_table_has_means_and_all_pairs(run, table):
    code, out, err = run("compare", table, *WORDS, *RANKERS, "-o", "s.csv")
    assert (code, err) == (0, "")
    wide = by_split(pd.read_csv("s.csv"))
    means = cells(out, "ranker")
    assert {row[0]: row[1] for row in means} == {n: f"{wide[n].mean():.3f}" for n in wide}
    assert [float(row[1]) for row in means] == sorted((float(r[1]) for r in means), reverse=True)
    pairs = cells(out, "first")
    assert len(pairs) == 3
    raw = []
    for first, second, difference, *_, counts, p, _ in pairs:
        found = corrected_t(wide[first] - wide[second], 0.5)
        raw.append(found.p_value)
        assert float(difference) == pytest.approx(found.mean, abs=6e-4)
        assert float(p) == pytest.approx(found.p_value, abs=6e-4)
        assert sum(map(int, counts.split("/"))) == 3
    adjusted = [float(row[-1]) for row in pairs]
    assert adjusted == pytest.approx(holm(raw), abs=6e-4)


def test_several_tables_have_ranks_and_friedman(run):
    words = ["--rankers", "neighbors", "tree", "dummy", "--folds", "2", "--repeats", "1"]
    code, out, err = run("compare", "iris", "wine", *words, "-o", "s.csv")
    assert code == 0
    assert "2 tables are few" in err
    scores = pd.read_csv("s.csv")
    wide = scores.pivot_table(index="data", columns="ranker", values="tau_x", sort=False)
    found = friedman_holm(wide)
    assert f"p = {found.friedman.p_value:.3g}" in out
    assert [row[0] for row in cells(out, "ranker")] == list(found.table.index)
    assert f"win/tie/loss of {found.control}" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["iris", "--rankers", "tree"], "two or more rankers"),
        (["iris", "--rankers", "tree", "tree"], "two or more rankers"),
        (["iris", "iris"], "two tables are named 'iris'"),
        (["iris", "--rankers", "tree:x=1", "dummy"], "tree has no parameter 'x'"),
    ],
)
def test_errors(run, words, message):
    code, _, err = run("compare", *words)
    assert code == 1
    assert message in err
