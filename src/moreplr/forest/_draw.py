"""Draw the features that a split looks at, and remember those that are constant in a subtree."""

from __future__ import annotations

import numpy as np

from moreplr.forest._jit import inlined
from moreplr.forest._random import below

_ONE, _LOW6 = np.uint64(1), np.uint64(63)


@inlined
def draw(order, rng, j):
    """The j-th feature of a random order that is drawn as far as it is needed."""
    i = j + below(rng, len(order) - j)
    order[i], order[j] = order[j], order[i]
    return np.int64(order[j])


@inlined
def is_constant(constant, top, feature):
    """Whether an ancestor of the pending node `top`, or itself, found the feature constant."""
    return (constant[top, feature >> 6] >> (np.uint64(feature) & _LOW6)) & _ONE != 0


@inlined
def set_constant(constant, top, feature):
    """Remember it."""
    constant[top, feature >> 6] |= _ONE << (np.uint64(feature) & _LOW6)


@inlined
def choose(order, chosen, rng, constant, top, drawn, goal):
    """Draw up to `goal` features; gives how many of them are not known to be constant."""
    n_chosen = 0
    for j in range(drawn, goal):
        f = draw(order, rng, j)
        if not is_constant(constant, top, f):
            chosen[n_chosen] = f
            n_chosen += 1
    return n_chosen
