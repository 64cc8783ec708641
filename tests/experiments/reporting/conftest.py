"""A store with the paper's own numbers, slightly moved, and names that need escaping."""

import numpy as np
import pytest

from moreplr.datasets._paper import entries
from moreplr.experiments.reporting.summary import published
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result

EVIL = "<script>document.title='evil'</script>"


def moved(row, method, protocol, rng):
    for fold in range(2):
        key = Key(row.problem, row.dataset, method, row.missing / 100, protocol, 0, fold)
        score = row.tau_x_mean + 0.004 + (0.01 if fold else -0.01)
        yield Result(key, "ok", score, 3.0, float(rng.uniform(0.1, 2)), 0.01, 90, 10)


def all_results():
    rng = np.random.default_rng(0)
    for row in published().itertuples():
        if row.dataset not in ("iris", "wine", "glass", "vowel", "libras", "segment", "vehicle"):
            continue
        if row.missing == 0:
            yield from moved(row, row.method, "complete", rng)
            if row.method == "ST-PI":
                for q in (0, 2, 3):
                    yield from moved(row, f"ST-PI q={q}", "complete", rng)
                yield from moved(row, "ST-PI encoder=dense", "complete", rng)
            if row.method == "RPC" and row.dataset != "segment":
                yield from moved(row, "kNN", "complete", rng)
        elif row.missing == 30:
            filled = " (published)" if row.method.startswith(("Chain", "Native")) else ""
            yield from moved(row, row.method + filled, "published", rng)
            yield from moved(row, row.method, "honest", rng)
    yield Result(Key("plr", EVIL, EVIL, 0.0, "complete", 0, 0), "ok", 0.5, 3.0, 0.1, 0.1, 9, 1)
    failed = Key("plr", "iris", "Tree", 0.0, "complete", 0, 0)
    yield Result(failed, "timeout", message="took more than 60 s & more")


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "results.sqlite"
    with Store(path) as opened:
        names = {f"{problem}/{name}": e.fingerprint for (problem, name), e in entries().items()}
        opened.identify("data set", names | {"lr/wine": "another"})
        opened.write(all_results())
    return path
