"""The cut of a fixed order is the best of all cuts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.aggregation import aggregate
from moreplr.aggregation._local import worth
from moreplr.aggregation._segments import cut


def all_cuts(order):
    """Buckets of the labels for every way to cut the order."""
    k = len(order)
    for inner in itertools.product((0, 1), repeat=k - 1):
        bucket = np.empty(k, dtype=np.int64)
        bucket[order] = np.cumsum((0, *inner))
        yield bucket


@settings(max_examples=80, deadline=None)
@given(
    k=st.integers(1, 7),
    seed=st.integers(0, 10_000),
    counted=st.booleans(),
    topped=st.booleans(),
    strict=st.booleans(),
)
def test_the_cut_is_the_best_of_all_cuts_within_the_limits(
    twin_allowed, k, seed, counted, topped, strict
):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(k, k))
    np.fill_diagonal(D, 0.0)
    order = rng.permutation(k)
    top = int(rng.integers(1, k + 1)) if topped else None
    choices = [b for b in all_cuts(order) if twin_allowed(b, None, top, strict)]
    n_buckets = choices[rng.integers(len(choices))].max() + 1 if counted else 0
    if counted:
        choices = [b for b in choices if b.max() + 1 == n_buckets]
    limits = (int(n_buckets), 0 if top is None else k - top, 1 if strict else k)
    bucket = np.empty(k, dtype=np.int64)
    value, count = cut(order, D, limits, bucket, np.zeros(1, np.uint8))
    assert value == pytest.approx(max(worth(D, b) for b in choices), abs=1e-9)
    assert value == pytest.approx(worth(D, bucket), abs=1e-9)
    assert count == bucket.max() + 1
    assert any(np.array_equal(bucket, b) for b in choices)


@pytest.fixture(scope="module")
def twin_allowed(twin):
    def check(bucket, n_buckets, top, total_order):
        return twin.allowed(bucket[None] + 1.0, n_buckets, top, total_order)[0]

    return check


def test_segments_keep_the_order_of_the_borda_scores(twin):
    C = twin.uniform(200, 8, np.random.default_rng(0))
    scores = C.sum(axis=2)
    ranks = aggregate(C, "segments")
    higher = scores[:, :, None] > scores[:, None, :]
    assert (ranks[:, :, None] <= ranks[:, None, :])[higher].all()
    assert (ranks.min(axis=1) == 1).all()


def test_labels_stay_tied_where_nothing_is_gained_by_parting_them():
    C = np.triu(np.full((4, 4), 0.75), 1) + np.tril(np.full((4, 4), 0.25), -1)  # a gain of 0
    np.testing.assert_array_equal(aggregate(C, "segments"), [1, 1, 1, 1])
