"""Ctrl-C ends a long fit at once, however many threads it has."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from moreplr.forest.parallel import Stopped, cut, run

_LONG_FIT = """
import numpy as np
from moreplr.forest import ForestBatch, ForestRegressor
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60000, 20)), rng.normal(size=(60000, 4))
model = {model}
model.set_params(n_estimators=1, max_depth=2).fit(X[:100], Y[:100])
print("ready", flush=True)
model.set_params(n_estimators=100_000, max_depth=None).fit(X, Y)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize(
    "model",
    ["ForestRegressor(n_jobs=1)", "ForestRegressor(n_jobs=2)", "ForestBatch(n_jobs=2)"],
)
def test_an_interrupt_stops_a_long_fit(model):
    process = subprocess.Popen(
        [sys.executable, "-c", _LONG_FIT.format(model=model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        # generous, as the machine may be busy; without the stop flag it would take hours
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_one_task_stops_the_others(jobs):
    stop = np.zeros(1, np.uint8)

    def task(number):
        if number == 0:
            raise KeyError("broken")
        while not stop[0]:
            time.sleep(0.01)
        raise Stopped

    with pytest.raises(KeyError, match="broken"):
        run(task, [(0,), (1,), (2,)], jobs, stop)
    assert stop[0] == 1


@pytest.mark.parametrize(("n", "jobs"), [(0, 1), (1, 4), (10, 3), (100, 1)])
def test_ranges_cover_everything_once(n, jobs):
    covered = [i for lo, hi in cut(n, jobs) for i in range(lo, hi)]
    assert covered == list(range(n))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_index_error_of_a_task_is_not_taken_for_the_end(jobs):
    with pytest.raises(IndexError, match="out of range"):
        run([].__getitem__, [(0,)] * 4, jobs, np.zeros(1, np.uint8))
