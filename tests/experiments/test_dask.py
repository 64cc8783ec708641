import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from moreplr.experiments import Plan, results, run
from moreplr.experiments.executors import run_on_dask

distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each in a process of its own."""
    processes = []

    def start(*command):
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
            start_new_session=True,
        )
        processes.append(process)
        return process

    file = tmp_path / "scheduler.json"
    start(
        "dask_scheduler", "--port", "0", "--dashboard-address", ":0", "--scheduler-file", str(file)
    )
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    address = distributed.utils.json.loads(file.read_text())["address"]
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start("dask_worker", address, *options) for _ in range(2)]
    yield address, workers
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_cluster_that_loses_a_worker_gives_the_local_results(tmp_path, cluster, tiny, methods):
    address, workers = cluster
    plan = Plan([tiny], [*methods, "ST-RR"], missing=[0, 0.3], folds=5, repetitions=2, trees=5)
    local, remote = tmp_path / "local.sqlite", tmp_path / "remote.sqlite"
    run(plan, local, jobs=0)

    def kill_one_in_the_middle(units, address, timeout):
        for count, finished in enumerate(run_on_dask(units, address, timeout)):
            if count == 3:
                workers[0].send_signal(signal.SIGKILL)
            yield finished

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("moreplr.experiments.runner.run_on_dask", kill_one_in_the_middle)
        counts = run(plan, remote, dask=address, timeout=60)
    assert workers[0].wait(10) == -signal.SIGKILL
    assert counts == {"ok": 90}
    times = ["fit_seconds", "predict_seconds", "finished", "versions"]
    pd.testing.assert_frame_equal(
        results(local).drop(columns=times), results(remote).drop(columns=times)
    )
