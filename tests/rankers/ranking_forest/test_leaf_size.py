"""Which leaf sizes are tried, and which is taken."""

import numpy as np
import pytest

from moreplr.rankers.ranking_forest.leaf_size import choose_leaf_size

NAN = float("nan")


def chosen(means, most=1000, noise=0.0):
    """The choice where size 2 ** i has the i-th mean."""
    wave = noise * np.tile([1.0, -1.0], 50)

    def score(size):
        at = size.bit_length() - 1
        return means[at] + at * wave

    return choose_leaf_size(score, most)


def test_sizes_double_until_two_in_a_row_gain_nothing():
    best, tried = chosen([0.1, 0.3, 0.2, 0.4, 0.4, 0.3, 0.9])
    assert best == 8
    assert tried == pytest.approx({1: 0.1, 2: 0.3, 4: 0.2, 8: 0.4, 16: 0.4, 32: 0.3})


def test_sizes_stop_at_the_number_of_rows():
    assert chosen([0.1, 0.2, 0.3, 0.4], most=4)[0] == 2
    assert chosen([0.1, 0.2, 0.3, 0.4], most=5)[0] == 4


def test_a_gain_that_chance_explains_is_not_taken():
    assert chosen([0.1, 0.11, 0.1, 0.1], noise=0.05)[0] == 2
    assert chosen([0.1, 0.11, 0.1, 0.1], noise=0.2)[0] == 1


def test_rows_that_no_tree_can_score_do_not_count():
    def score(size):
        return np.array([0.5, NAN, 0.5 + size / 10 if size < 4 else 0.0])

    assert choose_leaf_size(score, 100)[1] == pytest.approx({1: 0.55, 2: 0.6, 4: 0.25, 8: 0.25})
    assert choose_leaf_size(lambda size: np.full(3, NAN), 100) == (1, {})
