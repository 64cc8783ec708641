"""What the tests of experiments share: a tiny data set and rankers that fit in no time."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

from moreplr import MORERanker
from moreplr.datasets import Dataset
from moreplr.experiments.methods import Method
from moreplr.layers import EpsilonCloseness, RoundRank


def make_data(name="tiny", rows=40, labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    Y = pd.DataFrame(rng.integers(1, labels + 1, (rows, labels)).astype(float))
    return Dataset(name, "plr", X, Y)


def constant_methods():
    """Two methods that share a fit."""
    regressor = DummyRegressor()
    return [
        Method("Mean-RR", MORERanker("dense", regressor, RoundRank())),
        Method("Mean-EPS", MORERanker("dense", regressor, EpsilonCloseness(0.3))),
    ]


@pytest.fixture
def tiny():
    return make_data()


@pytest.fixture
def methods():
    return constant_methods()


def without_times(frame):
    """Results as they must be the same on every run."""
    return frame.drop(columns=["fit_seconds", "predict_seconds", "finished", "versions"])
