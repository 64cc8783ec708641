"""The dynamic programme finds what enumeration of all bucket orders finds."""

import itertools

import numpy as np
import pytest

from moreplr.aggregation import aggregate, expected_tau

ROWS = {1: 10, 2: 250, 3: 250, 4: 250, 5: 150, 6: 100}
OPTIONS = [
    {"n_buckets": 1},
    {"n_buckets": 2},
    {"n_buckets": 4},
    {"top": 1},
    {"top": 2},
    {"top": 3},
    {"top": 4},
    {"total_order": True},
    {"total_order": True, "top": 2},
    {"total_order": True, "n_buckets": 5},
    {"total_order": True, "top": 3, "n_buckets": 4},
    {"top": 3, "n_buckets": 2},
    {"top": 3, "n_buckets": 3},
]


def least_distance(twin, C, orders):
    return np.array([twin.l1_distance(matrix, orders).min() for matrix in C])


def greatest_tau(twin, P, Q, orders):
    return np.array([twin.mean_tau_x(p, q, orders).max() for p, q in zip(P, Q, strict=True)])


def test_the_enumeration_has_all_bucket_orders(twin):
    assert [len(twin.all_bucket_orders(k)) for k in range(1, 7)] == [1, 3, 13, 75, 541, 4683]
    assert sum(ROWS.values()) - ROWS[1] == 1000


@pytest.mark.parametrize("k", sorted(ROWS))
def test_exact_equals_brute_force_for_l1(twin, k):
    rng = np.random.default_rng(k)
    half = ROWS[k] // 2
    P, Q = twin.sampled(ROWS[k] - half, k, rng)
    C = np.concatenate([twin.uniform(half, k, rng), P + Q / 2])
    found = aggregate(C, "exact")
    best = least_distance(twin, C, twin.all_bucket_orders(k))
    np.testing.assert_allclose(twin.l1_distance(C, found), best, atol=1e-9)


@pytest.mark.parametrize("k", sorted(ROWS)[1:])
def test_exact_equals_brute_force_for_tau_x(twin, k):
    rng = np.random.default_rng(k)
    third = ROWS[k] // 3
    parts = [
        twin.three_way(third, k, rng),
        twin.three_way(third, k, rng, (1.0, 1.0, 0.3)),
        twin.sampled(ROWS[k] - 2 * third, k, rng),
    ]
    P, Q = (np.concatenate(matrices) for matrices in zip(*parts, strict=True))
    found = expected_tau(P, Q, "exact")
    best = greatest_tau(twin, P, Q, twin.all_bucket_orders(k))
    np.testing.assert_allclose(twin.mean_tau_x(P, Q, found), best, atol=1e-9)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_exact_equals_brute_force_under_options(twin, options):
    k = 5
    rng = np.random.default_rng(0)
    P, Q = twin.three_way(40, k, rng)
    C = twin.uniform(40, k, rng)
    orders = twin.all_bucket_orders(k)
    orders = orders[twin.allowed(orders, **options)]
    by_tau = expected_tau(P, Q, "exact", **options)
    by_l1 = aggregate(C, "exact", **options)
    assert twin.allowed(by_tau, **options).all()
    assert twin.allowed(by_l1, **options).all()
    np.testing.assert_allclose(
        twin.mean_tau_x(P, Q, by_tau), greatest_tau(twin, P, Q, orders), atol=1e-9
    )
    np.testing.assert_allclose(
        twin.l1_distance(C, by_l1), least_distance(twin, C, orders), atol=1e-9
    )


def test_twelve_labels_are_solved_and_thirteen_refused(twin):
    order = np.random.default_rng(0).permutation(13) // 3
    ranks = np.unique(order[:12], return_inverse=True)[1] + 1.0
    np.testing.assert_array_equal(aggregate(twin.bucket_matrix(ranks), "exact"), ranks)
    with pytest.raises(ValueError, match="k=13"):
        aggregate(twin.bucket_matrix(order), "exact")


def test_a_cycle_of_three_is_tied_or_cut_for_tau_x():
    # i beats i + 1 with certainty: a strict order gets two pairs of three, a tie gets none.
    P = np.zeros((3, 3))
    for i, j in itertools.product(range(3), repeat=2):
        P[i, j] = float((j - i) % 3 == 1)
    assert sorted(expected_tau(P, np.zeros((3, 3)), "exact")) == [1, 2, 3]
    # With ties twice as likely as the net preference, the tie wins.
    np.testing.assert_array_equal(expected_tau(P / 3, np.full((3, 3), 2 / 3), "exact"), 1)
