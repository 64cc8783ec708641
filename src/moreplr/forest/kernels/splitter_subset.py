"""Split nodes of at most seven rows by a table with the gain of each subset of them.

The left side of a split is a subset, and so few rows have few subsets. Each feature then costs a
comparison and a look-up per row, whatever the number of targets.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import vectors
from moreplr.forest.kernels.draw import draw, is_constant, set_constant
from moreplr.forest.kernels.layout import MISSING, TIE
from moreplr.forest.kernels.llvm import not_above, peek, poke

MOST = 7


@inlined
def tabulate(rows, scratch, m, whole, min_leaf):
    """Compute `gains` for every subset of the node's centred rows; return the set of all rows."""
    steps = rows.steps
    lanes = 8 * steps
    width = 2 * lanes if rows.masked else lanes
    half = 1 << (m - 1)
    full = 2 * half - 1
    poke(scratch.left, 0, np.float32(0.0))
    vectors.fill(scratch.table, 0, np.float32(0.0), width // 8)
    for i in range(m - 1):
        w = peek(scratch.masses, i)
        for before in range(1 << i):
            mask = before + (1 << i)
            vectors.add_into(
                scratch.table, mask * width, scratch.table, before * width,
                scratch.centred, i * width, width // 8,
            )  # fmt: skip
            if rows.masked:
                gain = vectors.gain(
                    scratch.table, mask * width, scratch.table, mask * width + lanes, steps
                )
            else:
                mass = peek(scratch.left, before) + w
                poke(scratch.left, mask, mass)
                gain = vectors.squares(scratch.table, mask * width, steps)
                gain *= whole / (mass * (whole - mass))
            poke(scratch.gains, mask, gain)
            poke(scratch.gains, full - mask, gain)
    poke(scratch.gains, full, np.float32(-1.0))
    if min_leaf > 1:
        for mask in range(1, full):
            count = 0
            for i in range(m):
                count += (mask >> i) & 1
            if count < min_leaf or m - count < min_leaf:
                poke(scratch.gains, mask, np.float32(-1.0))
    return full


@inlined
def look_up(rows, scratch, m, f, full):
    """The best split of feature f: gain, a row of the last bin on the left, side, constant or not.

    `full` is the set of all rows, as a bit mask.
    """
    lacking = 0
    for i in range(m):
        code = peek(rows.cells, peek(scratch.offsets, i) + f)
        poke(scratch.local, i, code)
        lacking |= (code == MISSING) << i
    best, best_row, best_side = np.float32(-1.0), 0, 0
    constant = True
    for i in range(m):
        mask = not_above(scratch.local, 0, peek(scratch.local, i)) & full
        constant &= mask == full
        gain = peek(scratch.gains, mask)
        if gain > best * TIE:
            best, best_row, best_side = gain, i, 0
        if lacking and not (lacking >> i) & 1:
            gain = peek(scratch.gains, mask | lacking)
            if gain > best * TIE:
                best, best_row, best_side = gain, i, 1
    return best, best_row, best_side, constant


@inlined
def neighbours(scratch, m, row):
    """The bin of a row, and the next occupied one, or 255."""
    bound = peek(scratch.local, row)
    after = MISSING
    for i in range(m):
        code = peek(scratch.local, i)
        if bound < code < after:
            after = code
    return np.int64(bound), np.int64(after)


@jit
def split(rows, scratch, m, whole, min_leaf, max_features, rng, constant):
    """The best split: gain or -1, feature, last, following, side; arguments as in `layout`."""
    full = tabulate(rows, scratch, m, whole, min_leaf)
    best, best_feature, best_bin, best_next, best_side = np.float32(-1.0), 0, 0, 0, 0
    found = False
    for j in range(rows.n_features):
        # two rows have one split, so the first feature in which they differ is enough
        if found and (j >= max_features or m == 2):
            break
        f = draw(scratch.order, rows.n_features, rng, j)
        if is_constant(constant, f):
            continue
        gain, row, side, same = look_up(rows, scratch, m, f, full)
        if same:
            set_constant(constant, f)
            continue
        found = True
        if gain > best * TIE:
            best, best_feature, best_side = gain, f, side
            best_bin, best_next = neighbours(scratch, m, row)
    return best, best_feature, best_bin, best_next, best_side
