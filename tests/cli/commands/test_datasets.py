from urllib.error import URLError

import pandas as pd
import pytest
from sklearn.utils import Bunch

from moreplr.datasets import _openml


@pytest.fixture
def openml(monkeypatch):
    """An OpenML where everything but glass is out of reach."""

    def fetch(data_id, as_frame, parser):
        if data_id != 42848:
            raise URLError("no network")
        Y = pd.DataFrame({f"L{i}": pd.Categorical(["1", "2"]) for i in range(6)})
        return Bunch(data=pd.DataFrame({"A1": [0.5, 1.5]}), target=Y)

    monkeypatch.setattr(_openml, "fetch_openml", fetch)


def test_fetch_says_what_came(run, openml):
    assert run("datasets", "fetch", "glass") == (
        0,
        "plr/glass: 2 rows, 1 feature, 6 labels\n",
        "",
    )


def test_fetch_of_what_is_not_there(run, openml):
    code, _, err = run("datasets", "fetch", "glas")
    assert code == 1
    assert "no 'glas'; known are" in err
    code, out, err = run("datasets", "fetch", "glass", "iris", "vowel")
    assert code == 1
    assert out.startswith("plr/glass")
    assert "no network" in err


def test_a_listing_is_whole_in_a_pipe(run):
    lines = run("datasets", "list")[1].splitlines()
    assert lines[0].split()[:2] == ["problem", "name"]
    assert any(line.split()[:2] == ["lr", "letter"] for line in lines) or len(lines) > 30


def test_cards_of_tables(run, table):
    assert "instances          60" in run("datasets", "card", table, "--labels", "rank_*")[1]
    table.write_text("x,order\n1,b > a ~ c\n2,a\n")
    out = run("datasets", "card", table, "--ranking-column", "order", "--problem", "lr")[1]
    assert "problem            lr" in out
    assert "missing share      33.3%" in out


def test_a_traceback_on_demand(run):
    assert "Traceback" in run("datasets", "card", "nothing", "--debug")[2]
