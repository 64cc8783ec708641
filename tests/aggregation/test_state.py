"""The sums that a state keeps stay true, and the gains they promise are paid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.aggregation._local import exchange, worth
from moreplr.aggregation._state import best_move, copy, load, move, new_state, unload

FREE = (0, 0, 9)


def random_state(k, seed):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(k, k))
    np.fill_diagonal(D, 0.0)
    bucket = np.unique(rng.integers(0, k, k), return_inverse=True)[1]
    state = new_state(k, np.zeros(1, np.uint8))
    load(state, D, bucket, bucket.max() + 1)
    return rng, D, state, bucket


def positions(state, k):
    bucket = np.empty(k, dtype=np.int64)
    unload(state, bucket)
    return bucket


def best_by_trial(x, D, bucket):
    """Worth of the best other bucket order in which only x has moved."""
    values = []
    for place in np.arange(-0.5, bucket.max() + 1, 0.5):
        moved = bucket.astype(float)
        moved[x] = place
        if not np.array_equal(
            np.sign(np.subtract.outer(moved, moved)), np.sign(np.subtract.outer(bucket, bucket))
        ):
            values.append(worth(D, moved))
    return max(values)


@settings(max_examples=60, deadline=None)
@given(k=st.integers(2, 7), seed=st.integers(0, 10_000))
def test_best_move_is_the_best_of_all_places_and_pays_its_gain(k, seed):
    rng, D, state, bucket = random_state(k, seed)
    outward = D.sum(axis=1)
    for _ in range(12):
        x = int(rng.integers(k))
        before = worth(D, bucket)
        gain, where = best_move(x, -1, state, outward, FREE)
        assert before + gain == pytest.approx(best_by_trial(x, D, bucket), abs=1e-9)
        move(x, where, state, D)
        bucket = positions(state, k)
        assert worth(D, bucket) == pytest.approx(before + gain, abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(
    k=st.integers(2, 6),
    seed=st.integers(0, 10_000),
    counted=st.booleans(),
    topped=st.booleans(),
    strict=st.booleans(),
)
def test_best_move_keeps_within_the_limits(k, seed, counted, topped, strict):
    rng, D, state, bucket = random_state(k, seed)
    if strict:  # no bucket but the last one may hold several labels
        bucket = np.minimum(rng.permutation(k), rng.integers(1, k) if topped else k)
        load(state, D, bucket, bucket.max() + 1)
    last = bucket == bucket.max()
    rest = int(last.sum()) if topped else 0
    limits = (int(bucket.max() + 1) if counted else 0, rest, 1 if strict else k)
    for x in range(k):
        values = []
        for place in np.arange(-0.5, bucket.max() + 1, 0.5):
            moved = bucket.astype(float)
            moved[x] = place
            moved = np.unique(moved, return_inverse=True)[1]
            sizes = np.bincount(moved)[: len(np.bincount(moved)) - topped]
            if (
                not np.array_equal(moved, bucket)
                and not (counted and moved.max() != bucket.max())
                and not (topped and ((moved == moved.max()) != last).any())
                and not (strict and (sizes > 1).any())
            ):
                values.append(worth(D, moved))
        gain, where = best_move(x, -1, state, D.sum(axis=1), limits)
        assert (where >= 0) == bool(values)
        if values:
            assert worth(D, bucket) + gain == pytest.approx(max(values), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(k=st.integers(2, 7), seed=st.integers(0, 10_000))
def test_a_copy_is_equal_and_moves_on_its_own(k, seed):
    rng, D, state, _ = random_state(k, seed)
    other = random_state(k, seed + 1)[2]
    outward = D.sum(axis=1)
    for x in rng.integers(0, k, 4 * k):  # until slots and places are no longer the same
        move(x, best_move(x, -1, state, outward, FREE)[1], state, D)
    bucket = positions(state, k)
    copy(state, other)
    np.testing.assert_array_equal(positions(other, k), bucket)
    for x in range(k):
        gains = [best_move(x, -1, one, outward, FREE) for one in (state, other)]
        assert gains[0] == gains[1]
    move(0, best_move(0, -1, other, outward, FREE)[1], other, D)
    np.testing.assert_array_equal(positions(state, k), bucket)


@settings(max_examples=40, deadline=None)
@given(k=st.integers(2, 8), seed=st.integers(0, 10_000))
def test_moves_leave_the_sums_of_a_fresh_state(k, seed):
    rng, D, state, _ = random_state(k, seed)
    outward = D.sum(axis=1)
    for _ in range(15):
        x = int(rng.integers(k))
        place = int(rng.integers(-1, state.count[0] + 1))
        _, where = best_move(x, place, state, outward, FREE)
        if where >= 0:
            move(x, where, state, D)
    bucket = positions(state, k)
    fresh = new_state(k, np.zeros(1, np.uint8))
    load(fresh, D, bucket, bucket.max() + 1)
    used = state.slots[: state.count[0]]
    count = fresh.count[0]
    assert state.count[0] == count
    np.testing.assert_array_equal(state.size[used], fresh.size[:count])
    np.testing.assert_allclose(state.front[:, used], fresh.front[:, :count], atol=1e-9)
    np.testing.assert_allclose(state.step[:, used], fresh.step[:, :count], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(k=st.integers(2, 7), seed=st.integers(0, 10_000))
def test_exchange_makes_the_best_swap(k, seed):
    _, D, state, bucket = random_state(k, seed)
    before = worth(D, bucket)
    best = before
    for x in range(k):
        for y in range(x):
            swapped = bucket.copy()
            swapped[[x, y]] = swapped[[y, x]]
            best = max(best, worth(D, swapped))
    gain = exchange(state, D, D.sum(axis=1))
    assert before + gain == pytest.approx(best, abs=1e-8)
    assert worth(D, positions(state, k)) == pytest.approx(best, abs=1e-8)


def test_a_lone_label_does_not_move_beside_itself():
    D = np.zeros((2, 2))
    state = new_state(2, np.zeros(1, np.uint8))
    load(state, D, np.array([0, 1]), 2)
    # Only joining the other label, or passing it, changes anything.
    assert best_move(0, 0, state, D.sum(axis=1), FREE)[1] == -1
    assert best_move(0, 1, state, D.sum(axis=1), FREE)[1] == 3
    assert best_move(0, 2, state, D.sum(axis=1), FREE)[1] == 4
