"""What members say of rows that they have not seen."""

import numpy as np

from moreplr import NearestNeighborsRanker, RankingForest
from moreplr.checks import make_rankings
from moreplr.rankers.auto._judging import Clock, Data, _judge, judge
from moreplr.rankers.auto._members import Member, compact


def data_of(X, Y, n_folds=3):
    n = len(X)
    return Data.of(X, Y, None, None, np.random.RandomState(0), n_folds=n_folds, most=n)


def test_of_a_forest_on_fewer_rows_no_row_is_judged_that_it_was_fitted_on():
    X, Y = make_rankings(900)
    data = data_of(X, Y)
    rows = data.drawn(500)
    judged = _judge(RankingForest(20, random_state=0), data, rows, None)
    alone = RankingForest(20, random_state=0).fit(X[rows], Y[rows])
    unseen = np.setdiff1d(data.judged, rows)
    for numbers, expected in [
        (rows, alone.held_out_pairs()),
        (unseen, alone.predict_pairs(X[unseen])),
    ]:
        place = np.searchsorted(data.judged, numbers)
        np.testing.assert_array_equal(judged.pairs[place], compact(expected))


def test_pairs_of_folds_are_those_of_a_fit_on_the_other_folds():
    X, Y = make_rankings(90)
    data = data_of(X, Y)
    judged, left_out = judge({"near": Member(NearestNeighborsRanker(3))}, data, Clock(None), None)
    assert left_out == {}
    assert judged["near"].rows is None
    for train, test in data.folds:
        alone = NearestNeighborsRanker(3).fit(X[train], Y[train]).predict_pairs(X[test])
        np.testing.assert_array_equal(judged["near"].pairs[test], compact(alone))


def test_without_a_bound_time_does_not_pass():
    assert Clock(None).left == np.inf
    assert Clock(-1.0).left < 0 < Clock(100.0).left <= 100
