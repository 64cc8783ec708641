"""Find the training rows that share leaves with given rows, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moreplr.forest.growing import counts_of
from moreplr.forest.kernels import members
from moreplr.forest.trees import Trees

# Members are found for so many rows at first, and then for as many as take this memory if no row
# has more of them than those before.
_FIRST_ROWS, _MOST_ROWS = 16, 256
_BYTES = 1 << 23

Members = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True)
class Voters:
    """Who speaks in each node of a forest's trees: training rows, or groups of rows.

    Where many rows of a leaf are alike to the one who asks, groups make the answer short.

    Attributes
    ----------
    begin : ndarray of int32
        How many voters of its tree stand before each node.
    offsets : ndarray of int64, shape (n_trees + 1,)
        Where the voters of each tree begin.
    voters : ndarray of int32
        Rows or groups. Those of a node are a contiguous range.
    weights : ndarray of float32
    n : int
        The number of training rows or of groups.
    """

    begin: NDArray[np.int32]
    offsets: NDArray[np.int64]
    voters: NDArray[np.int32]
    weights: NDArray[np.float32]
    n: int

    @classmethod
    def of(
        cls,
        trees: Trees,
        n_rows: int,
        weight: NDArray[np.float32] | None,
        groups: NDArray[np.intp] | None = None,
    ) -> Voters:
        """The rows of each node by their draws and weights, or, given each row's, their groups."""
        mass = trees.perm_count.astype(np.float32)
        if weight is not None:
            mass *= weight[trees.perm]
        if groups is None:
            return cls(trees.start, trees.perm_offsets, trees.perm, mass, n_rows)
        n = int(groups.max(initial=-1)) + 1
        begin, voters = np.empty_like(trees.start), np.empty_like(trees.perm)
        weights = np.empty_like(mass)
        offsets = members.merge(
            trees.offsets, trees.right, trees.start, trees.perm_offsets, trees.perm, mass,
            groups, np.zeros(n), begin, voters, weights,
        )  # fmt: skip
        filled = offsets[-1]
        return cls(begin, offsets, voters[:filled].copy(), weights[:filled].copy(), n)


def members_in_parts(
    trees: Trees,
    voters: Voters,
    codes: NDArray[np.uint8],
    unseen: NDArray[np.bool_] | None,
    min_samples: int,
) -> Iterator[tuple[slice, Members]]:
    """Voters of the nodes of some rows after others, which are many where leaves are large.

    `unseen` (n_rows, n_trees) says which trees may speak of a row; None: all.
    """
    at, step = 0, _FIRST_ROWS
    while at < len(codes):
        part = slice(at, min(at + step, len(codes)))
        own = None if unseen is None else unseen[part]
        found = _members_of(trees, voters, codes[part], own, min_samples)
        yield part, found
        most = max(int(np.diff(found[0]).max()), 1)
        at, step = at + step, min(max(_BYTES // (8 * most), 1), _MOST_ROWS)


def unseen_by(
    seeds: NDArray[np.uint64], draws: int | None, rows: NDArray[np.int64], n: int
) -> NDArray[np.bool_]:
    """Which trees have not drawn which of the training rows, (n_rows, n_trees)."""
    out = np.zeros((len(rows), len(seeds)), np.bool_)
    for tree, seed in enumerate(seeds):
        out[:, tree] = counts_of(seed, n, draws)[rows] == 0
    return out


def _members_of(
    trees: Trees,
    voters: Voters,
    codes: NDArray[np.uint8],
    unseen: NDArray[np.bool_] | None,
    min_samples: int,
) -> Members:
    where = np.empty((len(codes), trees.n_trees, 2), np.int64)
    asked = np.empty((0, 0), np.bool_) if unseen is None else unseen
    total = members.ranges(
        codes, asked, *trees.split_arrays, trees.start, trees.perm_offsets, voters.begin,
        voters.offsets, min_samples, where,
    )  # fmt: skip
    indptr = np.zeros(len(codes) + 1, np.int64)
    indices, weights = np.empty(total, np.int32), np.empty(total, np.float32)
    filled = members.collect(
        where, voters.voters, voters.weights, np.zeros(voters.n), indptr, indices, weights
    )
    return indptr, indices[:filled].copy(), weights[:filled].copy()
