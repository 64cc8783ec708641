"""Which training rows, or groups of them, share a leaf or a larger node with a given row.

The node that answers is the lowest one on the row's path with enough training rows. So trees are
pruned first: a node whose children are both too small becomes a leaf, and so does a single child
that is too small, which answers with the rows of its parent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from moreplr._jit import inlined, jit

_LEFT, _RIGHT = 0, 1
_ONE = np.uint64(1)
_CUT_BIT, _MISSING_BIT, _FEATURE = np.uint32(16), np.uint32(24), np.uint32(0xFFFF)
# The split of a leaf sends all rows left.
_LEAF = np.uint32(255) << _CUT_BIT
# Rows that walk down side by side: each step of one waits for memory.
_ROWS = 8


class Pruned(NamedTuple):
    """The trees of a forest as far as their nodes have enough rows, and who is in their leaves."""

    splits: Any  # uint32 (nodes,): the feature, and from bit 16 the cut, from 24 missing_left
    children: Any  # int32 (nodes, 2): how far they are; of a leaf 0 and the leaf's number
    offsets: Any  # int64 (n_trees + 1,): where the nodes of each tree begin
    ranges: Any  # uint32 (leaves, 2): the voters of a leaf, counted from the first of the tree
    mass: Any  # float32 (leaves,): their weight
    voters: Any  # uint32: rows or groups
    weights: Any  # float32: theirs
    voter_offsets: Any  # uint64 (n_trees + 1,): where the voters of each tree begin


@jit
def prune(
    offsets, feature, cut, missing_left, right, start, perm_offsets, perm, mass, group, n_groups,
    min_samples, pruned,
):  # fmt: skip
    """Fill `pruned`, which has room for everything, and give the number of its leaves.

    Rows of a leaf that are of one group become one voter.
    """
    dense = np.zeros(n_groups)
    n_leaves = 0
    for tree in range(len(offsets) - 1):
        nodes = slice(offsets[tree], offsets[tree + 1])
        rows = slice(perm_offsets[tree], perm_offsets[tree + 1])
        n_leaves = _prune_tree(
            feature[nodes], cut[nodes], missing_left[nodes], right[nodes], start[nodes],
            perm[rows], mass[rows], group, min_samples, dense, tree, n_leaves, pruned,
        )  # fmt: skip
    return n_leaves


@jit
def _prune_tree(
    feature, cut, missing_left, right, start, perm, mass, group, min_samples, dense, tree,
    n_leaves, pruned,
):  # fmt: skip
    end, beyond, weight = _measured(right, start, mass)
    above, turn = np.zeros(len(right), np.int64), np.full(len(right), -1)
    before = np.zeros(len(perm) + 1, np.int32)  # voters, where a leaf's rows begin
    place, first_leaf, node = pruned.offsets[tree], n_leaves, 0
    first_voter = filled = np.int64(pruned.voter_offsets[tree])
    while node < len(right):
        if turn[node] >= 0:  # a right child: its parent learns how far it is
            pruned.children[turn[node], _RIGHT] = place - turn[node]
        other = right[node]
        if other >= 0 and (
            start[other] - start[node] >= min_samples or end[other] - start[other] >= min_samples
        ):
            pruned.splits[place] = _split(feature[node], cut[node], missing_left[node])
            pruned.children[place, _LEFT] = 1
            above[node + 1], above[other], turn[other] = node, node, place
            node += 1
        else:
            large = end[node] - start[node] >= min_samples
            source = node if large else above[node]
            pruned.splits[place] = _LEAF
            pruned.children[place, _LEFT], pruned.children[place, _RIGHT] = 0, n_leaves
            pruned.ranges[n_leaves, 0], pruned.ranges[n_leaves, 1] = start[source], end[source]
            pruned.mass[n_leaves] = weight[source]
            n_leaves += 1
            before[start[node]] = filled - first_voter
            filled = _merge(perm, mass, group, start[node], end[node], dense, filled, pruned)
            node = beyond[node]
        place += 1
    before[len(perm)] = filled - first_voter
    for leaf in range(first_leaf, n_leaves):
        for side in range(2):
            pruned.ranges[leaf, side] = before[pruned.ranges[leaf, side]]
    pruned.offsets[tree + 1], pruned.voter_offsets[tree + 1] = place, filled
    return n_leaves


@inlined
def _measured(right, start, mass):
    """Of each node: where its rows end, the next node that is not below it, its rows' weight."""
    n = len(right)
    end, beyond, weight = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n)
    for node in range(n - 1, -1, -1):
        other = right[node]
        if other >= 0:
            end[node], beyond[node] = end[other], beyond[other]
            weight[node] = weight[node + 1] + weight[other]
        else:
            end[node] = start[node + 1] if node + 1 < n else len(mass)
            beyond[node] = node + 1
            for row in range(start[node], end[node]):
                weight[node] += mass[row]
    return end, beyond, weight


