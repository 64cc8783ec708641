"""Which rows members are fitted on and judged by, and how much each relation counts."""

import numpy as np
import pytest

from moreplr.checks import make_rankings
from moreplr.rankers._pairs import pair_codes
from moreplr.rankers.auto._judging import Data
from moreplr.rankers.auto._mixture import Observed


def rows(n=60, k=4, *, n_folds=3, most=1000, groups=None, weight=None, seed=0):
    X, Y = make_rankings(n, k)
    rng = np.random.RandomState(seed)
    return Data.of(X, Y, weight, groups, rng, n_folds=n_folds, most=most)


def test_each_row_is_held_out_once_and_by_a_fit_without_it():
    data = rows()
    assert sorted(np.concatenate([test for _, test in data.folds])) == list(range(60))
    for train, test in data.folds:
        assert len(test) == 20
        assert sorted([*train, *test]) == list(range(60))
    np.testing.assert_array_equal(data.judged, np.arange(60))


def test_groups_are_held_out_together():
    groups = np.arange(60) // 7
    data = rows(groups=groups)
    assert data.grouped
    for train, test in data.folds:
        assert not set(groups[train]) & set(groups[test])


def test_of_many_rows_no_more_are_judged_than_wanted():
    data = rows(most=35)
    assert [len(test) for _, test in data.folds] == [20, 15]
    assert len(data.judged) == 35
    assert (np.diff(data.judged) > 0).all()
    for train, test in data.folds:
        assert not set(train) & set(test)


@pytest.mark.parametrize("n", [1, 2])
def test_there_are_no_more_folds_than_rows(n):
    assert len(rows(n, n_folds=5).folds) == (n if n > 1 else 0)


def test_fewer_rows_are_among_more():
    data = rows()
    few, more = data.drawn(10), data.drawn(30)
    assert len(few) == 10
    assert set(few) < set(more)
    X, Y, weight = data.part(few)
    np.testing.assert_array_equal(X, data.X[few])
    np.testing.assert_array_equal(Y, data.Y[few])
    assert weight is None


def test_each_row_counts_once_however_many_pairs_it_ranks():
    data = rows(weight=np.arange(1.0, 61))
    data.Y[::3, 0] = np.nan
    data.Y[5] = np.nan
    seen = Observed.of(data)
    total = np.bincount(seen.row, seen.weight, 60)
    expected = np.arange(1.0, 61)
    expected[5] = 0
    np.testing.assert_allclose(total, expected)
    np.testing.assert_array_equal(seen.code, pair_codes(data.Y)[seen.row, seen.pair])


def test_what_a_member_gave_to_the_observed_relations():
    data = rows(20, 3, n_folds=2)
    seen = Observed.of(data)
    three = np.random.default_rng(0).dirichlet([1, 1, 1], (20, 3))
    pairs = three[:, :, :2].astype(np.float32)
    expected = three[seen.row, seen.pair, seen.code]
    np.testing.assert_allclose(seen.likelihoods(pairs), expected, atol=1e-6)
