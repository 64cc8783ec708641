"""Check that the arrays of a fitted forest fit together, before kernels use them.

Kernels do not check bounds. Arrays made by `fit` are valid by construction. Arrays from
elsewhere, such as a file, are checked here once, in time linear in the number of nodes.
Afterwards no row can make a kernel read or write outside its arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr._types import AnyArray
from moreplr.forest.batching import Words
from moreplr.forest.binning import Binner
from moreplr.forest.kernels.grow_packed import LEAF
from moreplr.forest.kernels.layout import MISSING
from moreplr.forest.trees import Trees

# Nodes that are checked at a time, or one tree: a check needs about a dozen words per node.
_AT_ONCE = 1 << 18
Offsets = NDArray[np.int64]
_DISTANCE, _FEATURE = np.uint64(0xFFFFFFFF), np.uint64(0x3FFFFF)  # parts of a word


def check_offsets(name: str, offsets: Offsets, parts: int, total: int, least: int = 0) -> None:
    """Refuse offsets that do not cut `total` items into `parts` parts of at least `least` items.

    Examples
    --------
    >>> check_offsets("offsets", np.array([0, 2, 5]), parts=2, total=5)
    """
    sound = len(offsets) == parts + 1 and offsets[0] == 0 and offsets[-1] == total
    # Within these bounds no difference can overflow.
    sound = sound and offsets.min() >= 0 and offsets.max() <= total
    if not sound or (np.diff(offsets) < least).any():
        raise ValueError(f"{name} must cut {total} into {parts} parts")


def blocks(offsets: Offsets, most: int = _AT_ONCE) -> Iterator[tuple[slice, slice, AnyArray]]:
    """Cut trees into blocks of few nodes: slices of trees and nodes, and the offsets within.

    Examples
    --------
    >>> [trees for trees, _, _ in blocks(np.array([0, 3, 5, 9]), most=6)]
    [slice(0, 2, None), slice(2, 3, None)]
    """
    first, n_trees = 0, len(offsets) - 1
    while first < n_trees:
        begin = offsets[first]
        end = max(first + 1, int(np.searchsorted(offsets, begin + most, side="right")) - 1)
        yield slice(first, end), slice(begin, offsets[end]), offsets[first : end + 1] - begin
        first = end


def right_children(leaf: NDArray[np.bool_], offsets: Offsets) -> Offsets:
    """The right children of all inner nodes of trees in preorder, which the leaves determine.

    Before a node, count the right children that are still to come. The right child of a node is
    the next one with the same count.

    Parameters
    ----------
    leaf : for each node, whether it is a leaf
    offsets : where the nodes of each tree begin, and their number

    Examples
    --------
    >>> right_children(np.array([False, False, True, True, True]), np.array([0, 5]))
    array([4, 3])
    """
    after = np.cumsum(np.where(leaf, -1, 1))
    pending = np.concatenate([[0], after[:-1]])
    pending += np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ends = after[offsets[1:] - 1] + np.arange(len(offsets) - 1)
    if (pending < 0).any() or (ends != -1).any():
        raise ValueError("the nodes of a tree are not in preorder")
    # Radix sort takes 16 bits at most, and few trees are deeper.
    small = pending.astype(np.int16) if pending.max() < 2**15 else pending
    order = np.argsort(small, kind="stable")
    following = np.empty(len(order), np.int64)
    following[order[:-1]], following[order[-1]] = order[1:], 0
    return following[~leaf]


def check_trees(trees: Trees, n_features: int, n_rows: int) -> None:
    """Refuse arrays that do not fit together, or do not fit this many features and rows."""
    n_trees, n_nodes = len(trees.offsets) - 1, len(trees.right)
    if n_trees < 1:
        raise ValueError("a forest needs a tree")
    check_offsets("offsets", trees.offsets, n_trees, n_nodes, least=1)
    check_offsets("leaf_offsets", trees.leaf_offsets, n_trees, len(trees.values), least=1)
    check_offsets("perm_offsets", trees.perm_offsets, n_trees, len(trees.perm))
    for name in ("feature", "cut", "missing_left", "start"):
        if len(getattr(trees, name)) != n_nodes:
            raise ValueError(f"{name} must have a value for each of {n_nodes} nodes")
    if len(trees.perm_count) != len(trees.perm):
        raise ValueError("perm_count must have a value for each row of perm")
    if trees.importance.shape != (n_trees, n_features):
        raise ValueError(f"importance must have shape {(n_trees, n_features)}")
    for some, nodes, offsets in blocks(trees.offsets):
        _check_nodes(trees, some, nodes, offsets, n_features)
        _check_starts(trees, some, nodes, offsets)
    if len(trees.perm) and not 0 <= trees.perm.min() <= trees.perm.max() < n_rows:
        raise ValueError(f"perm refers to a row beyond the {n_rows} training rows")


def _check_nodes(
    trees: Trees, some: slice, nodes: slice, offsets: Offsets, n_features: int
) -> None:
    right = trees.right[nodes].astype(np.int64)
    leaf = right < 0
    first = np.repeat(offsets[:-1], np.diff(offsets))
    if (right_children(leaf, offsets) != (first + right)[~leaf]).any():
        raise ValueError("right must hold the right children of nodes in preorder")
    if (trees.feature[nodes][~leaf] >= n_features).any():
        raise ValueError(f"a node splits on a feature beyond the {n_features} in use")
    n_leaves = np.diff(trees.leaf_offsets[some.start : some.stop + 1])
    if (-1 - right >= np.repeat(n_leaves, np.diff(offsets)))[leaf].any():
        raise ValueError("a leaf refers to a value beyond those of its tree")


def _check_starts(trees: Trees, some: slice, nodes: slice, offsets: Offsets) -> None:
    """Check that starts never decrease, so that a node's rows are a part of its parent's."""
    start = trees.start[nodes]
    n_rows = np.diff(trees.perm_offsets[some.start : some.stop + 1])
    goes_back = np.diff(start.astype(np.int64)) < 0
    goes_back[offsets[1:-1] - 1] = False
    beyond = start > np.repeat(n_rows, np.diff(offsets))
    if goes_back.any() or start[offsets[:-1]].any() or beyond.any():
        raise ValueError("start must never go back within a tree, nor beyond its rows")


def check_words(words: Words, n_features: int, n_trees: int, **kind: int) -> None:
    """Refuse the words of a batch if they do not fit together.

    `kind` has `n_forests` and `n_classes`.
    """
    n_forests, n_classes = kind["n_forests"], kind["n_classes"]
    check_offsets("offsets", words.offsets, n_trees * n_forests, len(words.words), least=1)
    check_offsets("value_offsets", words.value_offsets, n_trees * n_forests, len(words.values))
    if n_classes not in (0, 2, 3) or words.values.shape[1] != max(n_classes, 1):
        raise ValueError(
            f"leaves have {words.values.shape[1]} values, which does not fit {n_classes} classes"
        )
    n_values = np.diff(words.value_offsets) + n_classes
    for some, nodes, own in blocks(words.offsets):
        _check_some(words.words[nodes], own, n_features, n_values[some])


def _check_some(words: AnyArray, offsets: Offsets, n_features: int, n_values: AnyArray) -> None:
    leaf = words >= LEAF
    inner = words[~leaf]
    distance = (inner & _DISTANCE).astype(np.int64)
    if (right_children(leaf, offsets) != np.flatnonzero(~leaf) + distance).any():
        raise ValueError("words must hold the right children of nodes in preorder")
    feature = (inner >> np.uint64(32)) & _FEATURE
    if (feature >= np.uint64(n_features)).any():
        raise ValueError(f"a node splits on a feature beyond the {n_features} in use")
    payload = words[leaf] & ~LEAF
    known = np.repeat(n_values, np.diff(offsets))[leaf].astype(np.uint64)
    if (payload >= known).any():
        raise ValueError("a leaf refers to a value beyond those of its tree")


def check_binner(binner: Binner, n_features: int) -> None:
    """Refuse cuts that do not fit this many features."""
    check_offsets("offsets_", binner.offsets_, n_features, len(binner.cuts_))
    if (np.diff(binner.offsets_) >= MISSING).any():
        raise ValueError(f"a feature has more than {MISSING} bins")
    between = np.ones(len(binner.cuts_), bool)
    between[binner.offsets_[:-1][binner.offsets_[:-1] < len(binner.cuts_)]] = False
    rising = np.diff(binner.cuts_, prepend=-np.inf) > 0
    if np.isnan(binner.cuts_).any() or not rising[between].all():
        raise ValueError("the cuts of a feature must rise")


def check_forest(forest: Any) -> None:
    """Refuse a fitted `ForestRegressor` or `ForestClassifier` that kernels can't trust."""
    n_rows, n_features = forest.codes_.shape
    check_binner(forest.binner_, n_features)
    check_trees(forest.trees_, n_features, n_rows)
    if forest.trees_.values.shape[1] != len(forest.offset_):
        raise ValueError("leaf values and offset_ must have the same number of targets")
    if len(forest.seeds_) != forest.trees_.n_trees:
        raise ValueError("seeds_ must have one for each tree")


def check_batch(batch: Any) -> None:
    """Refuse a fitted `ForestBatch` that kernels can't trust."""
    n_features = batch.n_features_in_
    check_binner(batch.binner_, n_features)
    if not 0 < batch.n_estimators == len(batch.seeds_):
        raise ValueError(
            f"n_estimators is {batch.n_estimators}, but there are {len(batch.seeds_)} seeds"
        )
    check_words(
        batch.words_, n_features, batch.n_estimators,
        n_forests=batch.n_forests_, n_classes=batch.n_classes_,
    )  # fmt: skip
