import subprocess

import pandas as pd
import pytest

from moreplr.cli import main
from moreplr.experiments import report, results
from moreplr.experiments.reporting import Summary
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result


def key(dataset, method, fold, missing=0.0, protocol="complete"):
    return Key("plr", dataset, method, missing, protocol, 0, fold)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "ours.sqlite") as opened:
        opened.write(
            Result(key(dataset, method, fold, *rest), "ok", score, 3.0, 0.1, 0.1, 90, 10)
            for dataset in ("iris", "wine")
            for method, score in (("Forest", 0.9), ("Dummy", 0.1))
            for fold in range(2)
            for rest in ((), (0.3, "honest"))
        )
    return tmp_path / "ours.sqlite"


ROWS = [("plr/iris", "Theirs", 0, 0.5), ("plr/iris", "Theirs", 1, 0.7)]


@pytest.fixture
def write(tmp_path):
    def to_file(rows=ROWS, **changes):
        table = pd.DataFrame(rows, columns=["dataset", "method", "fold", "tau_x"])
        table.assign(**changes).to_csv(tmp_path / "theirs.csv", index=False)
        return tmp_path / "theirs.csv"

    return to_file


def test_means_stand_beside_ours(store, write):
    summary = Summary.of(store, [write()])
    cells = summary.cells["tau_x"]
    assert cells["plr", "iris", 0, "complete", "Theirs"] == 0.6
    assert cells["plr", "iris", 0, "complete", "Forest"] == 0.9
    assert ("plr", "wine", 0, "complete", "Theirs") not in cells
    assert "Theirs" in summary.compared


def test_a_condition_may_be_named(store, write):
    path = write(problem="plr", missing=0.3, protocol="honest", dataset="wine")
    assert Summary.of(store, [path]).cells["tau_x"]["plr", "wine", 0.3, "honest", "Theirs"] == 0.6


def test_the_report_says_whose_word_it_is_and_can_be_read_back(store, write, tmp_path, capsys):
    both = [("plr/wine", *row[1:]) for row in ROWS] + ROWS
    out = tmp_path / "out"
    assert main(["report", str(store), "-o", str(out), "--leaderboard", str(write(both))]) == 0
    page = (out / "report.html").read_text("utf-8")
    assert "Scores from theirs.csv, not run here: Theirs." in page
    back = results(out).query("method == 'Theirs'")
    assert back["tau_x"].tolist() == [0.5, 0.7] * 2
    assert back["versions"].eq('{"leaderboard": "theirs.csv"}').all()
    assert report(out, tmp_path / "again").is_file()


def test_results_of_a_report_are_a_leaderboard(store, write, tmp_path):
    report(store, tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "results.csv")
    table.query("method == 'Forest'").assign(method="Same").to_csv(tmp_path / "theirs.csv")
    cells = Summary.of(store, [tmp_path / "theirs.csv"]).cells
    same, forest = (cells.xs(name, level="method") for name in ("Same", "Forest"))
    pd.testing.assert_frame_equal(same, forest)


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        (ROWS[:1], {}, "has 1 of the 2 splits of plr/iris for 'Theirs'"),
        (ROWS, {"method": "Forest"}, "the store has a method 'Forest' already"),
        (ROWS, {"fold": 0}, "two scores of 'Theirs' on plr/iris, repetition 0, fold 0"),
        (ROWS, {"fold": [0, 7]}, "no results of the split of 'Theirs' on plr/iris, .* fold 7"),
        (ROWS, {"fold": "x"}, "no results of the split|two scores"),
        (ROWS, {"dataset": "iris"}, "no results of the split of 'Theirs' on iris/"),
        (ROWS, {"missing": 0.6, "protocol": "honest"}, "missing 0.6, honest"),
        (ROWS, {"tau_x": 1.5}, r"tau_x of 'Theirs' on plr/iris, .* is no number in \[-1, 1\]"),
        (ROWS, {"tau_x": "good"}, "is no number"),
    ],
)
def test_what_does_not_fit_is_named(store, write, rows, changes, message):
    with pytest.raises(ValueError, match=message):
        Summary.of(store, [write(rows, **changes)])


def test_files_that_are_no_leaderboards(store, tmp_path):
    for name, text, message in (
        ("none.csv", None, "there is no leaderboard"),
        ("empty.csv", "", "is not a CSV file"),
        ("other.csv", "method,fold\na,1\n", "lacks the column 'dataset'"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=message):
            Summary.of(store, [tmp_path / name])


def test_a_name_in_a_file_is_not_run(store, write, monkeypatch):
    monkeypatch.setattr(subprocess, "getoutput", lambda *_: pytest.fail("was called"))
    summary = Summary.of(store, [write(method="subprocess:getoutput")])
    assert summary.traits.loc["subprocess:getoutput"].isna().all()
