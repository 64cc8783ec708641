"""Local search reaches the optimum nearly always and is never worse than its starts."""

from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from moreplr.aggregation import aggregate, expected_tau
from moreplr.aggregation._local import flatten
from moreplr.aggregation.gains import tau_x_gains

# Kernels that run as plain Python, to find out what tests notice, take a hundred times as long.
ROWS = 12 if numba.config.DISABLE_JIT else 400
STARTS = ("bpa_lia", "bpa_lia_mp2", "segments")
OPTIONS = [{}, {"n_buckets": 3}, {"top": 4}, {"total_order": True}, {"top": 4, "n_buckets": 3}]


def optimal_share(twin, P, Q):
    """Shares of rows where local search is optimal, for L1 and for expected τ_X."""
    C = P + Q / 2
    distance = [twin.l1_distance(C, aggregate(C, method)) for method in ("local", "exact")]
    score = [twin.mean_tau_x(P, Q, expected_tau(P, Q, m)) for m in ("local", "exact")]
    return np.mean(distance[0] < distance[1] + 1e-9), np.mean(score[0] > score[1] - 1e-9)


@pytest.mark.parametrize("k", [4, 7, 10])
@pytest.mark.parametrize("alpha", [(1.0, 1.0, 1.0), (0.3, 0.3, 0.3), (1.0, 1.0, 0.3)])
def test_local_search_is_optimal_on_random_matrices(twin, k, alpha):
    P, Q = twin.three_way(ROWS, k, np.random.default_rng(k), alpha)
    assert min(optimal_share(twin, P, Q)) >= 0.98


@pytest.mark.parametrize("noise", [0.5, 1.5])
def test_local_search_is_optimal_on_noisy_samples(twin, noise):
    P, Q = twin.sampled(ROWS, 10, np.random.default_rng(0), noise=noise)
    assert min(optimal_share(twin, P, Q)) >= 0.98


@pytest.mark.parametrize("name", ["glass", "ecoli", "yeast"])
def test_local_search_is_optimal_on_neighbours_of_real_rows(twin, benchmark_data, name):
    X, Y = benchmark_data(name)
    index = NearestNeighbors(n_neighbors=16).fit(X)
    near = index.kneighbors(X[:ROWS], return_distance=False)[:, 1:]
    assert min(optimal_share(twin, *twin.shares(Y[near]))) >= 0.98


@pytest.mark.parametrize("k", [5, 14, 26])
def test_local_search_is_never_worse_than_its_starts(twin, k):
    rng = np.random.default_rng(k)
    parts = [twin.three_way(ROWS // 4, k, rng), twin.sampled(ROWS // 4, k, rng)]
    P, Q = (np.concatenate(matrices) for matrices in zip(*parts, strict=True))
    C = P + Q / 2
    distance = twin.l1_distance(C, aggregate(C, "local"))
    score = twin.mean_tau_x(P, Q, expected_tau(P, Q, "local"))
    for start in STARTS:
        assert (distance <= twin.l1_distance(C, aggregate(C, start)) + 1e-9).all()
        assert (score >= twin.mean_tau_x(P, Q, expected_tau(P, Q, start)) - 1e-9).all()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_local_search_honours_options_and_comes_near_the_optimum(twin, options):
    P, Q = twin.sampled(ROWS // 4, 9, np.random.default_rng(1))
    found = expected_tau(P, Q, "local", **options)
    assert twin.allowed(found, **options).all()
    loss = twin.mean_tau_x(P, Q, expected_tau(P, Q, "exact", **options))
    loss -= twin.mean_tau_x(P, Q, found)
    assert loss.min() > -1e-9
    assert loss.mean() < 0.001


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_local_search_honours_options_with_many_labels(twin, options):
    P, Q = twin.three_way(ROWS // 20, 30, np.random.default_rng(2), (1.0, 1.0, 0.3))
    assert twin.allowed(expected_tau(P, Q, "local", **options), **options).all()
    cut = twin.mean_tau_x(P, Q, expected_tau(P, Q, "segments", **options))
    assert (twin.mean_tau_x(P, Q, expected_tau(P, Q, "local", **options)) >= cut - 1e-9).all()


@given(k=st.integers(1, 7), seed=st.integers(0, 10_000))
def test_the_stronger_member_of_a_bucket_is_flattened_first(k, seed):
    rng = np.random.default_rng(seed)
    D, bucket = rng.normal(size=(k, k)), rng.integers(0, 3, k)
    together = bucket[:, None] == bucket
    net = ((D - D.T) * together).sum(axis=1)
    keys = [(bucket[x], -net[x]) for x in flatten(D, bucket)]
    assert len(keys) == k
    assert all(one <= other for one, other in pairwise(keys))


def test_no_swap_of_two_of_many_labels_improves_the_result(twin):
    k = 30
    P, Q = twin.three_way(ROWS // 4, k, np.random.default_rng(3), (1.0, 1.0, 0.3))
    first, second = np.triu_indices(k, 1)
    pairs = np.arange(len(first))
    for D, ranks in zip(tau_x_gains(P + Q / 2, Q), expected_tau(P, Q, "local"), strict=True):
        swapped = np.tile(ranks, (len(first), 1))
        swapped[pairs, first], swapped[pairs, second] = ranks[second], ranks[first]
        orders = np.vstack([ranks, swapped])
        gains = ((orders[:, :, None] < orders[:, None, :]) * D).sum(axis=(1, 2))
        assert gains.max() <= gains[0] + 1e-5
