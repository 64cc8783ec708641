"""Attributes that are computed at first use hold no lock which a forked process would wait for."""

import os
import threading
import time
import warnings
from pathlib import Path

import pytest

import moreplr
from moreplr._lazy import lazy


class Slow:
    def __init__(self, begun, wait):
        self.begun, self.wait = begun, wait

    @lazy
    def value(self):
        self.begun.set()
        self.wait.wait(20)
        return 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_a_fork_while_another_thread_computes_one():
    begun, wait = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: Slow(begun, wait).value)
    thread.start()
    begun.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this is what must go well
        child = os.fork()
    if child == 0:
        done = threading.Event()
        done.set()
        os._exit(Slow(threading.Event(), done).value)
    end = time.monotonic() + 10
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    wait.set()
    thread.join()
    assert os.waitstatus_to_exitcode(ended[1]) == 1


def test_no_module_uses_those_with_a_lock():
    root = Path(moreplr.__file__).parent
    using = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "cached_property" in path.read_text(encoding="utf-8")
    ]
    assert using == ["_lazy.py"]
