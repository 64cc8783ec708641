"""The arrays that the growing kernels share, by name.

Arguments of these names mean the same in all kernels that grow trees:

rows, tree, nodes, scratch
    The rows of a tree, its nodes, and arrays to write to: see the classes of each module.
perm, lo, hi, middle
    The rows of a node are `perm[lo:hi]`. A split puts the left ones before `middle`.
m, whole, total
    The number of rows of a node, their weight, and the sum of their targets.
limits, min_leaf, max_features
    The array of limits, the fewest rows of a leaf, and the number of features of a split.
seed, node, rng
    The tree's seed, the node's number, and a pointer to the generator's state.
chosen, n_chosen
    The features that a split considers, and how many they are.
constant
    The bit set of the features that are constant in a node.
feature (or f), cut, last, following, side
    A split's feature, its cut, the last occupied bin on the left, the first occupied bin on the
    right, and 1 if NaN goes left.
known
    A gain that a cut must exceed.
slot, free
    The number of a set of histograms, and the stack of free slots.
stack, state
    The pending nodes, and the counters of a tree (`TOP`, `N_NODES`, …).
large
    Nodes with at least this many rows have histograms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MISSING = np.uint8(255)
"""The code of NaN. It is above every bin, so that NaN goes right unless a split says otherwise."""
# gains whose ratio is below this are ties: the feature drawn first wins, despite rounding
TIE = np.float32(1.0 + 1e-6)
# a node is constant if its squared deviations are at most this share of its squares
PURE = 1e-12

# the most rows of a node without histograms
MOST_ROWS = 128

# bits that the count of a class has in a packed sum
CLASS_BITS = 21

# the distance between the bins of two features in a histogram of packed sums: a constant, which
# needs no register, and no power of 2, for which caches are slower
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

    The record of a row holds its weighted targets. Without missing targets, the next lane holds
    the row's weight times `unit`, which is too small to matter in a sum of squares. With missing
    targets, the weights of all targets follow.
    """

    cells: Any  # uint8, flat (n, n_features): the bins of a row
    records: Any  # float32, flat (n, width)
    weight: Any  # float32 (n,)
    squares: Any  # float32 (n,): the row's part of the sum of squares
    bins: Any  # int64 (n_features + 1,): where a feature's bins begin in a histogram
    n_features: int
    n_targets: int
    steps: int  # the number of vectors of eight lanes for the targets
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
    """Arrays that kernels write to; their contents matter only during the split of a node."""

    order: Any  # int32 (n_features,)
    chosen: Any  # int32 (n_features,)
    spare: Any  # int32 (n,)
    total: Any  # float32 (width,)
    mean: Any  # float32 (8 * steps,)
    inverse: Any  # float32 (8 * steps,): one over the masses, or 0
    root: Any  # float32 (8 * steps,): the square root of `inverse`
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
