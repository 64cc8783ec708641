"""Trees in the form that other programs use: thresholds instead of bins, a value at each leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr._types import AnyArray, Array


@dataclass(frozen=True)
class PlainTree:
    """A tree whose nodes are numbered from 0, a node before its children.

    Attributes
    ----------
    left, right : the children of each node, -1 for a leaf
    feature, threshold : rows whose feature is at most the threshold go left
    missing_left : whether rows without this feature go left
    value : array (n_nodes, n_outputs), is added to the prediction; 0 except in leaves
    splits : the tree's arrays for kernels, which take binned rows
    """

    left: NDArray[Any]
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: Array
    missing_left: NDArray[np.bool_]
    value: Array
    splits: tuple[AnyArray, ...]


def plain_trees(model: Any) -> tuple[Array, list[PlainTree]]:
    """The trees of a fitted `RankingBoost` or forest, and the offset that they are added to.

    The outputs of a `RankingBoost` are utilities, then tie tendencies.
    """
    if hasattr(model, "members_"):
        forests, offset = model.members_, model.base_scores_
    else:
        forests, offset = [model.trees_], np.broadcast_to(model.offset_, model.n_outputs_)
    cuts = [model.binner_.cuts(at) for at in range(model.n_features_in_)]
    trees = []
    for forest in forests:
        # Members and the trees of a forest are averaged; the trees of a member are summed.
        share = 1 / len(forests) if hasattr(model, "members_") else 1 / forest.n_trees
        trees += [_plain(forest, t, share, len(offset), cuts) for t in range(forest.n_trees)]
    return np.array(offset, dtype=float), trees


def _plain(trees: Any, number: int, share: float, n_outputs: int, cuts: list[Array]) -> PlainTree:
    own = slice(trees.offsets[number], trees.offsets[number + 1])
    offsets, *arrays = trees.split_arrays
    feature, cut, missing_left, right = (array[own] for array in arrays)
    is_leaf, node = right < 0, np.arange(len(right))
    threshold = np.zeros(len(right))
    for at in node[~is_leaf]:
        own_cuts = cuts[feature[at]]
        # A cut beyond the last one: all numbers go left, and only gaps may go right.
        threshold[at] = own_cuts[cut[at]] if cut[at] < len(own_cuts) else np.finfo(float).max
    value = np.zeros((len(right), n_outputs))
    leaves = trees.values[trees.leaf_offsets[number] - 1 - right[is_leaf]]
    value[is_leaf, : leaves.shape[1]] = leaves * share
    return PlainTree(
        np.where(is_leaf, -1, node + 1),
        np.where(is_leaf, -1, right),
        feature.astype(int),
        threshold,
        missing_left != 0,
        value,
        (offsets[number : number + 2], *arrays),
    )
