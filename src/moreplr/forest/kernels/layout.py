"""The arrays that the growing kernels share, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MISSING = np.uint8(255)
"""The code of NaN: above every bin, so that a split without a rule for it sends it right."""
# gains closer than this are ties: the feature drawn first wins, whatever the rounding was
TIE = np.float32(1.0 + 1e-6)
# a node whose squared deviations are this small a part of its squares is constant
PURE = 1e-12

# the most rows of a node without histograms
MOST_ROWS = 128

# bits that the count of a class has in a packed sum
CLASS_BITS = 21

# from a feature's bins to the next one's in a histogram of packed sums: known to the compiler,
# which then needs no register for it, and no power of 2, as caches dislike them
ROOM = 264

# columns of the stack of pending nodes
START, END, DEPTH, PARENT, IS_RIGHT, SLOT = 0, 1, 2, 3, 4, 5
N_COLUMNS = 6
# cells of `state`
TOP, N_NODES, N_LEAVES, N_FREE = 0, 1, 2, 3
# cells of `limits`
MAX_DEPTH, MIN_SPLIT, MIN_LEAF, MAX_FEATURES = 0, 1, 2, 3


class Rows(NamedTuple):
    """The in-bag rows of a tree, numbered from 0.

    A row's record is its weighted targets. Without missing targets, the lane after them holds
    the row's weight, made so small by `unit` that it does not matter in a sum of squares; with
    missing targets, the weights of all targets follow.
    """

    cells: Any  # uint8, flat (n, n_features): the bins of a row
    records: Any  # float32, flat (n, width)
    weight: Any  # float32 (n,)
    squares: Any  # float32 (n,): the row's part in the sum of squares
    bins: Any  # int64 (n_features + 1,): where a feature's bins begin in a histogram
    n_features: int
    n_targets: int
    steps: int  # vectors of eight that the targets fill
    unit: np.float32
    per_unit: np.float32
    masked: bool


class Nodes(NamedTuple):
    """The tree that is being grown, in preorder."""

    feature: Any
    cut: Any
    missing_left: Any
    right: Any
    start: Any


class Scratch(NamedTuple):
    """What a kernel writes to on the way."""

    order: Any  # int32 (n_features,)
    chosen: Any  # int32 (n_features,)
    spare: Any  # int32 (n,)
    total: Any  # float32 (width,)
    mean: Any  # float32 (8 * steps,)
    inverse: Any  # float32 (8 * steps,): one over the masses, or 0
    root: Any  # float32 (8 * steps,): its square root
    running: Any  # float32 (width,)
    centred: Any  # float32, flat (MOST_ROWS, width)
    offsets: Any  # int64 (MOST_ROWS,): where the cells of a node's rows begin
    local: Any  # uint8 (MOST_ROWS,)
    sorted: Any  # uint8, flat (2, 256)
    ends: Any  # uint8, flat (2, 256)
    left: Any  # float32 (256,)
    count: Any  # int32 (256,)
    gains: Any  # float32 (256,)
    masses: Any  # float32 (MOST_ROWS,)
    table: Any  # float32, flat (64, width)
    far: Any  # float32, flat (slots, bins, width): histograms of large nodes
    far_count: Any  # int32, flat (slots, bins)
    free: Any  # int32 (slots,)
