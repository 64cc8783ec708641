"""Both objectives are a constant plus the gains of the pairs in strict order."""

import numpy as np
import pytest

from moreplr.aggregation.gains import l1_gains, tau_x_gains


def gained(D, orders):
    return ((orders[:, :, None] < orders[:, None, :]) * D).sum(axis=(1, 2))


@pytest.mark.parametrize("k", [2, 4])
def test_l1_gains_are_the_distance_saved_over_the_full_tie(twin, k):
    C = twin.uniform(1, k, np.random.default_rng(k))
    orders = twin.all_bucket_orders(k)
    saved = twin.l1_distance(C[0], np.ones(k)) - twin.l1_distance(C[0], orders)
    D = l1_gains(C)
    np.testing.assert_allclose(gained(D, orders), saved, atol=1e-12)
    assert (D[:, range(k), range(k)] == 0).all()


@pytest.mark.parametrize("k", [2, 4])
def test_tau_x_gains_are_the_score_added_to_the_full_tie(twin, k):
    P, Q = twin.three_way(1, k, np.random.default_rng(k))
    orders = twin.all_bucket_orders(k)
    added = twin.mean_tau_x(P[0], Q[0], orders) - twin.mean_tau_x(P[0], Q[0], np.ones(k))
    gains = gained(tau_x_gains(P + Q / 2, Q), orders) / (k * (k - 1) / 2)
    np.testing.assert_allclose(gains, added, atol=1e-12)


def test_a_pair_prefers_the_tie_exactly_when_it_is_likelier_than_the_net_preference(twin):
    P, Q = twin.three_way(500, 2, np.random.default_rng(0))
    D = tau_x_gains(P + Q / 2, Q)
    prefers_tie = np.maximum(D[:, 0, 1], D[:, 1, 0]) < 0
    net = np.abs(P[:, 0, 1] - P[:, 1, 0])
    np.testing.assert_array_equal(prefers_tie, Q[:, 0, 1] > net)
