"""One fit compiles what others need, in whatever shape their data come."""

import numpy as np
import pandas as pd
import pytest
from numba.core import event

from moreplr import RankingForest
from moreplr.checks import make_rankings


class Compiled(event.Listener):
    def __init__(self):
        self.names = []

    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("moreplr."):
            self.names.append(function.__name__)

    def on_end(self, event):
        pass


@pytest.fixture(scope="module")
def problem():
    X, Y = make_rankings(n=60, k=4)
    ranker = RankingForest(2, random_state=0).fit(X, Y)
    ranker.predict(X)
    return X, Y


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        read_only,
        pd.DataFrame,
        lambda X: X.astype(np.float32),
        lambda X: (9 * X).astype(int),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.where(np.quantile(X, 0.9) < X, np.nan, X),
    ],
)
def test_nothing_is_compiled_for_features_of_another_kind(problem, change):
    X, Y = problem
    compiled = Compiled()
    with event.install_listener("numba:compile", compiled):
        ranker = RankingForest(2, random_state=0, n_jobs=2).fit(change(X), Y)
        ranker.predict(change(X))
        ranker.predict(change(X)[:1])
    assert compiled.names == []
