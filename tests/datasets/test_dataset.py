import numpy as np
import pandas as pd
import pytest

from moreplr.datasets import Dataset, load


def test_cards_are_those_of_the_papers_table(benchmark_data):
    table = benchmark_data.parent / "paper" / "datasets.csv"
    if not table.is_file():
        pytest.skip(f"the paper's table is not in {table.parent}")
    printed = pd.read_csv(table)
    assert len(printed) == 31
    for row in printed.itertuples():
        card = load(row.dataset, row.problem).card()
        counts = (card.instances, card.features, card.labels, card.distinct_rankings)
        assert counts == (row.instances, row.features, row.labels, row.distinct_rankings)
        assert round(card.mean_buckets, 3) == row.mean_buckets
        assert card.missing_share == 0


def test_a_card_counts_what_is_ranked():
    Y = pd.DataFrame([[1, 2, np.nan], [10, 20, np.nan], [1, 1, 1], [np.nan] * 3])
    card = Dataset("d", "plr", pd.DataFrame({"x": range(4)}), Y).card()
    assert (card.distinct_rankings, card.mean_buckets) == (3, 1.25)
    assert card.missing_share == pytest.approx(5 / 12)


def test_fingerprints_tell_data_apart():
    data = load("iris")
    changed = Dataset("iris", "plr", data.X, data.Y.iloc[:, ::-1])
    assert data.fingerprint() == load("iris").fingerprint() != changed.fingerprint()
