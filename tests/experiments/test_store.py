import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from moreplr.experiments.store import Store, results
from moreplr.experiments.units import Key, Result


def result(method="RPC", fold=0, status="ok", tau_x=0.5):
    return Result(Key("plr", "iris", method, 0.3, "honest", 0, fold), status, tau_x)


def test_a_result_is_kept_once_and_never_replaced(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.write([result(tau_x=0.5)])
        store.write([result(tau_x=0.7)])
    frame = results(tmp_path / "s.sqlite")
    assert frame["tau_x"].to_list() == [0.5]
    assert frame["seed"].to_list() == [0]
    assert "scikit-learn" in frame["versions"][0]


def test_what_failed_gives_way_to_a_better_result(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.write([result(status="error", tau_x=None)])
        assert len(store.done()) == 1
        assert store.done(failed=False) == set()
        store.write([result(tau_x=0.7)])
        assert store.frame()["tau_x"].to_list() == [0.7]


def test_a_name_keeps_its_meaning(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.identify("method", {"RPC": "one"})
        store.identify("method", {"RPC": "one", "kNN": "two"})
        with pytest.raises(ValueError, match=r"method 'RPC'.*there one, now two.*another store"):
            store.identify("method", {"RPC": "two"})


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


KILLED_IN_A_TRANSACTION = """
import os, signal, sys
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result

def unit(fold, die):
    for number in range(200):
        if die and number == 150:
            os.kill(os.getpid(), signal.SIGKILL)
        key = Key("plr", "iris", f"method {number}", 0.0, "complete", 0, fold)
        yield Result(key, "ok", fold / 10, message="m" * 5000)

with Store(sys.argv[1]) as store:
    for fold in range(int(sys.argv[2])):
        store.write(unit(fold, die=False))
    store.write(unit(int(sys.argv[2]), die=True))
"""


@pytest.mark.parametrize("finished", [0, 2])
def test_a_kill_in_the_middle_of_a_write_leaves_whole_units(tmp_path, finished):
    path = tmp_path / "s.sqlite"
    script = tmp_path / "write.py"
    script.write_text(textwrap.dedent(KILLED_IN_A_TRANSACTION))
    done = subprocess.run([sys.executable, script, path, str(finished)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert os.path.exists(f"{path}-journal")  # it was in the middle indeed
    frame = results(path)
    assert frame.groupby("fold").size().to_dict() == dict.fromkeys(range(finished), 200)
    with Store(path) as store:
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


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
