"""Kernels that find the first pair of a stack that cannot be a set of probabilities.

Each returns (found, row, i, j). Diagonals are not looked at.
"""

from moreplr._jit import jit

TOLERANCE = 1e-6


@jit
def range_fault(A):
    """First value that is not a number from 0 to 1."""
    for row in range(A.shape[0]):
        for i in range(A.shape[1]):
            for j in range(A.shape[1]):
                value = A[row, i, j]
                if i != j and not -TOLERANCE <= value <= 1.0 + TOLERANCE:
                    return True, row, i, j
    return False, 0, 0, 0


@jit
def sum_fault(A, Q):
    """First pair with A_ij + A_ji + Q_ij other than 1; an empty Q stands for zeros."""
    with_ties = Q.shape[0] > 0
    for row in range(A.shape[0]):
        for i in range(A.shape[1]):
            for j in range(i + 1, A.shape[1]):
                total = A[row, i, j] + A[row, j, i]
                if with_ties:
                    total += Q[row, i, j]
                if abs(total - 1.0) > TOLERANCE:
                    return True, row, i, j
    return False, 0, 0, 0


@jit
def symmetry_fault(Q):
    """First pair with Q_ij other than Q_ji."""
    for row in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            for j in range(i + 1, Q.shape[1]):
                if abs(Q[row, i, j] - Q[row, j, i]) > TOLERANCE:
                    return True, row, i, j
    return False, 0, 0, 0


@jit
def share_fault(C, Q):
    """First pair with half the probability of a tie above C_ij."""
    for row in range(C.shape[0]):
        for i in range(C.shape[1]):
            for j in range(C.shape[1]):
                if i != j and 0.5 * Q[row, i, j] > C[row, i, j] + TOLERANCE:
                    return True, row, i, j
    return False, 0, 0, 0
