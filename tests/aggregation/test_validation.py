"""Bad matrices and impossible options are refused by name, row and pair."""

from itertools import product

import numpy as np
import pytest

from moreplr.aggregation import aggregate, expected_tau

HALVES = np.full((3, 3), 0.5)
THIRDS = np.full((3, 3), 1 / 3)


def spoilt(matrix, i, j, value, row=None):
    """A copy with one entry changed; in a stack of three when a row is given."""
    if row is None:
        copy = matrix.copy()
        copy[i, j] = value
        return copy
    copy = np.stack([matrix] * 3)
    copy[row, i, j] = value
    return copy


@pytest.mark.parametrize(
    ("C", "message"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros(4), r"shape \(4,\)"),
        (np.zeros((2, 2, 3)), r"shape \(2, 2, 3\)"),
        (np.zeros((0, 0)), "at least one label"),
        ([["a", "b"], ["c", "d"]], "real numbers"),
        (HALVES * 1j, "real numbers"),
        (spoilt(HALVES, 0, 2, 1.5), r"\[0, 1\], got 1.5 at pair \(0, 2\)"),
        (spoilt(HALVES, 2, 1, -0.1, row=1), r"got -0.1 at row 1, pair \(2, 1\)"),
        (spoilt(HALVES, 1, 2, np.nan, row=2), r"got nan at row 2, pair \(1, 2\)"),
        (spoilt(HALVES, 1, 0, np.inf), r"got inf at pair \(1, 0\)"),
        (spoilt(HALVES, 0, 1, 0.7), r"must be 1, got 0.7 \+ 0.5 at pair \(0, 1\)"),
        (spoilt(HALVES, 2, 0, 0.7, row=2), r"got 0.5 \+ 0.7 at row 2, pair \(0, 2\)"),
    ],
)
def test_a_bad_pair_order_matrix_is_refused(C, message):
    with pytest.raises(ValueError, match=message):
        aggregate(C)


def test_the_row_is_named_beyond_the_first_block():
    C = np.full((50_000, 3, 3), 0.5)
    C[45_678, 0, 1] = 0.9
    with pytest.raises(ValueError, match="row 45678"):
        aggregate(C, "borda")


@pytest.mark.parametrize(
    ("P", "Q", "message"),
    [
        (THIRDS, np.zeros((3, 3)), r"P\[j, i\] \+ Q\[i, j\] must be 1"),
        (THIRDS, np.full((2, 2), 1 / 3), "P and Q must have the same shape"),
        (THIRDS, spoilt(THIRDS, 0, 1, 0.2), r"Q must be symmetric.*pair \(0, 1\)"),
        (THIRDS, spoilt(THIRDS, 0, 1, np.nan), r"Q must lie in \[0, 1\], got nan"),
        (spoilt(THIRDS, 0, 1, 2.0), THIRDS, r"P must lie in \[0, 1\], got 2 at pair \(0, 1\)"),
    ],
)
def test_bad_three_way_probabilities_are_refused(P, Q, message):
    with pytest.raises(ValueError, match=message):
        expected_tau(P, Q)


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        (None, "needs ties"),
        (np.full((2, 2), 0.5), "same shape"),
        (spoilt(HALVES, 0, 1, 0.2), "ties must be symmetric"),
        (np.full((3, 3), 1.2), r"ties must lie in \[0, 1\]"),
    ],
)
def test_bad_ties_are_refused(ties, message):
    with pytest.raises(ValueError, match=message):
        aggregate(HALVES, objective="tau_x", ties=ties)


def test_ties_must_leave_room_for_both_orders():
    C = spoilt(spoilt(HALVES, 0, 1, 0.2), 1, 0, 0.8)
    ties = np.full((3, 3), 0.5)
    with pytest.raises(ValueError, match=r"ties 0.5 and C 0.2 at pair \(0, 1\)"):
        aggregate(C, objective="tau_x", ties=ties)


def test_ties_are_refused_where_they_would_be_ignored():
    with pytest.raises(ValueError, match="objective='tau_x'"):
        aggregate(HALVES, ties=HALVES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "method must be one of.*'best'"),
        ({"objective": "l2"}, "objective must be one of.*'l2'"),
        ({"n_buckets": 0}, "n_buckets must be an integer from 1 to 3.*0"),
        ({"n_buckets": 4}, "n_buckets must be an integer from 1 to 3.*4"),
        ({"n_buckets": 2.0}, r"n_buckets must be an integer.*2\.0"),
        ({"n_buckets": True}, "n_buckets must be an integer.*True"),
        ({"top": 0}, "top must be an integer from 1 to 3.*0"),
        ({"top": 4}, "top must be an integer from 1 to 3.*4"),
        ({"top": 1, "n_buckets": 3}, "n_buckets=3 cannot be met with top=1.*2 to 2"),
        ({"top": 1, "n_buckets": 1}, "n_buckets=1 cannot be met with top=1"),
        ({"total_order": True, "n_buckets": 2}, "n_buckets=2 cannot be met.*total_order=True"),
        ({"beta": 0.6}, "beta must be a number from 0 to 0.5, got 0.6"),
        ({"beta": "a"}, "beta must be a number from 0 to 0.5, got 'a'"),
        ({"threshold": True}, "threshold must be a number from 0 to inf, got True"),
        ({"threshold": -1}, "threshold must be a number from 0 to inf, got -1"),
        ({"threshold": float("nan")}, "threshold must be a number.*nan"),
        ({"method": "borda", "n_buckets": 2}, "'borda' cannot take n_buckets"),
        ({"method": "published", "top": 2}, "'published' cannot take top"),
        ({"method": "bpa", "total_order": True}, "'bpa' cannot take total_order"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        aggregate(HALVES, **options)


def test_options_are_met_wherever_some_bucket_order_meets_them(twin):
    C = twin.uniform(1, 4, np.random.default_rng(0))[0]
    orders = twin.all_bucket_orders(4)
    some = (None, 1, 2, 3, 4)
    for n_buckets, top, total_order in product(some, some, (False, True)):
        options = {"n_buckets": n_buckets, "top": top, "total_order": total_order}
        if twin.allowed(orders, **options).any():
            found = aggregate(C, "segments", **options)
            assert twin.allowed(found[None], **options).all(), options
        else:
            with pytest.raises(ValueError, match="cannot be met"):
                aggregate(C, "segments", **options)


def test_the_least_and_the_greatest_numbers_are_allowed():
    for options in ({"beta": 0}, {"beta": 0.5}, {"threshold": 0.0}, {"threshold": np.inf}):
        np.testing.assert_array_equal(aggregate(HALVES, "borda", **options), 1)


def test_small_deviations_from_one_are_accepted():
    C = spoilt(HALVES, 0, 1, 0.5 + 5e-7)
    np.testing.assert_array_equal(aggregate(C), 1)
    single = np.full((3, 3), 1 / 3, dtype=np.float32)
    np.testing.assert_array_equal(expected_tau(single, single), 1)


def test_diagonals_are_not_looked_at():
    C = np.array([[np.nan, 0.9, 0.9], [0.1, np.inf, 0.9], [0.1, 0.1, -7.0]])
    expected = [1, 2, 3]
    for method in ("auto", "local", "segments", "bpa_lia", "published", "borda", "copeland"):
        np.testing.assert_array_equal(aggregate(C, method), expected)
    Q = np.zeros((3, 3))
    np.fill_diagonal(Q, np.nan)
    np.testing.assert_array_equal(expected_tau(C, Q), expected)
    np.testing.assert_array_equal(aggregate(C, objective="tau_x", ties=Q), expected)
