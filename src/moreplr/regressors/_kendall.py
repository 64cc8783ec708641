"""Kendall's τ_b between one column and many, which share one sort."""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr._types import Array


def numbered(columns: Array) -> np.ndarray:
    """The values of each column by their number in ascending order from 1, 0 for NaN.

    A column becomes a row, so that its numbers lie side by side.

    Examples
    --------
    >>> numbered(np.array([[0.5], [np.nan], [-2.0], [0.5]]))
    array([[2, 0, 1, 2]])
    """
    out = np.zeros(columns.shape[::-1], np.int64)
    for y, numbers in zip(columns.T, out, strict=True):
        seen = ~np.isnan(y)
        numbers[seen] = np.unique(y[seen], return_inverse=True)[1] + 1
    return out


def squared_kendall(x: Array, numbers: np.ndarray) -> Array:
    """The squared τ_b of x with each of the `numbered` columns, over the rows that have both.

    It is NaN if either is constant. Takes O(n log n) for each column (Knight, 1966).

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, np.nan])
    >>> columns = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, np.nan], [1.0, 2.0]])
    >>> squared_kendall(x, numbered(columns))
    array([ 1., nan])
    """
    order = np.argsort(x)[: np.sum(~np.isnan(x))]
    sizes = np.unique(x[order], return_counts=True)[1]
    return np.array([_squared(order, sizes, column) for column in numbers])


@jit
def _squared(order, sizes, y):
    """For rows in the order of x, in groups of equal x that have these sizes."""
    n_values = y.max() if len(y) else 0
    below = np.zeros(n_values + 1, np.int64)  # a Fenwick tree of the rows before
    count = np.zeros(n_values + 1, np.int64)
    here = np.zeros(n_values + 1, np.int64)
    n, discordant, tied_x, tied_both, at = 0, 0, 0, 0, 0
    for size in sizes:
        members = 0
        for i in range(at, at + size):
            value = y[order[i]]
            if value > 0:
                discordant += n - up_to(below, value)
                tied_both += here[value]
                here[value] += 1
                members += 1
        for i in range(at, at + size):
            value = y[order[i]]
            if value > 0:
                here[value] = 0
                count[value] += 1
                insert(below, value)
        tied_x += members * (members - 1) // 2
        n += members
        at += size
    tied_y = np.sum(count * (count - 1)) // 2
    pairs = n * (n - 1) // 2
    if pairs in (tied_x, tied_y):  # no pairs, or constant
        return np.nan
    tau = pairs - tied_x - tied_y + tied_both - 2 * discordant
    tau = tau / np.sqrt(pairs - tied_x) / np.sqrt(pairs - tied_y)
    return min(1.0, tau * tau)


@inlined
def up_to(tree, value):
    """How many of the inserted values are at most this one."""
    total = 0
    while value > 0:
        total += tree[value]
        value -= value & -value
    return total


@inlined
def insert(tree, value):
    """Count a value."""
    while value < len(tree):
        tree[value] += 1
        value += value & -value
