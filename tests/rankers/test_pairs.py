"""Relations of pairs against their definitions."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moreplr.rankers._pairs import consensus, know_nothing, pair_codes, square, warn_unseen

NAN = np.nan


def rankings(n, k, seed):
    rng = np.random.default_rng(seed)
    Y = rng.integers(1, 4, (n, k)).astype(float)
    Y[rng.random((n, k)) < 0.3] = NAN
    return Y, rng


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 99))
def test_codes_are_the_relations(n, k, seed):
    Y, _ = rankings(n, k, seed)
    codes = pair_codes(Y)
    pairs = list(zip(*np.triu_indices(k, 1), strict=True))
    assert codes.shape == (n, len(pairs))
    for row, number in np.ndindex(codes.shape):
        a, b = Y[row, pairs[number][0]], Y[row, pairs[number][1]]
        expected = -1 if np.isnan(a + b) else 0 if a < b else 1 if a == b else 2
        assert codes[row, number] == expected


def test_matrices_hold_each_relation_in_its_place():
    three = np.random.default_rng(0).dirichlet([1, 1, 1], (4, 6))
    P, Q = square(three, 4)
    i, j = np.triu_indices(4, 1)
    np.testing.assert_array_equal(np.stack([P[:, i, j], Q[:, i, j], P[:, j, i]], 2), three)
    np.testing.assert_array_equal(Q, Q.swapaxes(1, 2))
    assert (P[:, range(4), range(4)] == 0).all()
    assert (Q[:, range(4), range(4)] == 1).all()


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 99), st.booleans())
def test_the_consensus_are_shares_of_the_rows_that_rank_both(n, k, seed, weighted):
    Y, rng = rankings(n, k, seed)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        P, Q = consensus(Y, weight)
    counts = np.ones(n) if weight is None else weight
    nothing = know_nothing(k)
    for i, j in np.ndindex(k, k):
        seen = ~np.isnan(Y[:, i] + Y[:, j])
        total = counts[seen].sum()
        if i == j or not total:
            assert (P[i, j], Q[i, j]) == (nothing.P[i, j], nothing.Q[i, j])
            continue
        assert P[i, j] == pytest.approx(counts[seen & (Y[:, i] < Y[:, j])].sum() / total)
        assert Q[i, j] == pytest.approx(counts[seen & (Y[:, i] == Y[:, j])].sum() / total)


def test_the_consensus_of_rows_in_two_parts_is_the_mean_of_the_parts():
    """Enough rows and labels that the kernel is called more than once."""
    Y = np.random.default_rng(0).integers(1, 9, (500, 400)).astype(float)
    whole, first, second = (consensus(part, None) for part in (Y, Y[:250], Y[250:]))
    for one, other, both in zip(first, second, whole, strict=True):
        np.testing.assert_allclose(both, (one + other) / 2, atol=1e-12)


def test_where_nothing_is_known_a_third_for_each():
    P, Q = know_nothing(3)
    np.testing.assert_allclose(P + P.T + Q, 1)
    np.testing.assert_allclose(P[~np.eye(3, dtype=bool)], 1 / 3)


def test_pairs_that_no_row_compares_are_counted_in_a_warning():
    Y = np.array([[1.0, 2.0, NAN], [2.0, 1.0, NAN]])
    with pytest.warns(UserWarning, match=r"^2 of 3 pairs of labels are never ranked together"):
        consensus(Y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unseen(0, 3)
