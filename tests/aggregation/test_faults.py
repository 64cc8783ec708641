"""The kernels that look for faults against their definitions: the first fault, row by row."""

from itertools import product

import numpy as np
import pytest

from moreplr.aggregation._faults import range_fault, share_fault, sum_fault, symmetry_fault

NONE = (False, 0, 0, 0)
# What counts as equal differs by a millionth at most.
WITHIN, BEYOND = 0.9e-6, 1.1e-6


def first(shape, faulty):
    """The first row and pair of different labels for which `faulty` holds."""
    n, k, _ = shape
    for row, i, j in product(range(n), range(k), range(k)):
        if i != j and faulty(row, i, j):
            return True, row, i, j
    return NONE


def faults(kernel, A, Q):
    """What a kernel should find: each of the four by its definition."""
    ties = Q if len(Q) else np.zeros_like(A)
    return {
        range_fault: lambda r, i, j: not -1e-6 <= A[r, i, j] <= 1 + 1e-6,
        sum_fault: lambda r, i, j: (
            i < j and abs(A[r, i, j] + A[r, j, i] + ties[r, i, j] - 1) > 1e-6
        ),
        symmetry_fault: lambda r, i, j: abs(Q[r, i, j] - Q[r, j, i]) > 1e-6,
        share_fault: lambda r, i, j: Q[r, i, j] / 2 > A[r, i, j] + 1e-6,
    }[kernel]


def call(kernel, A, Q):
    return kernel(*{range_fault: (A,), symmetry_fault: (Q,)}.get(kernel, (A, Q)))


@pytest.fixture
def good(twin):
    """Pair order matrices and ties; P and ties."""
    P, Q = twin.three_way(4, 4, np.random.default_rng(0))
    return P, P + Q / 2, Q


@pytest.mark.parametrize("kernel", [range_fault, sum_fault, symmetry_fault, share_fault])
def test_what_is_right_has_no_fault_whatever_its_diagonal(kernel, good):
    P, C, Q = (part.copy() for part in good)
    for part in (P, C, Q):
        part[:, range(4), range(4)] = 7.0
    assert call(kernel, P if kernel is sum_fault else C, Q) == NONE


@pytest.mark.parametrize("kernel", [range_fault, sum_fault, symmetry_fault, share_fault])
def test_the_first_fault_is_found_wherever_it_is(kernel, good):
    rng = np.random.default_rng(1)
    for row, i, j in product(range(4), range(4), range(4)):
        for change in (-3.0, -0.4, 0.4, 3.0):
            P, C, Q = (part.copy() for part in good)
            A = P if kernel is sum_fault else C
            part = Q if kernel is symmetry_fault or rng.random() < 0.5 else A
            part[row, i, j] += change
            part[-1, 2, 1] += change  # a later one, mostly
            assert call(kernel, A, Q) == first(A.shape, faults(kernel, A, Q))


def test_sums_without_ties(good):
    _, C, Q = good
    assert sum_fault(C, Q[:0]) == NONE
    C[2, 3, 1] += 0.1
    assert sum_fault(C, Q[:0]) == (True, 2, 1, 3)


def test_nan_is_not_in_range(good):
    C = good[1].copy()
    C[1, 0, 2] = np.nan
    assert range_fault(C) == (True, 1, 0, 2)


@pytest.mark.parametrize(("by", "found"), [(WITHIN, False), (BEYOND, True)])
def test_a_millionth_is_rounding(by, found):
    half, third = np.full((1, 2, 2), 0.5), np.full((1, 2, 2), 1 / 3)

    def changed(A, value):
        A = A.copy()
        A[0, 0, 1] = value
        return A

    assert range_fault(changed(half, 1 + by))[0] == found
    assert range_fault(changed(half, -by))[0] == found
    for sign in (-1, 1):
        assert sum_fault(changed(half, 0.5 + sign * by), half[:0])[0] == found
        assert sum_fault(third, changed(third, 1 / 3 + sign * by))[0] == found
        assert symmetry_fault(changed(third, 1 / 3 + sign * by))[0] == found
    assert share_fault(half, changed(half, 1 + 2 * by))[0] == found
