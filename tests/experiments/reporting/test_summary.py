import pandas as pd
import pytest

from moreplr.experiments.reporting import Summary
from moreplr.experiments.reporting.summary import Condition, published
from moreplr.experiments.store import Store

COMPLETE = Condition(0.0, "complete")


def test_the_papers_values_stand_beside_results_of_the_same_data_and_method(store):
    cells = Summary.of(store).cells
    iris = cells.loc[("plr", "iris", 0.3)]
    assert iris.loc[("published", "Native-RR (published)"), "paper"] == 0.466
    assert iris.loc[("published", "Native-RR (published)"), "difference"] == 0.004
    assert pd.isna(iris.loc[("honest", "Native-RR"), "paper"])
    assert cells.loc[("plr", "iris", 0.0, "complete", "Native-RR"), "paper"] > 0.9
    # other data under a name of the paper are not compared with it
    assert pd.isna(cells.loc[("lr", "wine", 0.0, "complete", "RPC"), "paper"])
    assert cells["std"].dropna().iloc[0] == pytest.approx(0.01 * 2**0.5)


def test_published_values_are_the_papers(benchmark_data):
    table = benchmark_data.parent / "paper" / "accuracy.csv"
    if not table.is_file():
        pytest.skip(f"the paper's table is not in {table.parent}")
    columns = ["problem", "dataset", "missing", "method"]
    ours, theirs = (f.set_index(columns).sort_index() for f in (published(), pd.read_csv(table)))
    pd.testing.assert_frame_equal(ours, theirs)


def test_methods_with_gaps_are_compared_where_they_have_results(store):
    blocks = [b for b in Summary.of(store).blocks(COMPLETE) if b.problem == "lr"]
    shapes = [block.scores.shape for block in blocks]
    assert shapes == [(7, 10), (6, 11)]
    assert "kNN" not in blocks[0].scores
    assert "kNN" in blocks[1].scores


def test_points_of_sweeps_stay_out_of_the_tables(store):
    summary = Summary.of(store)
    assert "ST-PI q=2" in summary.methods
    assert "ST-PI q=2" not in summary.scores(COMPLETE)
    assert summary.traits.loc["ST-PI q=2", "q"] == 2


def test_an_empty_store_is_refused(tmp_path):
    with Store(tmp_path / "empty.sqlite"), pytest.raises(ValueError, match="no results"):
        Summary.of(tmp_path / "empty.sqlite")
