import signal
import subprocess
import sys
import textwrap
import time

import pytest

from moreplr.experiments import Plan, claims, results, run
from moreplr.experiments.claims import Claims
from moreplr.experiments.store import Store
from moreplr.experiments.units import expand, run_unit, source_of

SCRIPT = """
import os, sys, time
import numpy as np, pandas as pd
from sklearn.base import BaseEstimator
from moreplr.datasets import Dataset
from moreplr.experiments import Plan, run
from moreplr.experiments.methods import Method

class Noting(BaseEstimator):
    def fit(self, X, y):
        if len(X) > 20:  # no warm-up
            with open(sys.argv[2], "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(float(sys.argv[3]))
        return self

    def predict(self, X):
        return np.ones((len(X), 4))

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
data = Dataset("tiny", "plr", X, pd.DataFrame(rng.integers(1, 5, (40, 4)).astype(float)))
plan = Plan([data], [Method("one", Noting())], folds=5, repetitions=8)
print(run(plan, sys.argv[1], jobs=0).get("ok", 0))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "run.py"
    path.write_text(textwrap.dedent(SCRIPT))

    def start(seconds):
        words = [tmp_path / "s.sqlite", tmp_path / "log", str(seconds)]
        return subprocess.Popen([sys.executable, path, *words], stdout=subprocess.PIPE, text=True)

    return start


def wait_for(path):
    for _ in range(1000):
        if path.exists() and path.read_text():
            return
        time.sleep(0.05)
    raise AssertionError(f"nothing in {path}")


def test_processes_on_one_store_share_the_work(script, tmp_path):
    others = [script(0.2) for _ in range(3)]
    shares = [int(process.communicate()[0]) for process in others]
    assert sum(shares) == 40
    assert len((tmp_path / "log").read_text().splitlines()) == 40  # no fit was done twice
    assert len(results(tmp_path / "s.sqlite")) == 40
    with Store(tmp_path / "s.sqlite") as store:
        for table in ("claims", "runners"):
            assert store.connection.execute(f"SELECT * FROM {table}").fetchall() == []
    assert sum(share > 0 for share in shares) > 1


def test_what_a_killed_process_held_is_taken_over_at_once(script, tmp_path):
    stuck = script(600)
    wait_for(tmp_path / "log")
    stuck.send_signal(signal.SIGKILL)
    stuck.communicate()
    start = time.monotonic()
    assert script(0).communicate()[0].strip() == "40"
    assert time.monotonic() - start < claims.PATIENCE


@pytest.fixture
def shared(tmp_path, tiny, methods):
    """A store, and the units of a plan for it."""
    plan = Plan([tiny], methods, folds=2, repetitions=1)
    with Store(tmp_path / "s.sqlite") as store:
        yield store, list(expand(plan, [source_of(tiny)], set()))


def test_a_unit_is_one_process_s_until_it_is_written(shared):
    store, (first, second) = shared
    with Claims(store) as mine, Claims(store) as theirs:
        assert mine.take(first) == (first, None)
        assert theirs.take(first) == (None, first)
        assert theirs.take(second) == (second, None)
        store.write(run_unit(first))
        assert theirs.take(first) == (None, None)
    with Claims(store) as later:
        assert later.take(second) == (second, None)  # it was given back


def test_another_machine_s_process_is_dead_when_its_heart_stands_still(shared, monkeypatch):
    store, (unit, _) = shared
    with Claims(store) as theirs, Claims(store) as mine:
        assert theirs.take(unit) == (unit, None)
        store.connection.execute(
            "UPDATE runners SET host = 'elsewhere' WHERE id != ?", mine._me[:1]
        )
        store.connection.commit()
        assert mine.take(unit) == (None, unit)
        later = time.monotonic() + claims.PATIENCE + 1
        monkeypatch.setattr(time, "time", lambda: 0.0)  # whatever the clock on the wall says
        monkeypatch.setattr(time, "monotonic", lambda: later)
        assert mine.take(unit) == (unit, None)


@pytest.mark.parametrize("pid", ["abc", 2**62, b"1"])
def test_a_process_whose_number_is_none_is_waited_for(shared, pid):
    store, (unit, _) = shared
    with Claims(store) as theirs, Claims(store) as mine:
        assert theirs.take(unit) == (unit, None)
        with store.connection as connection:
            connection.execute("UPDATE runners SET pid = ?", (pid,))
        assert mine.take(unit) == (None, unit)


def test_retrying_processes_share_what_failed(shared):
    store, (unit, _) = shared
    store.write(unit.failed("error", "for want of a nail"))
    with Claims(store) as claim, Claims(store, retry=True) as mine:
        assert claim.take(unit) == (None, None)
        with Claims(store, retry=True) as theirs:
            assert mine.take(unit) == (unit, None)
            time.sleep(0.002)
            store.write(unit.failed("error", "again"))
            assert theirs.take(unit) == (None, None)


def test_a_run_in_the_same_process_finds_nothing_left(tmp_path, tiny, methods):
    plan = Plan([tiny], methods, folds=2, repetitions=1)
    assert run(plan, tmp_path / "s.sqlite", jobs=0) == {"ok": 4}
    assert run(plan, tmp_path / "s.sqlite", jobs=0) == {}
