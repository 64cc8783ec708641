import gzip
import sqlite3
from contextlib import closing
from dataclasses import replace

import pandas as pd
import pytest

from moreplr.experiments import report
from moreplr.experiments.archive import opened, results
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result


def result(method="RPC", fold=0, status="ok", tau_x=0.5):
    return Result(Key("plr", "iris", method, 0.3, "honest", 0, fold), status, tau_x)


def test_parts_of_an_experiment_are_read_as_one(tmp_path):
    parts = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    for path, found in zip(
        parts,
        [
            [result("kNN", tau_x=0.1), result("RPC", status="error", tau_x=None)],
            [result("kNN", tau_x=0.2), result("RPC", tau_x=0.3), result("Tree", tau_x=0.4)],
        ],
        strict=True,
    ):
        with Store(path) as store:
            store.identify("splits", {"folds": "10"})
            store.write(found, seed=7)
    frame, later = (results(store).set_index("method") for store in (parts, parts[1]))
    assert frame["tau_x"].to_dict() == {"kNN": 0.1, "RPC": 0.3, "Tree": 0.4}
    assert frame.loc[["RPC", "Tree"]].equals(later.loc[["RPC", "Tree"]])
    assert [len(results(path)) for path in parts] == [2, 3]


def test_parts_that_mean_different_things_are_not_joined(tmp_path):
    for name, folds in (("a", "10"), ("b", "5")):
        with Store(tmp_path / f"{name}.sqlite") as store:
            store.identify("splits", {"folds": folds})
    with pytest.raises(ValueError, match=r"'folds' .* in .*b\.sqlite .*there 5, before 10"):
        results([tmp_path / "a.sqlite", tmp_path / "b.sqlite"])


def test_files_that_are_no_store_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no store .*none\.sqlite"):
        results(tmp_path / "none.sqlite")
    with pytest.raises(FileNotFoundError, match=r"no store .*none\.sqlite"):
        results([tmp_path / "none.sqlite", tmp_path / "none.sqlite"])
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to be looked at" * 9)
    with pytest.raises(ValueError, match="not a store of results"):
        Store(tmp_path / "text.sqlite")


@pytest.mark.parametrize("tables", ["", "CREATE TABLE results (x)", "CREATE TABLE identities (x)"])
def test_reading_leaves_files_as_they_are(tmp_path, tables):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(tables)
    before = path.read_bytes()
    for stores in (path, [path, path]):
        with pytest.raises(ValueError, match="not a store of results"):
            results(stores)
    assert path.read_bytes() == before


@pytest.fixture
def folder(tmp_path):
    """The folder of a report, whose store is beside it."""
    with Store(tmp_path / "s.sqlite") as store:
        store.identify("data set", {"plr/iris": "one", "plr/wine": "two"})
        store.write([result("kNN", fold, tau_x=fold / 3) for fold in range(4)], seed=7)
        store.write([replace(result(), key=Key("lr", "NA", "1", 0.0, "complete", 0, 0))])
        store.write([result("Tree", status="timeout", tau_x=None)])
    report(tmp_path / "s.sqlite", tmp_path / "report")
    return tmp_path / "report"


def test_the_folder_of_a_report_is_read_as_its_store(folder):
    with opened(folder) as found, opened(folder.parent / "s.sqlite") as store:
        pd.testing.assert_frame_equal(found.frame(), store.frame(), rtol=1e-5, check_dtype=False)
        assert found.identities().equals(store.identities())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    report(folder, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()}.keys() == before.keys()
    for name in ("results.csv", "environments.csv", "identities.csv"):
        assert (folder / name).read_bytes() == before[name]


def test_a_folder_is_joined_with_a_store(folder, tmp_path):
    path = folder / "results.csv"
    (folder / "results.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    with Store(tmp_path / "new.sqlite") as store:
        store.identify("data set", {"plr/iris": "one"})
        store.write([result("kNN", 0, tau_x=0.9), result("Tree", tau_x=0.8)])
    new = tmp_path / "new.sqlite"
    for first, stores in ((0.9, [new, folder]), (0.0, [folder, new])):
        found = results(stores).set_index(["method", "fold"])["tau_x"]
        assert found["kNN"].to_list() == pytest.approx([first, 1 / 3, 2 / 3, 1], abs=1e-6)
        assert [found["1", 0], found["Tree", 0]] == [0.5, 0.8]
    with Store(new) as store:
        store.identify("data set", {"plr/wine": "three"})
    with pytest.raises(ValueError, match=r"'plr/wine' .*there two, before three"):
        results([new, folder])


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("results.csv", None, "there is no results.csv or results.csv.gz"),
        ("results.csv", "", "No columns to parse"),
        ("results.csv", "problem,tau_x\nplr,0.5\n", "not in index"),
        ("environments.csv", "environment,versions\n0,a\n0,b\n", "UNIQUE"),
        ("environments.csv", "number,versions\n0,1\n", "id"),
        ("environments.csv", "environment,versions\n7,a\n", "an environment that is not there"),
        ("identities.csv.gz", "kind,name,value\n", "there is more than one identities.csv"),
    ],
)
def test_folders_that_hold_no_results_are_named(folder, name, text, problem):
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    with pytest.raises(ValueError, match=rf"report is not a folder of results: .*{problem}"):
        results(folder)


def test_a_table_that_was_damaged_is_refused(folder):
    path = folder / "results.csv"
    text, packed = path.read_bytes(), folder / "results.csv.gz"
    path.write_bytes(text.replace(b",0.333333,", b",much,"))
    with pytest.raises(ValueError, match=r"not a folder of results: .*much"):
        results(folder)
    path.write_bytes(text[:-5])
    with pytest.raises(ValueError, match="not a folder of results"):
        results(folder)
    path.unlink()
    for damaged in (b"no gzip", gzip.compress(text)[:-20]):
        packed.write_bytes(damaged)
        with pytest.raises(ValueError, match="not a folder of results"):
            results(folder)


def test_a_compressed_table_stays_compressed(folder):
    path, packed = folder / "results.csv", folder / "results.csv.gz"
    text = path.read_bytes()
    packed.write_bytes(gzip.compress(text))
    path.unlink()
    report(folder, folder)
    assert not path.exists()
    assert gzip.decompress(packed.read_bytes()) == text


def test_a_table_is_replaced_as_a_whole(folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def broken(self, path, **options):
        with open(path, "w") as file:
            file.write("half")
        raise OSError("no space left")

    monkeypatch.setattr(pd.DataFrame, "to_csv", broken)
    with pytest.raises(OSError, match="no space"):
        report(folder, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_folders_from_before_a_measure_lack_it(folder):
    path = folder / "results.csv"
    table = pd.read_csv(path).drop(columns=["top_one", "log_loss", "calibration_error"])
    table.to_csv(path, index=False)
    assert results(folder)["log_loss"].isna().all()