@inlined
def _split(feature, cut, missing_left):
    missing = np.uint32(missing_left != 0) << _MISSING_BIT
    return missing | np.uint32(cut) << _CUT_BIT | np.uint32(feature)


@inlined
def _merge(perm, mass, group, begin, end, dense, filled, pruned):
    """Add the voters of some rows after the `filled` ones; gives how many there are then."""
    first = filled
    for row in range(begin, end):
        own = group[perm[row]]
        if dense[own] == 0.0:
            pruned.voters[filled] = own
            filled += 1
        dense[own] += mass[row]
    for i in range(first, filled):
        pruned.weights[i] = dense[pruned.voters[i]]
        dense[pruned.voters[i]] = 0.0
    return filled


@jit
def leaves(codes, asked, pruned, out, lengths):
    """The leaf that each tree sends each row to, (n_trees, n), and how many voters a row meets.

    `asked` (n, n_trees) tells which trees may speak, all if it is empty; -1 for those that may
    not.
    """
    n = len(codes)
    at = np.empty(_ROWS, np.int64)
    lengths[:] = 0
    for tree in range(len(pruned.offsets) - 1):
        for begin in range(0, n, _ROWS):
            at[:] = pruned.offsets[tree]
            moved = 1
            while moved != 0:
                moved = 0
                for i in range(_ROWS):
                    walker = np.uint64(min(begin + i, n - 1))
                    far = _far(codes, walker, np.uint64(at[i]), pruned)
                    at[i] += far
                    moved |= far
            for i in range(min(_ROWS, n - begin)):
                row, leaf = begin + i, pruned.children[at[i], _RIGHT]
                if len(asked) > 0 and not asked[row, tree]:
                    leaf = -1
                else:
                    lengths[row] += pruned.ranges[leaf, 1] - pruned.ranges[leaf, 0]
                out[tree, row] = leaf


@inlined
def _far(codes, row, node, pruned):
    """How far the next node of a row is: 0 in a leaf.

    Without branches, which would be mispredicted. One is added to code and cut where rows
    without the feature go left: their code becomes 0.
    """
    split = pruned.splits[node]
    missing = np.uint8(split >> _MISSING_BIT)
    code = np.uint8(codes[row, split & _FEATURE] + missing)
    right = code > np.uint8(np.uint8(split >> _CUT_BIT) + missing)
    return pruned.children[node, np.uint64(right)]


@jit
def collect(reached, pruned, indptr, indices, shares, speaking):
    """The voters of the leaves that rows reach, from `indptr` on, with their shares of a leaf.

    How many trees have a say on a row goes to `speaking`. A tree at a time stays in the cache.
    """
    n_trees, n = reached.shape
    at = indptr[:-1].astype(np.uint64)  # unsigned: a negative index would count from the end
    speaking[:] = 0
    for tree in range(n_trees):
        first = pruned.voter_offsets[tree]
        for row in range(n):
            leaf = reached[tree, row]
            if leaf < 0:
                continue
            begin, end = pruned.ranges[leaf, 0], pruned.ranges[leaf, 1]
            speaking[row] += begin < end
            share, to = 1.0 / pruned.mass[leaf], at[row]
            for i in range(first + begin, first + end):
                indices[to] = pruned.voters[i]
                shares[to] = pruned.weights[i] * share
                to += _ONE
            at[row] = to


@jit
def unite(indptr, indices, shares, speaking, dense, weights):
    """Make one of equal voters of a row, with weights that add up to 1; gives how many remain.

    Each tree with a say has the same. `dense` comes in and goes out as zeros.
    """
    filled, begin = np.uint64(0), np.uint64(0)
    for row in range(len(speaking)):
        first, end = filled, np.uint64(indptr[row + 1])
        for i in range(begin, end):
            voter = indices[i]
            held = dense[voter]
            indices[filled] = voter  # to be overwritten if it was there before
            filled += np.uint64(held == 0.0)
            dense[voter] = held + shares[i]
        for i in range(first, filled):
            weights[i] = dense[indices[i]] / speaking[row]
            dense[indices[i]] = 0.0
        indptr[row + 1], begin = filled, end
    return filled
