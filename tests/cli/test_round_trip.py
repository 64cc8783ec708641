"""From any rankings in a table to the same rankings out of it."""

import csv

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.cli import main
from moreplr.rankings import check_rankings, to_text
from moreplr.tables.reading import open_table

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(
    lambda name: name == name.strip()
)


@given(data=st.data(), labels=st.lists(NAMES, min_size=2, max_size=4, unique=True))
@settings(max_examples=15, deadline=None)
def test_a_nearest_neighbour_gives_back_what_it_was_taught(tmp_path_factory, data, labels):
    """Labels of any name, ties too, as a column of texts and as columns of positions."""
    row = st.lists(st.integers(1, 3), min_size=len(labels), max_size=len(labels))
    Y = np.array(data.draw(st.lists(row, min_size=2, max_size=6)), dtype=float)
    folder = tmp_path_factory.mktemp("t")
    table, model, out = (str(folder / name) for name in ("in.csv", "m", "out.csv"))
    texts = to_text(Y, labels)
    ranker = ["--ranker", "neighbors:n_neighbors=1", "-o", model]
    _write(table, [["x", "ranking"], *([i, text] for i, text in enumerate(texts))])
    assert main(["fit", table, "--ranking-column", "ranking", *ranker]) == 0
    assert main(["predict", model, table, "--text", "-o", out]) == 0
    found, _ = check_rankings(_read(out)["ranking"].tolist(), labels)
    assert to_text(found, labels) == texts
    names = [f"l{label}" for label in labels]
    _write(table, [["x", *names], *([i, *map(int, row)] for i, row in enumerate(Y))])
    assert main(["fit", table, "--labels", "l*", *ranker]) == 0
    assert main(["predict", model, table, "-o", out]) == 0
    frame = _read(out)
    assert list(frame) == names
    assert to_text(frame.astype(float)) == to_text(Y, names)


def _write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _read(path):
    with open_table(path) as table:
        return table.read()
