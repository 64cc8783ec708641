import os
import signal
import subprocess
import sys
import textwrap

import pytest

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
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
