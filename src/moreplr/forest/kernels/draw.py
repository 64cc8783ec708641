"""Draw the features that a split considers, and note those that are constant in a subtree."""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined
from moreplr.forest.kernels.llvm import peek, poke
from moreplr.forest.kernels.random import below

_ONE, _LOW6 = np.uint64(1), np.uint64(63)


@inlined
def draw(order, n_features, rng, j):
    """The j-th feature of a random order, of which only the first j + 1 places are drawn."""
    i = j + below(rng, n_features - j)
    f = peek(order, i)
    poke(order, i, peek(order, j))
    poke(order, j, f)
    return np.int64(f)


@inlined
def is_constant(constant, feature):
    """Whether the feature was found to be constant in the node or an ancestor."""
    return (peek(constant, feature >> 6) >> (np.uint64(feature) & _LOW6)) & _ONE != 0


@inlined
def set_constant(constant, feature):
    """Note that the feature is constant in the node."""
    bit = _ONE << (np.uint64(feature) & _LOW6)
    poke(constant, feature >> 6, peek(constant, feature >> 6) | bit)


@inlined
def choose(order, n_features, chosen, rng, constant, drawn, goal):
    """Choose features that are not known to be constant, and return how many.

    Parameters
    ----------
    order : int32 pointer, the features, the drawn ones first
    n_features : int
    chosen : int32 pointer, to which the chosen features are written
    rng, constant : see `layout`
    drawn, goal : int, how many features are drawn before and afterwards
    """
    n_chosen = 0
    for j in range(drawn, goal):
        f = draw(order, n_features, rng, j)
        if not is_constant(constant, f):
            poke(chosen, n_chosen, np.int32(f))
            n_chosen += 1
    return n_chosen
