import numpy as np
import pytest

from moreplr.rivals.borda import consensus, expected_positions

NAN = float("nan")


def test_positions_are_the_means_over_all_completions():
    """One of three labels is absent: it may have each place with the same probability."""
    found = expected_positions(np.array([[1.0, NAN, 2.0]]))
    # b first: (2, 1, 3); between: (1, 2, 3); last: (1, 3, 2)
    np.testing.assert_allclose(found, [[4 / 3, 2, 8 / 3]])


def test_votes_are_those_of_the_paper():
    Y = np.array([[2.0, 1.0, NAN, 3.0, NAN]])
    m, k = 3, 5
    votes = [(k + 1) * (m + 1 - r) / (m + 1) for r in (2, 1, 3)]
    expected = [votes[0], votes[1], (k + 1) / 2, votes[2], (k + 1) / 2]
    np.testing.assert_allclose(k + 1 - expected_positions(Y), [expected])


def test_consensus_by_hand():
    # a: 1 + 2 + 1 = 4, b: 2 + 1 + 3 = 6, c: 3 + 3 + 2 = 8
    positions = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]])
    np.testing.assert_array_equal(consensus(positions), [1, 2, 3])
    # with weights 1, 4, 0: a: 9, b: 6, c: 15
    np.testing.assert_array_equal(consensus(positions, np.array([1.0, 4.0, 0.0])), [2, 1, 3])


def test_equal_counts_are_tied_in_whatever_order_they_are_added():
    thirds = np.array([[1 / 3, 2.0], [2.0, 0.1], [0.1, 1 / 3]]) + 1
    np.testing.assert_array_equal(consensus(thirds), [1, 1])


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3)])
def test_stacks_of_voters(shape):
    rng = np.random.default_rng(0)
    positions, weight = rng.random(shape), rng.random(shape[:-1])
    found = consensus(positions, weight)
    assert found.shape == shape[:-2] + shape[-1:]
    one = consensus(positions.reshape(-1, 4, 3)[-1], weight.reshape(-1, 4)[-1])
    np.testing.assert_array_equal(found.reshape(-1, 3)[-1], one)
