"""Find the training rows that share leaves with given rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moreplr.forest.growing import counts_of
from moreplr.forest.kernels import members
from moreplr.forest.trees import Trees

# Members are found for at most this many rows at a time, and in about this much memory.
_ROWS = 256
_BYTES = 1 << 23

Members = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True)
class Voters:
    """The training rows in each leaf, or groups of rows, for one leaf size.

    Groups save time and memory where many rows are alike, for example in their rankings.

    Attributes
    ----------
    pruned : the pruned trees, and the rows or groups in their leaves
    n : int
        The number of training rows or of groups.
    """

    pruned: members.Pruned
    n: int

    @classmethod
    def of(
        cls,
        trees: Trees,
        n_rows: int,
        weight: NDArray[np.float32] | None,
        groups: NDArray[np.intp] | None = None,
        min_samples: int = 1,
    ) -> Voters:
        """Prune the trees to leaves of `min_samples` rows; `groups` holds each row's group."""
        mass = trees.perm_count.astype(np.float32)
        if weight is not None:
            mass *= weight[trees.perm]
        group = np.arange(n_rows) if groups is None else groups
        n = int(group.max(initial=-1)) + 1
        most_leaves = (len(trees.right) + trees.n_trees) // 2  # each tree has one more than splits
        whole = members.Pruned(
            splits=np.empty(len(trees.right), np.uint32),
            children=np.empty((len(trees.right), 2), np.int32),
            offsets=np.zeros(trees.n_trees + 1, np.int64),
            ranges=np.empty((most_leaves, 2), np.uint32),
            mass=np.empty(most_leaves, np.float32),
            voters=np.empty(len(trees.perm), np.uint32),
            weights=np.empty_like(mass),
            voter_offsets=np.zeros(trees.n_trees + 1, np.uint64),
        )
        n_leaves = members.prune(
            *trees.split_arrays, trees.start, trees.perm_offsets, trees.perm, mass, group, n,
            min_samples, whole,
        )  # fmt: skip
        n_nodes, n_voters = int(whole.offsets[-1]), int(whole.voter_offsets[-1])
        kept = whole._replace(
            splits=whole.splits[:n_nodes].copy(),
            children=whole.children[:n_nodes].copy(),
            ranges=whole.ranges[:n_leaves].copy(),
            mass=whole.mass[:n_leaves].copy(),
            voters=whole.voters[:n_voters].copy(),
            weights=whole.weights[:n_voters].copy(),
        )
        return cls(kept, n)


def members_in_parts(
    voters: Voters, codes: NDArray[np.uint8], unseen: NDArray[np.bool_] | None = None
) -> Iterator[tuple[slice, Members]]:
    """Yield slices of the rows with their members; parts bound the memory for large leaves.

    `unseen` (n_rows, n_trees) is True where a tree is used for a row; None: all trees are.
    """
    pruned = voters.pruned
    for at in range(0, len(codes), _ROWS):
        some = np.ascontiguousarray(codes[at : at + _ROWS])
        used = np.empty((0, 0), np.bool_) if unseen is None else unseen[at : at + _ROWS]
        reached = np.empty((len(pruned.offsets) - 1, len(some)), np.int64)
        lengths = np.empty(len(some), np.int64)
        members.leaves(some, used, pruned, reached, lengths)
        for part in _parts(np.cumsum(lengths)):
            where = slice(at + part.start, at + part.stop)
            yield where, _members_of(voters, reached[:, part], lengths[part])


def _members_of(voters: Voters, reached: NDArray[np.int64], lengths: NDArray[np.int64]) -> Members:
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    indices, shares = np.empty(indptr[-1], np.uint32), np.empty(indptr[-1], np.float32)
    n_used = np.empty(len(lengths), np.int64)
    members.collect(reached, voters.pruned, indptr, indices, shares, n_used)
    weights = np.empty(len(shares), np.float32)
    filled = members.unite(indptr, indices, shares, n_used, np.zeros(voters.n), weights)
    return indptr, indices[:filled].view(np.int32), weights[:filled]


def _parts(ends: NDArray[np.int64]) -> Iterator[slice]:
    """Ranges of rows whose members fit into `_BYTES`, at least one row each.

    `ends` are the cumulative numbers of members.
    """
    first, before = 0, 0
    while first < len(ends):
        stop = int(np.searchsorted(ends, before + _BYTES // 8, side="right"))
        stop = max(stop, first + 1)
        yield slice(first, stop)
        first, before = stop, int(ends[stop - 1])


def unseen_by(
    seeds: NDArray[np.uint64], draws: int | None, rows: NDArray[np.int64], n: int
) -> NDArray[np.bool_]:
    """A mask (n_rows, n_trees) that is True where a tree did not draw a training row."""
    out = np.zeros((len(rows), len(seeds)), np.bool_)
    for tree, seed in enumerate(seeds):
        out[:, tree] = counts_of(seed, n, draws)[rows] == 0
    return out
