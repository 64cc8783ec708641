import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from moreplr.regressors import Stacking

NAN = float("nan")


class Recorder(LinearRegression):
    def fit(self, X, y, sample_weight=None):
        self.seen_ = X.copy()
        return super().fit(X, y, sample_weight)


def test_the_second_stage_learns_from_out_of_fold_predictions():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    stacking = Stacking(KNeighborsRegressor(1), final=Recorder(), random_state=0).fit(X, Y)
    first_stage = stacking.second_.estimators_[0].seen_[:, 2:]
    # One neighbour repeats its training row exactly, unless the row was held out.
    assert not np.isclose(first_stage, Y).any()
    assert np.isin(first_stage[:, 0], Y[:, 0]).all()


def test_the_second_stage_corrects_what_the_first_cannot_see():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    Y = np.column_stack([X[:, 0] ** 2, X[:, 0] ** 2 + X[:, 0]])
    stacking = Stacking(KNeighborsRegressor(5), final=LinearRegression(), random_state=0)
    plain = LinearRegression().fit(X, Y)
    assert stacking.fit(X, Y).score(X, Y) > 0.9 > plain.score(X, Y)


def test_a_label_that_a_fold_never_ranks_does_not_stop_it():
    X = np.arange(10.0)[:, None]
    Y = np.column_stack([X[:, 0], [3.0] + [NAN] * 9])
    predicted = Stacking(LinearRegression(), cv=5, random_state=0).fit(X, Y).predict(X)
    np.testing.assert_allclose(predicted[:, 1], 3)


def test_folds_must_hold_out_every_row():
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="hold out every row"):
        Stacking(LinearRegression(), cv=[([0, 1], [2])]).fit(X, X)


def test_number_of_folds():
    with pytest.raises(ValueError, match="cv must be at least 2, got 1"):
        Stacking(LinearRegression(), cv=1).fit([[1.0], [2.0]], [[1.0], [2.0]])
