"""Clear errors for matrices that are no probabilities and options that nothing can satisfy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _faults
from .gains import Stack

Limits = tuple[int, int, int]


def as_stack(value: ArrayLike, name: str) -> tuple[NDArray[Any], bool]:
    """View a matrix or a stack of them as a stack; tell whether it was a single matrix."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        raise ValueError(f"{name} must have shape (k, k) or (n, k, k), got shape {array.shape}")
    if array.shape[-1] == 0:
        raise ValueError(f"{name} must have at least one label, got shape {array.shape}")
    return (array[None], True) if array.ndim == 2 else (array, False)


def check_same_shape(first: ArrayLike, second: ArrayLike, names: str) -> None:
    """Both matrices or stacks have the same shape."""
    if np.shape(first) != np.shape(second):
        raise ValueError(
            f"{names} must have the same shape, got {np.shape(first)} and {np.shape(second)}"
        )


@dataclass(frozen=True)
class Origin:
    """Where a block of rows comes from, for messages that name the row."""

    offset: int
    single: bool

    def pair(self, row: int, i: int, j: int) -> str:
        pair = f"pair ({i}, {j})"
        return pair if self.single else f"row {self.offset + row}, {pair}"


def check_range(A: Stack, name: str, origin: Origin) -> None:
    """All values lie in [0, 1]."""
    found, row, i, j = _faults.range_fault(A)
    if found:
        raise ValueError(
            f"{name} must lie in [0, 1], got {A[row, i, j]:.6g} at {origin.pair(row, i, j)}"
        )


def check_pair_order(C: Stack, origin: Origin) -> None:
    """C has values in [0, 1] and C_ij + C_ji = 1."""
    check_range(C, "C", origin)
    found, row, i, j = _faults.sum_fault(C, C[:0])
    if found:
        raise ValueError(
            f"C[i, j] + C[j, i] must be 1, got {C[row, i, j]:.6g} + {C[row, j, i]:.6g} "
            f"at {origin.pair(row, i, j)}"
        )


def check_ties(Q: Stack, name: str, origin: Origin) -> None:
    """Q has values in [0, 1] and is symmetric."""
    check_range(Q, name, origin)
    found, row, i, j = _faults.symmetry_fault(Q)
    if found:
        raise ValueError(
            f"{name} must be symmetric, got {Q[row, i, j]:.6g} and {Q[row, j, i]:.6g} "
            f"at {origin.pair(row, i, j)}"
        )


def check_tie_share(C: Stack, Q: Stack, origin: Origin) -> None:
    """Half of the tie probability fits into C on both sides."""
    found, row, i, j = _faults.share_fault(C, Q)
    if found:
        raise ValueError(
            f"ties[i, j] / 2 must not exceed C[i, j], got ties {Q[row, i, j]:.6g} "
            f"and C {C[row, i, j]:.6g} at {origin.pair(row, i, j)}"
        )


def check_three_way(P: Stack, Q: Stack, origin: Origin) -> None:
    """P and Q have values in [0, 1], Q is symmetric, and P_ij + P_ji + Q_ij = 1."""
    check_range(P, "P", origin)
    check_ties(Q, "Q", origin)
    found, row, i, j = _faults.sum_fault(P, Q)
    if found:
        raise ValueError(
            f"P[i, j] + P[j, i] + Q[i, j] must be 1, got {P[row, i, j]:.6g} + "
            f"{P[row, j, i]:.6g} + {Q[row, i, j]:.6g} at {origin.pair(row, i, j)}"
        )


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """The value is one of the named choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def check_number(value: Any, name: str, low: float, high: float) -> None:
    """The value is a number from low to high."""
    known = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (known and low <= value <= high):
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")


def _check_count(value: Any, name: str, k: int) -> int:
    known = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (known and 1 <= value <= k):
        raise ValueError(f"{name} must be an integer from 1 to {k}, the labels; got {value!r}")
    return int(value)


def bucket_limits(k: int, n_buckets: int | None, top: int | None, total_order: bool) -> Limits:
    """Turn the options into (number of buckets, size of the last one, largest other size).

    The first two are 0 when they are free.
    """
    resolved = k if top is None else _check_count(top, "top", k)
    rest = k - resolved
    max_size = 1 if total_order else k
    if n_buckets is None:
        return 0, rest, max_size
    count = _check_count(n_buckets, "n_buckets", k)
    most = resolved + (rest > 0)
    least = most if total_order else 1 + (rest > 0)
    if not least <= count <= most:
        raise ValueError(
            f"n_buckets={count} cannot be met with top={top} and total_order={total_order} "
            f"for {k} labels: these allow {least} to {most} buckets"
        )
    return count, rest, max_size
