from urllib.error import URLError

import pandas as pd
import pytest
from sklearn.utils import Bunch

from moreplr.datasets import _openml, list_datasets, load


@pytest.fixture
def openml(monkeypatch):
    """An OpenML of one data set, glass, whose positions come as categories."""
    asked = []

    def fetch(data_id, as_frame, parser):
        asked.append(data_id)
        if data_id != 42848:
            raise URLError("no network")
        Y = pd.DataFrame({f"L{i}": pd.Categorical(["1", "2"]) for i in range(6)})
        return Bunch(data=pd.DataFrame({"A1": [0.5, 1.5]}), target=Y)

    monkeypatch.setattr(_openml, "fetch_openml", fetch)
    return asked


def test_a_name_of_the_paper_is_fetched_by_its_identifier(openml):
    data = load("glass")
    assert openml == [42848]
    assert data.Y.shape == (2, 6)
    assert data.Y.to_numpy().dtype == float
    assert data.Y.iloc[1, 0] == 2


def test_bundled_data_need_no_network_but_the_published_ones_can_be_asked_for(openml):
    load("iris")
    assert openml == []
    with pytest.raises(ValueError, match=r"42871 \(plr/iris\).*no network.*MOREPLR_DATA"):
        load("iris", source="openml")


def test_political_is_not_on_openml(openml):
    with pytest.raises(ValueError, match="lr/political is not on OpenML; set MOREPLR_DATA"):
        load("political", "lr")


def test_the_folder_comes_first(openml, benchmark_data):
    assert len(load("glass").X) == 214
    assert openml == []


def test_another_number_of_labels_is_refused(monkeypatch):
    bunch = Bunch(data=pd.DataFrame({"A1": [0.5]}), target=pd.DataFrame({"L1": ["1"]}))
    monkeypatch.setattr(_openml, "fetch_openml", lambda **_: bunch)
    with pytest.raises(ValueError, match="6 labels"):
        load("glass")


def test_names_with_and_without_openml():
    assert list_datasets("lr") == ["digits", "iris", "wine"]
    assert len(set(list_datasets("lr", openml=True)) - {"digits"}) == 13
    assert len(set(list_datasets("plr", openml=True)) - {"digits"}) == 18
