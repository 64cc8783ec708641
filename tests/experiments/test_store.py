import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from dataclasses import replace

import pytest

from moreplr.experiments import report
from moreplr.experiments.archive import results
from moreplr.experiments.store import Store
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
        assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def change(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("problem", "haiku"),
        ("protocol", "../../x"),
        ("missing", float("inf")),
        ("missing", "half"),
        ("tau_x", 7.0),
        ("tau_x", b"\xff"),
        ("tau_x", None),
        ("fold", -1),
        ("fold", 0.5),
        ("n_test", "many"),
        ("fit_seconds", float("inf")),
        ("method", b"RPC"),
        ("message", b"\xff"),
    ],
)
def test_a_result_that_no_run_writes_is_refused(tmp_path, column, value):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.write([Result(result().key, "ok", 0.5, 2.0, 1.0, 1.0, 10, 5)])
    results(path)
    change(path, f"UPDATE results SET {column} = ?", value)
    message = rf"s\.sqlite is not a store of results: {column} of row 1 is"
    for read in (results, lambda path: report(path, tmp_path / "out"), lambda p: results([p, p])):
        with pytest.raises(ValueError, match=message):
            read(path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("damage", "reads"),
    [
        ("UPDATE results SET method = CAST(x'ff' AS TEXT)", ["done", "failed", "frame"]),
        ("UPDATE identities SET name = CAST(x'ff' AS TEXT)", ["identities", "identify"]),
    ],
)
def test_a_text_that_is_none_can_not_be_read(tmp_path, damage, reads):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.identify("method", {"RPC": "one"})
        store.write([result(status="error", tau_x=None)])
    change(path, damage)
    with Store(path) as store:
        for read in reads:
            words = ["method", {"RPC": "one"}] if read == "identify" else []
            with pytest.raises(ValueError, match=r"s\.sqlite can't be read: Could not decode"):
                getattr(store, read)(*words)


@pytest.mark.parametrize("table", ["runners", "claims"])
@pytest.mark.parametrize("other", ["CREATE TABLE {} (a)", "CREATE VIEW {} AS SELECT 1"])
def test_tables_of_shared_work_that_are_others_are_refused(tmp_path, table, other):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.write([result()])
    change(path, f"DROP TABLE {table}")
    assert len(results(path)) == 1  # a store of a run that shared nothing
    change(path, other.format(table))
    with pytest.raises(ValueError, match=f"not a store of results: it has no table of {table}"):
        Store(path)


def test_a_mean_that_rounding_leads_out_of_its_bounds_is_read(tmp_path):
    # choice_regret([[0.1, 0.1, 0.1]], ["a ~ b ~ c"]) is less than nothing by its last bit.
    with Store(tmp_path / "s.sqlite") as store:
        store.write([replace(result(), regret=-1.4e-17, closed_gap=1.0000000000000002)])
    assert results(tmp_path / "s.sqlite")["regret"].to_list() == [-1.4e-17]


@pytest.mark.parametrize("versions", ["[]", "{", "5", '{"python": 3}', "[" * 100_000])
def test_versions_that_are_no_object_are_refused(tmp_path, versions):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.write([Result(result().key, "ok", 0.5, 2.0, 1.0, 1.0, 10, 5)])
    change(path, "UPDATE environments SET versions = ?", versions)
    with pytest.raises(ValueError, match="not a store of results: versions of row 1") as caught:
        report(path, tmp_path / "out")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE songs (name TEXT)",
        "CREATE TABLE results (name TEXT)",
        "CREATE VIEW results AS SELECT 1",
    ],
)
def test_the_file_of_another_program_is_left_as_it_is(tmp_path, schema):
    path = tmp_path / "songs.sqlite"
    change(path, schema)
    before = path.read_bytes()
    for open_store in (Store, lambda path: Store(path, must_exist=True)):
        with pytest.raises(ValueError, match=r"songs\.sqlite is not a store of results"):
            open_store(path)
    assert path.read_bytes() == before


def test_a_folder_and_a_text_are_no_stores(tmp_path):
    (tmp_path / "text").write_text("a letter to a friend " * 100)
    for path in (tmp_path, tmp_path / "text", tmp_path / "text" / "s.sqlite"):
        with pytest.raises(ValueError, match=r"is not a store of results|can't be opened"):
            Store(path)


def test_a_clock_that_jumps_does_no_harm(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.write([result(fold=0, status="error", tau_x=None)])
    change(path, "UPDATE results SET finished = '2999-01-01T00:00:00.000Z'")
    with Store(path) as store:
        store.write([result(fold=0, tau_x=0.5), result(fold=1, tau_x=0.6)])
        store.write([result(fold=0, tau_x=0.7)])
        assert store.done(failed=False) == {result(fold=fold).key for fold in (0, 1)}
        assert store.connection.execute("SELECT tau_x FROM results").fetchall() == [(0.5,), (0.6,)]
