"""The fitted state of a forest: a few flat arrays for all its trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from moreplr._types import AnyArray

Flat = TypeVar("Flat", bound=Any)  # a dataclass of arrays; names of offsets end in "offsets"
_AT_ONCE = 16  # arrays that are copied before they are released


@dataclass
class Trees:
    """All trees of a forest, one after the other.

    The nodes of tree t are `offsets[t]:offsets[t + 1]`, in preorder: the left child of a node
    follows it, and `right` holds the other child, counted from the tree's first node. For a
    leaf, `right` is -1 - leaf, and its value is `values[leaf_offsets[t] + leaf]`.

    The in-bag rows of tree t are `perm[perm_offsets[t]:perm_offsets[t + 1]]`, ordered so that the
    rows of each node are a contiguous range. The range begins at `start` and ends where the range
    of the next node outside the subtree begins.

    Attributes
    ----------
    offsets, leaf_offsets, perm_offsets : ndarray of int64, shape (n_trees + 1,)
    feature : ndarray of uint16
    cut : ndarray of uint8
        Rows whose bin is at most this go left.
    missing_left : ndarray of uint8
        Whether rows that lack the feature go left.
    right, start : ndarray of int32
    values : ndarray of float32, shape (n_leaves, n_targets)
    perm : ndarray of int32
    perm_count : ndarray of uint8
        How often the bootstrap drew each row of `perm`.
    importance : ndarray of float64, shape (n_trees, n_features)
        The reduction in squared error by feature.

    Examples
    --------
    >>> from moreplr.forest import ForestRegressor
    >>> trees = ForestRegressor(2, random_state=0).fit([[0], [1], [2]], [1.0, 2.0, 3.0]).trees_
    >>> trees.n_trees
    2
    """

    offsets: NDArray[np.int64]
    feature: NDArray[np.uint16]
    cut: NDArray[np.uint8]
    missing_left: NDArray[np.uint8]
    right: NDArray[np.int32]
    start: NDArray[np.int32]
    leaf_offsets: NDArray[np.int64]
    values: NDArray[np.float32]
    perm_offsets: NDArray[np.int64]
    perm: NDArray[np.int32]
    perm_count: NDArray[np.uint8]
    importance: NDArray[np.float64]

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.offsets) - 1

    def to_dict(self) -> dict[str, AnyArray]:
        """The arrays by name, for a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def number_features(self, features: NDArray[np.intp], n_features: int) -> None:
        """Renumber features after growing on some of them; `features` are their new numbers."""
        self.feature = features[self.feature].astype(np.uint16)
        importance = np.zeros((self.n_trees, n_features))
        importance[:, features] = self.importance
        self.importance = importance

    @property
    def split_arrays(self) -> tuple[AnyArray, ...]:
        """The arrays that traversal takes: offsets, feature, cut, missing_left, right."""
        return self.offsets, self.feature, self.cut, self.missing_left, self.right


def join(parts: Sequence[Flat]) -> Flat:
    """Join forests into one; the parts' arrays are released on the way, to save memory."""
    if len(parts) == 1:
        return parts[0]
    arrays = {}
    for field in fields(parts[0]):
        own = [vars(part).pop(field.name) for part in parts]
        if field.name.endswith("offsets"):
            sizes = joined([offsets[1:] - offsets[:-1] for offsets in own])  # diff is slower
            arrays[field.name] = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        else:
            arrays[field.name] = joined(own)
    return type(parts[0])(**arrays)


def joined(parts: list[AnyArray]) -> AnyArray:
    """Concatenate the arrays; the list is emptied on the way, to save memory."""
    whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    at = 0
    while parts:
        some = parts[:_AT_ONCE]
        del parts[:_AT_ONCE]
        end = at + sum(map(len, some))
        np.concatenate(some, out=whole[at:end])
        at = end
    return whole
