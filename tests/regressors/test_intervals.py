"""Predictions are the same, bit for bit, whether intervals are wanted or not."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from moreplr.forest import ForestRegressor
from moreplr.regressors import Chain, Native, SingleTarget, predict_interval

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
Y = rng.integers(1, 7, (60, 4)) / 3
X_NEW = rng.normal(size=(200, 5))


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(100, random_state=0),
        ExtraTreesRegressor(30, random_state=0),
        BaggingRegressor(n_estimators=30, max_features=0.5, random_state=0),
        make_pipeline(StandardScaler(), RandomForestRegressor(30, random_state=0)),
        ForestRegressor(100, random_state=0),
    ],
)
@pytest.mark.parametrize("wrap", [SingleTarget, Chain, Native])
def test_intervals_do_not_change_predictions(forest, wrap):
    if wrap is Native and isinstance(forest, BaggingRegressor):
        return  # it has one target only
    model = wrap(forest).fit(X, Y)
    np.testing.assert_array_equal(predict_interval(model, X_NEW)[0], model.predict(X_NEW))
