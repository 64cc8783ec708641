"""Arithmetic on slices of float32 memory, whose lengths are `steps` times eight.

Multiples of eight let the compiler use whole registers; lanes beyond the targets are zero. In
docstrings, a[i:] is the slice of pointer `a` that begins at index `i`, with 8 * `steps` numbers.
"""

from __future__ import annotations

import math

import numpy as np

from moreplr._jit import inlined, reassociated
from moreplr.forest.kernels.llvm import (
    LANES,
    LEAST,
    add,
    add_into,
    away,
    peek,
    poke,
    squares,
)

__all__ = [
    "add",
    "add_into",
    "away",
    "centre",
    "fill",
    "gain",
    "means",
    "scaled",
    "spread",
    "squares",
    "subtract",
]

_LEAST = np.float32(LEAST)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@inlined
def subtract(a, i, b, j, steps):
    """a[i:] -= b[j:]"""
    for t in range(LANES * steps):
        poke(a, i + t, peek(a, i + t) - peek(b, j + t))


@inlined
def fill(a, i, value, steps):
    """a[i:] = value"""
    for t in range(LANES * steps):
        poke(a, i + t, value)


@inlined
def scaled(a, i, b, j, factor, steps):
    """a[i:] = factor * b[j:]"""
    for t in range(LANES * steps):
        poke(a, i + t, factor * peek(b, j + t))


@reassociated
def gain(a, i, share, j, steps):
    """The sum of a[i:]² / (share[j:] (1 - share[j:])).

    A side without mass adds 0: apart from rounding, it has no deviations.
    """
    total = _ZERO
    for t in range(LANES * steps):
        deviation, part = peek(a, i + t), peek(share, j + t)
        total += deviation * deviation / max(part - part * part, _LEAST)
    return total


@reassociated
def spread(a, i, mass, j, steps):
    """The sum of a[i:]² / mass[j:], where there is mass."""
    total = _ZERO
    for t in range(LANES * steps):
        deviation, here = peek(a, i + t), peek(mass, j + t)
        total += deviation * deviation / here if here > _ZERO else _ZERO
    return total


@inlined
def means(mean, inverse, root, sums, mass, m, steps):
    """inverse = 1 / mass[m:] or 0, root = √inverse, mean = inverse * sums"""
    for t in range(LANES * steps):
        here = peek(mass, m + t)
        one_over = _ONE / here if here > _ZERO else _ZERO
        poke(mean, t, one_over * peek(sums, t))
        poke(inverse, t, one_over)
        poke(root, t, np.float32(math.sqrt(one_over)))


@inlined
def centre(a, i, share, j, place, k, mass, m, mean, inverse, root, steps):
    """a[i:] = (place[k:] - mass[m:] * mean) * root and share[j:] = mass[m:] * inverse

    `mean`, `inverse` and `root` are the results of `means`.
    """
    for t in range(LANES * steps):
        here = peek(mass, m + t)
        poke(a, i + t, (peek(place, k + t) - here * peek(mean, t)) * peek(root, t))
        poke(share, j + t, here * peek(inverse, t))
