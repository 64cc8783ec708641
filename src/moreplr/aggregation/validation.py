"""Clear errors for matrices that are no probabilities and options that nothing can satisfy."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .gains import Stack

Limits = tuple[int, int, int]
_TOLERANCE = 1e-6


def as_stack(value: ArrayLike, name: str) -> tuple[NDArray[Any], bool]:
    """View a matrix or a stack of them as a stack, with a flag for a single matrix."""
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


class Origin(NamedTuple):
    """Where a block of rows comes from, for messages that name the row."""

    offset: int
    single: bool

    def refuse(self, bad: NDArray[np.bool_], message: str, *values: Stack) -> None:
        """Raise an error for the first bad pair; the message shows the values there."""
        if bad.any():
            row, i, j = np.argwhere(bad)[0]
            of_row = "" if self.single else f"row {self.offset + row}, "
            shown = message.format(*(matrix[row, i, j] for matrix in values))
            raise ValueError(f"{shown} at {of_row}pair ({i}, {j})")


# The blocks below have zeros on their diagonals.


def check_range(A: Stack, name: str, origin: Origin) -> None:
    """All values lie in [0, 1]."""
    within = (A >= -_TOLERANCE) & (A <= 1 + _TOLERANCE)
    origin.refuse(~within, f"{name} must lie in [0, 1], got {{:.6g}}", A)


def check_pair_order(C: Stack, origin: Origin) -> None:
    """C has values in [0, 1] and C_ij + C_ji = 1."""
    check_range(C, "C", origin)
    reverse = C.swapaxes(1, 2)
    message = "C[i, j] + C[j, i] must be 1, got {:.6g} + {:.6g}"
    origin.refuse(_is_not_one(C + reverse), message, C, reverse)


def check_ties(Q: Stack, name: str, origin: Origin) -> None:
    """Q has values in [0, 1] and is symmetric."""
    check_range(Q, name, origin)
    reverse = Q.swapaxes(1, 2)
    message = f"{name} must be symmetric, got {{:.6g}} and {{:.6g}}"
    origin.refuse(np.abs(Q - reverse) > _TOLERANCE, message, Q, reverse)


def check_tie_share(C: Stack, Q: Stack, origin: Origin) -> None:
    """Half of the tie probability fits into C on both sides."""
    message = "ties[i, j] / 2 must not exceed C[i, j], got ties {:.6g} and C {:.6g}"
    origin.refuse(0.5 * Q > C + _TOLERANCE, message, Q, C)


def check_three_way(P: Stack, Q: Stack, origin: Origin) -> None:
    """P and Q have values in [0, 1], Q is symmetric, and P_ij + P_ji + Q_ij = 1."""
    check_range(P, "P", origin)
    check_ties(Q, "Q", origin)
    reverse = P.swapaxes(1, 2)
    message = "P[i, j] + P[j, i] + Q[i, j] must be 1, got {:.6g} + {:.6g} + {:.6g}"
    origin.refuse(_is_not_one(P + reverse + Q), message, P, reverse, Q)


def _is_not_one(sums: Stack) -> NDArray[np.bool_]:
    return np.triu(np.abs(sums - 1) > _TOLERANCE, 1)


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
