"""Trees on gradients and Hessians, for boosting.

Boosting bins the features once, makes one grower, and grows one tree in each round::

    binned = BinnedMatrix.of(X)
    grower = GradientGrower(binned, n_outputs, max_depth=6, l2=1.0)
    for round in range(n_rounds):
        trees, leaf = grower.grow(gradients, hessians, counts, seed=round)
        trees.values *= learning_rate
        scores += trees.values[leaf]  # no traversal is needed

`gradients` are the negative gradients of the loss. Where an output is missing in a row, both its
gradient and its Hessian are 0. `counts` says how often each row is used. Rows with a count of 0
do not affect the tree, but get a leaf as well.

A tree is a `Trees` object with one tree. `join` combines several of them, and `sum_of_trees` adds
up their predictions for new rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from moreplr._validation import integer_from
from moreplr.forest.binning import BinnedMatrix
from moreplr.forest.checks import number_of_features
from moreplr.forest.kernels import gradient_tree, traverse, traverse_blocks
from moreplr.forest.trees import Trees

# Gradients become integers. Their sums stay below this, so that rounding can't overflow 32 bits.
_LARGEST_SUM = 2.0**30
# Rows of a block: few enough for their sums to stay in the cache while trees are added.
_AT_ONCE = 256


class GradientGrower:
    """Grows one tree after the other on the same features and in the same memory.

    All outputs share the splits of a tree. Let G and H be the sums of the gradients and Hessians
    of an output over the rows of a node. The worth of the node is the sum of G² / (H + l2) over
    the outputs, and the value of a leaf is G / (H + l2). A grower must not be used by several
    threads at once.

    Parameters
    ----------
    binned : BinnedMatrix
        The training rows.
    n_outputs : int
    max_depth : int, default=6
        The most levels below the root.
    min_samples_leaf : int, default=1
        The fewest rows in a leaf; rows with a count of 0 do not count.
    min_hessian : float, default=0.0
        The least sum of Hessians over all rows and outputs of a leaf.
    l2 : float, default=1.0
        Shrinks leaves of small Hessian.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        How many features each split draws from those that the tree may use.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.forest.binning import BinnedMatrix
    >>> from moreplr.forest.gradient import GradientGrower
    >>> grower = GradientGrower(BinnedMatrix.of(np.arange(4.0)[:, None]), 1, max_depth=1, l2=0.0)
    >>> trees, leaf = grower.grow(np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.ones((4, 1)))
    >>> leaf
    array([0, 0, 1, 1], dtype=int32)
    >>> trees.values.ravel()
    array([ 1., -1.], dtype=float32)
    """

    def __init__(
        self,
        binned: BinnedMatrix,
        n_outputs: int,
        *,
        max_depth: int = 6,
        min_samples_leaf: int = 1,
        min_hessian: float = 0.0,
        l2: float = 1.0,
        max_features: int | float | str | None = None,
    ) -> None:
        self.binned = binned
        self.n_outputs = n_outputs
        self.max_depth = integer_from("max_depth", max_depth, 1)
        self.min_samples_leaf = integer_from("min_samples_leaf", min_samples_leaf, 1)
        self.min_hessian = min_hessian
        self.l2 = l2
        self.max_features = max_features
        n, n_features = binned.shape
        n_bins, width, pending = int(binned.bins[-1]), 2 * n_outputs, max_depth + 2
        leaves = min(n, 2**max_depth)
        self._records = np.empty((n, width), np.int32)
        self._sums = np.empty((leaves, width), np.int32)
        self._nodes = gradient_tree.Nodes(
            feature=np.empty(2 * leaves, np.uint16),
            cut=np.empty(2 * leaves, np.uint8),
            missing_left=np.empty(2 * leaves, np.uint8),
            right=np.empty(2 * leaves, np.int32),
        )
        self._scratch = gradient_tree.Scratch(
            perm=np.empty(n, np.int32),
            spare=np.empty(n, np.int32),
            order=np.empty(n_features, np.int32),
            sums=np.zeros((pending, n_bins, width), np.int32),
            counts=np.zeros((pending, n_bins), np.int32),
            free=np.empty(pending, np.int64),
            stack=np.empty((pending, 5), np.int64),
            totals=np.empty((pending, width), np.int32),
            running=np.empty(width, np.int32),
        )

    def grow(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64],
        counts: NDArray[np.int32] | None = None,
        features: ArrayLike | None = None,
        seed: int = 0,
    ) -> tuple[Trees, NDArray[np.int32]]:
        """Grow a tree.

        Parameters
        ----------
        gradients, hessians : ndarray of float64, shape (n_samples, n_outputs)
            Hessians are not negative.
        counts : ndarray of int32, shape (n_samples,), optional
            How often each row is used; by default once.
        features : array-like of int, optional
            The features that the tree may split on; all by default.
        seed : int, default=0
            Decides which features each split draws.

        Returns
        -------
        trees : Trees
            The tree.
        leaf : ndarray of int32, shape (n_samples,)
            The leaf of each row, as an index into `values`.
        """
        n, n_features = self.binned.shape
        counts = np.ones(n, np.int32) if counts is None else counts
        used = np.flatnonzero(counts)
        self._scratch.perm[: len(used)] = used
        unit = self._units(gradients, hessians, counts)
        gradient_tree.round_records(gradients, hessians, counts, 1.0 / unit, self._records)
        chosen = np.arange(n_features) if features is None else np.unique(features)
        rows = gradient_tree.Rows(
            self.binned.codes, self.binned.bins, self._records, chosen.astype(np.int32)
        )
        limits = gradient_tree.Limits(
            self.max_depth,
            self.min_samples_leaf,
            np.float32(self.min_hessian / unit[1]),
            # The added unit is negligible, and avoids 0 / 0 for an output without rows.
            np.float32(self.l2 / unit[1] + 1.0),
            number_of_features(self.max_features, len(chosen)),
        )
        leaf, importance = np.empty(n, np.int32), np.zeros(n_features)
        n_nodes, n_leaves = gradient_tree.grow(
            rows, len(used), limits, np.uint64(seed), self._nodes, self._scratch,
            self._sums, leaf, importance,
        )  # fmt: skip
        sums = self._sums[:n_leaves] * np.repeat(unit, self.n_outputs)
        mass = sums[:, self.n_outputs :] + self.l2
        values = sums[:, : self.n_outputs] / np.where(mass > 0, mass, 1.0)
        trees = self._trees(n_nodes, values, importance * (unit[0] ** 2 / unit[1]))
        if len(used) < n:
            traverse.leaves(
                self.binned.codes, np.flatnonzero(counts == 0), *trees.split_arrays, leaf
            )
        return trees, leaf

    def _units(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64],
        counts: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        """The units of rounded gradients and Hessians."""
        sums = [(counts @ np.abs(x)).max(initial=0.0) for x in (gradients, hessians)]
        return np.array([x / _LARGEST_SUM if x > 0 else 1.0 for x in sums])

    def _trees(
        self, n_nodes: int, values: NDArray[np.float64], importance: NDArray[np.float64]
    ) -> Trees:
        nodes = self._nodes
        return Trees(
            offsets=np.array([0, n_nodes]),
            feature=nodes.feature[:n_nodes].copy(),
            cut=nodes.cut[:n_nodes].copy(),
            missing_left=nodes.missing_left[:n_nodes].copy(),
            right=nodes.right[:n_nodes].copy(),
            start=np.zeros(n_nodes, np.int32),
            leaf_offsets=np.array([0, len(values)]),
            values=values.astype(np.float32),
            perm_offsets=np.zeros(2, np.int64),
            perm=np.empty(0, np.int32),
            perm_count=np.empty(0, np.uint8),
            importance=importance[None],
        )


def sum_of_trees(
    trees: Trees, codes: NDArray[np.uint8], first: int = 0, end: int | None = None
) -> NDArray[np.float64]:
    """The sum over trees `first` to `end` - 1 for binned rows, (n_samples, n_outputs)."""
    out = np.zeros((len(codes), trees.values.shape[1]))
    end = trees.n_trees if end is None else min(end, trees.n_trees)
    for at in range(0, len(codes), _AT_ONCE):
        block = codes[at : at + _AT_ONCE]
        traverse_blocks.add_up(
            block, np.ascontiguousarray(block.T), first, end, *trees.split_arrays,
            trees.leaf_offsets, trees.values, out[at : at + _AT_ONCE],
        )  # fmt: skip
    return out
