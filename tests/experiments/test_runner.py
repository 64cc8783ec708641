import runpy
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing, suppress

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from moreplr import _progress
from moreplr.experiments import Limit, Plan, results, run
from moreplr.experiments.methods import Method
from moreplr.experiments.store import Store
from moreplr.experiments.units import expand, source_of

cloudpickle.register_pickle_by_value(sys.modules[__name__])

TIMES = ["fit_seconds", "predict_seconds", "finished", "versions"]


def scores(store):
    return results(store).drop(columns=TIMES)


class Sleeper(BaseEstimator):
    """Ranks all labels equal, after a while; or ends its process."""

    def __init__(self, seconds=0.0, fatal=False):
        self.seconds = seconds
        self.fatal = fatal

    def fit(self, X, y):
        if self.fatal:
            import os

            os._exit(3)
        time.sleep(self.seconds)
        print("what methods print does not get in the way")
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.ones((len(X), self.n_labels_))


def test_processes_give_what_this_process_gives(tmp_path, tiny, methods):
    plan = Plan([tiny], [*methods, "kNN"], missing=[0, 0.3], folds=3, repetitions=1)
    assert run(plan, tmp_path / "here.sqlite", jobs=0) == {"ok": 27}
    assert run(plan, tmp_path / "there.sqlite", jobs=2) == {"ok": 27}
    pd.testing.assert_frame_equal(
        scores(tmp_path / "here.sqlite"), scores(tmp_path / "there.sqlite")
    )
    assert run(plan, tmp_path / "there.sqlite", jobs=2) == {}


def test_timeouts_errors_and_dead_processes_are_recorded_and_the_rest_goes_on(tmp_path, tiny):
    rankers = {"slow": Sleeper(60), "fatal": Sleeper(fatal=True), "fine": Sleeper()}
    methods = [Method(name, ranker) for name, ranker in rankers.items()]
    plan = Plan([tiny], methods, folds=2, repetitions=1, limits=[Limit(1, folds=1)])
    store = tmp_path / "s.sqlite"
    assert run(plan, store, jobs=1, timeout=8) == {"timeout": 1, "error": 1, "ok": 1}
    frame = results(store).set_index("method")
    assert frame.loc["slow", "message"] == "took more than 8 s"
    assert frame.loc["fatal", "message"] == "the worker process ended with code 3"
    assert frame.loc["fine", "status"] == "ok"
    assert run(plan, store, jobs=0) == {}
    with Store(store) as opened:
        again = list(expand(plan, [source_of(tiny)], opened.done(failed=False)))
    assert {unit.methods[0].name for unit in again} == {"slow", "fatal"}


def test_another_meaning_of_a_name_is_refused(tmp_path, tiny):
    store = tmp_path / "s.sqlite"
    run(Plan([tiny], ["Dummy"], folds=2, repetitions=1), store, jobs=0)
    other = type(tiny)("tiny", "plr", tiny.X + 1, tiny.Y)
    with pytest.raises(ValueError, match="data set 'plr/tiny'"):
        run(Plan([other], ["Dummy"], folds=2, repetitions=1), store, jobs=0)
    with pytest.raises(ValueError, match="splits 'folds'"):
        run(Plan([tiny], ["Dummy"], folds=3, repetitions=1), store, jobs=0)
    with pytest.raises(ValueError, match="two data sets are named plr/tiny"):
        run(Plan([tiny, tiny], ["Dummy"], folds=2), store, jobs=0)


SCRIPT = """
import sys
import numpy as np, pandas as pd
from sklearn.dummy import DummyRegressor
from moreplr import MORERanker
from moreplr.datasets import Dataset
from moreplr.experiments import Plan, run
from moreplr.experiments.methods import Method
from moreplr.layers import EpsilonCloseness, RoundRank

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
data = Dataset("tiny", "plr", X, pd.DataFrame(rng.integers(1, 5, (40, 4)).astype(float)))
methods = [
    Method("Mean-RR", MORERanker("dense", DummyRegressor(), RoundRank())),
    Method("Mean-EPS", MORERanker("dense", DummyRegressor(), EpsilonCloseness(0.3))),
]
plan = Plan([data], methods, missing=[0, 0.3], folds=5, repetitions=8)
run(plan, sys.argv[1], jobs=int(sys.argv[2]))
"""


def rows_in(store):
    with closing(sqlite3.connect(store, timeout=10)) as connection, suppress(sqlite3.Error):
        return connection.execute("SELECT count(*) FROM results").fetchone()[0]
    return 0


def run_script_here(script, store):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["run.py", str(store), "0"])
        runpy.run_path(str(script))


def test_killed_at_any_moment_the_same_command_goes_on(tmp_path):
    script, store = tmp_path / "run.py", tmp_path / "killed.sqlite"
    script.write_text(textwrap.dedent(SCRIPT))
    rng = np.random.default_rng(0)
    before = pd.DataFrame()
    for jobs in (0, 1, 0):
        start = rows_in(store)
        process = subprocess.Popen([sys.executable, script, store, str(jobs)])
        while rows_in(store) <= start and process.poll() is None:
            time.sleep(0.05)
        time.sleep(rng.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        after = results(store)
        units = after.groupby(["missing", "protocol", "repetition", "fold"]).size()
        assert set(units) == {2}  # both methods of a fit, or none
        if len(before):
            assert len(after.merge(before, how="inner")) == len(before) < len(after)
        before = after
    assert len(before) < 2 * 3 * 5 * 8
    run_script_here(script, store)
    run_script_here(script, tmp_path / "whole.sqlite")
    assert len(results(store)) == 2 * 3 * 5 * 8
    pd.testing.assert_frame_equal(scores(store), scores(tmp_path / "whole.sqlite"))


def test_a_log_file_gets_a_line_now_and_then(tiny, methods, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "LINE_EVERY", 0.0)
    plan = Plan([tiny], methods, folds=2, repetitions=1)
    run(plan, tmp_path / "store.sqlite", jobs=0, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("moreplr: plr/tiny: 1 of ")
    assert lines[0].endswith(" left")
    monkeypatch.setattr(_progress, "LINE_EVERY", 60.0)
    run(plan, tmp_path / "other.sqlite", jobs=0, progress=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("forest", ["scikit-learn", "moreplr"])
def test_a_method_has_the_same_scores_however_a_plan_is_cut(tmp_path, tiny, forest):
    names = ["ST-RR", "ST-PI", "ST-EPS", "Chain-RR", "Native-RR", "Native-PI"]

    def scores_of(*methods):
        store = tmp_path / f"{'-'.join(methods)}.sqlite"
        options = {"missing": [0, 0.4], "folds": 3, "repetitions": 1, "trees": 20}
        run(Plan([tiny], methods, forest=forest, **options), store, jobs=0)
        return scores(store)

    together = scores_of(*names)
    for name in names:
        same = together[together["method"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(same, scores_of(name), check_exact=True)
