"""A small random generator with its state in an array; each tree has a stream of its own."""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels.llvm import peek, pointer, poke

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@inlined
def below(state, bound):
    """A random integer in [0, bound) by splitmix64; `state` points to a uint64 and is updated."""
    z = peek(state, 0) + _STEP
    poke(state, 0, z)
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    z ^= z >> _S31
    # multiply and shift instead of modulo; the bias is below bound / 2**32
    return np.int64(((z >> _S32) * np.uint64(bound)) >> _S32)


@jit
def draw_counts(state, n, draws, counts):
    """Count how often each of n rows is drawn in `draws` draws with replacement."""
    place = pointer(state)
    for i in range(n):
        counts[i] = 0
    for _ in range(draws):
        counts[below(place, n)] += 1


@inlined
def stream(seed, key, state):
    """Set `state` to the start of the seed's stream for `key`."""
    z = (seed ^ (np.uint64(key) + _STEP)) * _MIX1
    poke(state, 0, z ^ (z >> _S30))
