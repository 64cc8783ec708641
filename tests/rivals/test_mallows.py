from itertools import permutations

import numpy as np
import pytest

from moreplr.rivals.mallows import complete, distance, expected_distance, fit_centre, spread

NAN = float("nan")


def orders(k):
    return np.array(list(permutations(np.arange(1.0, k + 1))))


@pytest.mark.parametrize("theta", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_expected_distance_is_that_of_all_rankings(theta, k):
    distances = distance(orders(k), np.arange(1.0, k + 1))
    share = np.exp(-theta * distances)
    assert expected_distance(theta, k) == pytest.approx((share * distances).sum() / share.sum())


@pytest.mark.parametrize("k", [2, 5, 16])
def test_spread_is_the_inverse(k):
    theta = np.array([0.0, 0.01, 0.2, 1.0, 5.0, 9.0])
    np.testing.assert_allclose(spread(expected_distance(theta, k), k), theta, rtol=2e-3)
    assert spread(np.array([0.0]), k) == np.inf
    assert spread(np.array([k * k]), k) == 0


def test_completions_without_ties_are_the_nearest_of_all():
    rng = np.random.default_rng(0)
    every = orders(5)
    for _ in range(200):
        Y, centre = rng.permutation(5) + 1.0, rng.permutation(5) + 1.0
        Y[rng.random(5) < 0.5] = NAN
        ranked = ~np.isnan(Y)
        order = np.argsort(np.where(ranked, Y, np.inf))[: ranked.sum()]
        extends = (np.diff(every[:, order], axis=1) > 0).all(axis=1)
        (found,) = complete(Y[None], centre)
        assert (np.diff(found[order]) > 0).all()
        assert distance(found, centre) == distance(every[extends], centre).min()


def test_completion_by_hand():
    # of "d > a", under a > b > c > d: b and c go first, where only a is discordant with each
    found = complete(np.array([[2.0, NAN, NAN, 1.0]]), np.arange(1.0, 5))
    np.testing.assert_array_equal(found, [[4, 1, 2, 3]])
    assert distance(found, np.arange(1.0, 5)) == [3]
    # a label that the centre ties with a bucket joins it
    np.testing.assert_array_equal(
        complete(np.array([[1.0, 2.0, NAN]]), np.array([1.0, 2.0, 2.0])), [[1, 2, 2]]
    )


def test_an_empty_ranking_is_completed_to_the_centre():
    centre = np.array([2.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(complete(np.full((1, 4), NAN), centre), [centre])


def test_complete_rankings_get_their_borda_count():
    Y = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]])
    centre = fit_centre(Y)
    np.testing.assert_array_equal(centre.ranks, [1, 2, 3])
    np.testing.assert_array_equal(centre.completed, Y)


def test_incomplete_rankings_by_hand():
    """The votes of "c" alone put it level with b; completed, they say no more than b > c."""
    Y = np.array([[1.0, 2.0, 3.0], [NAN, NAN, 1.0], [1.0, 2.0, 3.0]])
    centre = fit_centre(Y)
    np.testing.assert_array_equal(centre.ranks, [1, 2, 3])
    np.testing.assert_array_equal(centre.completed[1], [1, 2, 3])


def test_a_stack_is_fitted_like_its_parts():
    rng = np.random.default_rng(1)
    Y = rng.integers(1, 4, size=(6, 5, 4)).astype(float)
    Y[rng.random(Y.shape) < 0.3] = NAN
    weight = rng.random((6, 5))
    together = fit_centre(Y, weight)
    for part in range(6):
        alone = fit_centre(Y[part], weight[part])
        np.testing.assert_array_equal(together.ranks[part], alone.ranks)
        np.testing.assert_allclose(together.completed[part], alone.completed)
