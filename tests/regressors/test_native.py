import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge

from moreplr.regressors import Native

NAN = float("nan")
X = np.arange(8.0)[:, None]
COMPLETE = np.column_stack([X[:, 0], -X[:, 0]])


def with_gaps(*rows):
    Y = COMPLETE.copy()
    Y[list(rows), 0] = NAN
    return Y


def test_a_base_that_cannot_learn_from_gaps_gets_complete_rows_and_says_how_many():
    with pytest.warns(UserWarning, match="Ridge can't learn .* 2 of 8 rows are left out"):
        fitted = Native(Ridge()).fit(X, with_gaps(1, 5))
    keep = [0, 2, 3, 4, 6, 7]
    expected = Ridge().fit(X[keep], COMPLETE[keep]).predict(X)
    np.testing.assert_allclose(fitted.predict(X), expected)


def test_left_out_rows_take_their_weights_along():
    weight = np.arange(1.0, 9.0)
    with pytest.warns(UserWarning, match="left out"):
        fitted = Native(Ridge()).fit(X, with_gaps(0), weight)
    expected = Ridge().fit(X[1:], COMPLETE[1:], weight[1:]).predict(X)
    np.testing.assert_allclose(fitted.predict(X), expected)


def test_no_complete_row_names_the_way_out():
    with pytest.raises(ValueError, match="use SingleTarget"):
        Native(Ridge()).fit(X, with_gaps(*range(8)))


def test_a_base_of_one_target_is_refused():
    with pytest.raises(ValueError, match="GradientBoostingRegressor predicts one target only"):
        Native(GradientBoostingRegressor()).fit(X, COMPLETE)


def test_a_base_that_handles_gaps_sees_them():
    class Aware(RandomForestRegressor):
        handles_missing_targets = True

        def fit(self, X, y, sample_weight=None):
            self.gaps_ = np.isnan(y).sum()
            return super().fit(X, np.nan_to_num(y))

    assert Native(Aware(2)).fit(X, with_gaps(1, 5)).estimator_.gaps_ == 2
