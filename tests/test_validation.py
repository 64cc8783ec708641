import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from moreplr import DummyRanker, MORERanker, NearestNeighborsRanker, RankingForest
from moreplr.rankings import check_rankings
from moreplr.regressors import SingleTarget

NAN = float("nan")
X = np.arange(12.0).reshape(6, 2)
Y = np.array([[1, 2, -9], [2, 1, -9], [1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, -9]])
HIDDEN = np.ma.masked_equal(Y, -9)
GAPS = np.where(Y == -9, NAN, Y)


def test_a_masked_position_is_not_ranked():
    np.testing.assert_array_equal(check_rankings(HIDDEN)[0], GAPS)
    np.testing.assert_array_equal(check_rankings(HIDDEN.astype(float))[0], GAPS)
    texts = np.ma.array(["a > b", "b > a"], mask=[False, True])
    np.testing.assert_array_equal(check_rankings(texts)[0], [[1, 2], [NAN, NAN]])


@pytest.mark.parametrize("model", [DummyRanker(), MORERanker(random_state=0)])
def test_masked_positions_teach_what_gaps_teach(model):
    hidden, gaps = (model.fit(X, given).predict(X) for given in (HIDDEN, GAPS))
    np.testing.assert_array_equal(hidden, gaps)


def test_masked_targets_of_a_regressor_are_gaps():
    base = LinearRegression()
    hidden, gaps = (SingleTarget(base).fit(X, given).predict(X) for given in (HIDDEN, GAPS))
    np.testing.assert_array_equal(hidden, gaps)


def test_a_masked_feature_is_missing():
    hidden = np.ma.array(X, mask=X == 3)
    gaps = np.where(X == 3, NAN, X)
    forest = RankingForest(5, random_state=0)
    np.testing.assert_array_equal(
        forest.fit(hidden, GAPS).predict_pairs(hidden).P,
        forest.fit(gaps, GAPS).predict_pairs(gaps).P,
    )
    with pytest.raises(ValueError, match="column 1 holds NaN"):
        NearestNeighborsRanker(2).fit(hidden, GAPS)
    with pytest.raises(ValueError, match="column 1 holds NaN"):
        NearestNeighborsRanker(2).fit(X, GAPS).predict(hidden)


def test_a_masked_weight_is_refused():
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        DummyRanker().fit(X, GAPS, sample_weight=np.ma.array(np.ones(6), mask=[1, 0, 0, 0, 0, 0]))
