"""Borda and Copeland scores against their definitions."""

import numpy as np
import pytest

from moreplr.aggregation import aggregate
from moreplr.aggregation._scores import descending


def ranks_of(scores, threshold):
    """Dense ranks of falling scores; a fall of more than the threshold opens a bucket."""
    ranks = np.empty(len(scores))
    rank, previous = 1, None
    for label in np.argsort(-scores, kind="stable"):
        if previous is not None and previous - scores[label] > threshold + 1e-9:
            rank += 1
        ranks[label], previous = rank, scores[label]
    return ranks


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.25])
def test_borda_is_the_sum_of_the_row(twin, threshold):
    C = twin.uniform(100, 6, np.random.default_rng(0))
    for matrix, found in zip(C, aggregate(C, "borda", threshold=threshold), strict=True):
        scores = matrix.sum(axis=1) - np.diag(matrix)
        np.testing.assert_array_equal(found, ranks_of(scores, threshold))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.9])
def test_copeland_counts_wins_and_half_the_draws(twin, threshold):
    C = twin.uniform(100, 6, np.random.default_rng(1))
    for matrix, found in zip(C, aggregate(C, "copeland", threshold=threshold), strict=True):
        margin = matrix - matrix.T
        other = ~np.eye(6, dtype=bool)
        wins = ((margin > threshold) & other).sum(axis=1)
        draws = ((np.abs(margin) <= threshold) & other).sum(axis=1)
        np.testing.assert_array_equal(found, ranks_of(wins + draws / 2, 0))


def test_certain_orders_keep_their_places_at_the_default_threshold(twin):
    ranks = np.array([[3.0, 1.0, 2.0, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    for method in ("borda", "copeland"):
        np.testing.assert_array_equal(aggregate(twin.bucket_matrix(ranks), method), ranks)


def test_rounding_does_not_part_labels_of_equal_score():
    # Three tenths are not 0.1 + 0.2, and the labels are interchangeable.
    C = np.full((4, 4), 0.5)
    C[0, 1], C[1, 0] = 0.1, 0.9
    C[1, 2], C[2, 1] = 0.1, 0.9
    C[2, 0], C[0, 2] = 0.1, 0.9
    for method in ("borda", "copeland"):
        np.testing.assert_array_equal(aggregate(C, method, threshold=0.0), 1)


def test_among_equal_scores_the_lower_index_comes_first():
    rounding = 1e-10 * np.array([0.0, 1.0, -1.0, 2.0])
    np.testing.assert_array_equal(descending(np.ones(4) + rounding), [0, 1, 2, 3])
    np.testing.assert_array_equal(descending(np.array([1.0, 2.0, 1.0, 2.0])), [1, 3, 0, 2])
