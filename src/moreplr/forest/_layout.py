"""The arrays that the growing kernels share, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MISSING = np.uint8(255)
# gains closer than this are ties: the feature drawn first wins, whatever the rounding was
TIE = np.float32(1.0 + 1e-6)
# a node whose squared deviations are this small a part of its squares is constant
PURE = 1e-12

# bits that the count of a class has in a packed sum
CLASS_BITS = 21

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

    codes: Any  # uint8, flat (n, n_features)
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
    counted: bool  # whether bins count their rows


class Nodes(NamedTuple):
    """The tree that is being grown, in preorder."""

    feature: Any
    cut: Any
    missing_left: Any
    right: Any
    start: Any


class Scratch(NamedTuple):
    """What a kernel writes to on the way; `near` and what belongs to it are kept at zero."""

    order: Any  # int32 (n_features,)
    chosen: Any  # int32 (n_features,)
    spare: Any  # int32 (n,)
    total: Any  # float32 (width,)
    mean: Any  # float32 (8 * steps,)
    running: Any  # float32 (width,)
    centred: Any  # float32, flat (7, 8 * steps)
    near: Any  # float32, flat (bins, width)
    near_count: Any  # int32 (bins,)
    occupied: Any  # uint64, flat (n_features, 4)
    local: Any  # uint8 (8,)
    table: Any  # float32, flat (64, width)
    gains: Any  # float32 (128,)
    masses: Any  # float32 (128,)
    far: Any  # float32, flat (slots, bins, width): histograms of large nodes
    far_count: Any  # int32, flat (slots, bins)
    free: Any  # int32 (slots,)
