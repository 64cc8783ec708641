import numpy as np
import pytest

from moreplr.datasets import list_datasets, load
from moreplr.rankings import count_buckets, dense_ranks


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
@pytest.mark.parametrize("problem", ["lr", "plr"])
def test_complete_dense_rankings(name, problem):
    data = load(name, problem)
    Y = data.Y.to_numpy()
    assert len(data.X) == len(Y)
    np.testing.assert_array_equal(Y, dense_ranks(Y))
    ties = count_buckets(Y) < Y.shape[1]
    assert ties.any() == (problem == "plr")


@pytest.mark.parametrize(("name", "least"), [("wine", 1.0), ("iris", 0.99)])
def test_total_orders_are_the_published_ones(benchmark_data, monkeypatch, name, least):
    published = load(name, "lr").Y.to_numpy()
    monkeypatch.delenv("MOREPLR_DATA")
    # scikit-learn's iris differs from the published one in a feature or two.
    assert (load(name, "lr").Y.to_numpy() == published).all(axis=1).mean() >= least


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_bucket_orders_are_much_like_the_published_ones(benchmark_data, monkeypatch, name):
    published = count_buckets(load(name).Y.to_numpy()).mean()
    monkeypatch.delenv("MOREPLR_DATA")
    assert count_buckets(load(name).Y.to_numpy()).mean() == pytest.approx(published, abs=0.25)


def test_callers_get_their_own_copy():
    Y = load("iris").Y
    Y.iloc[0, 0] = 99
    assert load("iris").Y.iloc[0, 0] != 99


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'letters'.*MOREPLR_DATA.*'iris'"):
        load("letters")
    with pytest.raises(ValueError, match="'ranking'"):
        load("iris", "ranking")
    with pytest.raises(ValueError, match="'web'"):
        load("iris", source="web")
    assert list_datasets() == ["digits", "iris", "wine"]
