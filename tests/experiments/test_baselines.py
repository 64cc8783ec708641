import sys

import numpy as np
import pytest

from moreplr.checks import make_rankings
from moreplr.experiments.baselines import BASELINES
from moreplr.experiments.methods import Settings, make_method
from moreplr.experiments.plan import Plan

NEEDS = {"LightGBM pairs": "lightgbm", "XGBoost rank": "xgboost", "CatBoost": "catboost"}


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_learn_from_ties_and_gaps(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    X, Y = make_rankings(n=120)
    X[::7, 0] = np.nan if name != "ExtraTrees pairs" else 0.0
    ranker = make_method(name, Settings(seed=3)).ranker
    assert ranker.fit(X, Y).score(X, Y) > 0.8
    Y[::3, 1] = np.nan
    assert ranker.fit(X, Y).score(X, Y) > 0.7
    np.testing.assert_array_equal(ranker.predict(X), ranker.fit(X, Y).predict(X))


@pytest.mark.parametrize("name", NEEDS)
def test_without_the_extra_a_method_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, NEEDS[name], None)
    X, Y = make_rankings(n=20)
    ranker = make_method(name).ranker
    with pytest.raises(ImportError, match=r"moreplr\[baselines\]"):
        ranker.fit(X, Y)


def test_the_plan_on_field_data_has_all_baselines():
    assert set(BASELINES) <= set(Plan.load("field").methods)
