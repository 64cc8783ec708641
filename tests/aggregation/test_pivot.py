"""The bucket pivot algorithms against transcriptions of their descriptions."""

import numpy as np
import pytest

from moreplr.aggregation import aggregate


def least_indecision(C):
    """Mean over j ≠ i of |C_ij - U_ij|, U being 1 above ¾, 0 below ¼ and ½ between."""
    U = np.where(C > 0.75, 1.0, np.where(C < 0.25, 0.0, 0.5))
    k = len(C)
    return [sum(abs(C[i, j] - U[i, j]) for j in range(k) if j != i) / (k - 1) for i in range(k)]


def one_pass(C, items, central, before, after, many):
    """Pass over the items; `central` grows, and with `many` pivots it is what they meet."""
    for item in items:
        met = central if many else central[:1]
        mean = sum(C[e, item] for e in met) / len(met)
        if mean < 0.25:
            before.append(item)
        elif mean > 0.75:
            after.append(item)
        else:
            central.append(item)


def pivot_buckets(C, items, doubt, many):
    """Buckets by the pivot of least indecision; two passes with many pivots, else one."""
    if not items:
        return []
    pivot = min(items, key=lambda item: doubt[item])
    central, before, after = [pivot], [], []
    one_pass(C, [item for item in items if item != pivot], central, before, after, many)
    if many:
        outside = before + after
        before, after = [], []
        one_pass(C, outside, central, before, after, many)
    left = pivot_buckets(C, before, doubt, many)
    return [*left, central, *pivot_buckets(C, after, doubt, many)]


def transcription(C, many):
    ranks = np.empty(len(C))
    buckets = pivot_buckets(C, list(range(len(C))), least_indecision(C), many)
    for rank, bucket in enumerate(buckets, 1):
        ranks[bucket] = rank
    return ranks


def matrices(twin):
    """Uniform ones, noisy ones, and some full of values on the limits."""
    rng = np.random.default_rng(0)
    for k in (2, 3, 5, 8, 15):
        yield twin.uniform(80, k, rng)
        for noise in (0.7, 2.0):
            P, Q = twin.sampled(40, k, rng, noise=noise)
            yield P + Q / 2
        eighths = np.round(8 * twin.uniform(80, k, rng)) / 8
        yield np.triu(eighths, 1) + np.tril(1 - np.swapaxes(eighths, 1, 2), -1)


@pytest.mark.parametrize("method", ["bpa_lia", "bpa_lia_mp2"])
def test_pivot_methods_follow_their_descriptions(twin, method):
    for C in matrices(twin):
        expected = [transcription(matrix, method == "bpa_lia_mp2") for matrix in C]
        np.testing.assert_array_equal(aggregate(C, method), expected)


def test_published_is_the_multi_pivot_second_pass_form(twin):
    C = twin.uniform(100, 7, np.random.default_rng(3))
    np.testing.assert_array_equal(aggregate(C, "published"), aggregate(C, "bpa_lia_mp2"))


def test_random_pivots_place_every_label_by_some_pivot(twin):
    C = twin.uniform(300, 3, np.random.default_rng(4))
    found = aggregate(C, "bpa", random_state=0)
    for matrix, ranks in zip(C, found, strict=True):
        possible = []
        for pivot in range(3):
            forced = [0.0 if item == pivot else 1.0 + item for item in range(3)]
            possible.append(tuple(ranks_by_first_pivot(matrix, forced)))
            forced = [0.0 if item == pivot else 3.0 - item for item in range(3)]
            possible.append(tuple(ranks_by_first_pivot(matrix, forced)))
        assert tuple(ranks) in possible


def ranks_by_first_pivot(C, doubt):
    ranks = np.empty(3)
    for rank, bucket in enumerate(pivot_buckets(C, [0, 1, 2], doubt, many=False), 1):
        ranks[bucket] = rank
    return ranks


def test_random_pivots_come_from_the_random_state(twin):
    C = twin.uniform(100, 8, np.random.default_rng(5))
    first = aggregate(C, "bpa", random_state=1)
    np.testing.assert_array_equal(first, aggregate(C, "bpa", random_state=1))
    assert (first != aggregate(C, "bpa", random_state=2)).any()


@pytest.mark.parametrize("method", ["bpa", "bpa_lia", "bpa_lia_mp2"])
def test_beta_of_one_half_ties_all_and_of_zero_only_exact_halves(twin, method):
    C = twin.uniform(50, 6, np.random.default_rng(6))
    assert (aggregate(C, method, beta=0.5, random_state=0) == 1).all()
    strict = aggregate(C, method, beta=0.0, random_state=0)
    assert (np.sort(strict, axis=1) == np.arange(1, 7)).all()


@pytest.mark.parametrize("method", ["bpa", "bpa_lia", "bpa_lia_mp2"])
def test_one_label_is_one_bucket(method):
    np.testing.assert_array_equal(aggregate([[0.5]], method, random_state=0), [1.0])
