import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn import config_context, get_config

from moreplr._stopping import abandonable, stoppable
from moreplr.aggregation._local import local_rows
from moreplr.aggregation._segments import segment_rows


def test_results_and_errors_come_through():
    assert stoppable(lambda stop: 5) == 5
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda stop: 1 // 0)


def test_only_the_main_thread_needs_another():
    found = []

    def work():
        found.append(stoppable(lambda stop: threading.current_thread()))

    other = threading.Thread(target=work)
    other.start()
    other.join()
    assert found == [other]
    assert stoppable(lambda stop: threading.current_thread()) is not threading.main_thread()


def test_an_interrupt_sets_the_flag():
    seen = []

    def call(stop):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        while not stop[0]:
            time.sleep(0.01)
        seen.append(stop[0])

    with pytest.raises(KeyboardInterrupt):
        stoppable(call)
    assert seen == [1]


def test_what_looks_at_no_flag_is_left_behind():
    ended = threading.Event()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        abandonable(lambda: ended.wait(60))
    assert time.monotonic() - start < 30
    ended.set()


def test_settings_hold_where_it_is_done():
    with config_context(assume_finite=True):
        assert abandonable(get_config)["assume_finite"]
    with pytest.raises(ZeroDivisionError):
        abandonable(lambda: 1 // 0)


@pytest.mark.parametrize("limits", [(0, 0, 150), (75, 0, 150)])
@pytest.mark.parametrize("rows", ["local", "segments"])
def test_kernels_that_are_told_to_stop_do_nothing_more(rows, limits):
    k = 150
    C = np.triu(np.random.default_rng(0).random((1, k, k)), 1)
    C += np.tril(1 - C.swapaxes(1, 2), -1)
    D = 2 * np.abs(C - 0.5) - 1
    seconds = {}
    for stopped in (1, 0) if limits[0] == 0 else (1,):
        stop, out = np.array([stopped], np.uint8), np.zeros((1, k))
        for _ in range(2):  # the first compiles
            start = time.process_time()
            if rows == "local":
                local_rows(C, D, limits, 0, stop, out)
            else:
                segment_rows(C, D, limits, stop, out)
            seconds[stopped] = time.process_time() - start
    assert seconds[1] < seconds.get(0, 1.0)


MACHINE = """
import os, signal, sys, threading, time
import numpy as np
from moreplr import MORERanker
from moreplr.regressors import MultiOutputSVR

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(250, 5)), rng.random((250, 10)).argsort(axis=1)
ranker = MORERanker(regressor=MultiOutputSVR(C=1e5))
ranker.fit(X[:20], Y[:20])
threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    ranker.fit(X, Y)
except KeyboardInterrupt:
    print(time.monotonic() - start - 2, flush=True)
"""


def test_an_interrupt_ends_the_fit_of_a_large_support_vector_machine():
    """It takes minutes, in one call of libsvm."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", MACHINE], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 15  # two seconds on an idle machine
    assert time.monotonic() - start < 30


LONG = """
import os, signal, sys, threading, time
import numpy as np
from moreplr import DummyRanker, NearestNeighborsRanker

k = 2500
Y = np.random.default_rng(0).permuted(np.tile(np.arange(k), (40, 1)), axis=1)
X = np.zeros((40, 1))
ranker = DummyRanker()
ranker.fit(X[:3, :], Y[:3, :20]).predict(X[:1])  # compiled
step = sys.argv[1]
if step == "predict":
    ranker.fit(X, Y)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    for _ in range(100):
        ranker.predict(X) if step == "predict" else ranker.fit(X, Y)
except KeyboardInterrupt:
    print(time.monotonic() - start - 0.5)
"""


@pytest.mark.parametrize("step", ["fit", "predict"])
def test_an_interrupt_ends_a_long_kernel(step):
    """A prediction for so many labels takes a minute, and one call of a kernel does it."""
    done = subprocess.run(
        [sys.executable, "-c", LONG, step], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 15  # two seconds on an idle machine
