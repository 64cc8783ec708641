"""Ranks, buckets and matrices of pairs against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.rankings import bucket_matrix, count_buckets, dense_ranks, pair_order_matrix

NAN = float("nan")

positions = st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([1.0, 2.0, 3.0, -7.5, NAN]))
)


def brute_dense(row):
    ranked = sorted({value for value in row if not np.isnan(value)})
    return [ranked.index(value) + 1 if not np.isnan(value) else NAN for value in row]


@given(positions)
def test_dense_ranks_are_places_among_distinct_positions(Y):
    np.testing.assert_array_equal(dense_ranks(Y), [brute_dense(row) for row in Y])


@given(positions)
def test_count_buckets(Y):
    expected = [len({value for value in row if not np.isnan(value)}) for row in Y]
    np.testing.assert_array_equal(count_buckets(Y), expected)


@given(positions)
def test_pair_order_matrix_is_the_mean_of_bucket_matrices(Y):
    stack = bucket_matrix(Y)
    k = Y.shape[1]
    for i in range(k):
        for j in range(k):
            seen = [B[i, j] for B in stack if not np.isnan(B[i, j])]
            expected = np.mean(seen) if seen and i != j else 0.5
            assert pair_order_matrix(Y)[i, j] == pytest.approx(expected)


def test_weights_repeat_rankings():
    Y = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, NAN]])
    np.testing.assert_allclose(
        pair_order_matrix(Y, np.array([3.0, 1.0])), pair_order_matrix(Y[[0, 0, 0, 1]])
    )


def test_a_single_ranking_has_a_single_matrix():
    ranking = np.array([1.0, 2.0, NAN])
    expected = [[0.5, 1, NAN], [0, 0.5, NAN], [NAN, NAN, NAN]]
    np.testing.assert_array_equal(bucket_matrix(ranking), expected)
