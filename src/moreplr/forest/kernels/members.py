"""Find the training rows, or groups of them, that share a leaf or a larger node with a given row.

For each row, the lowest node on its path with enough training rows is used. So trees are pruned
first: a node whose children are both too small becomes a leaf. If only one child is too small,
this child becomes a leaf with the training rows of its parent.

Groups, or single rows if there are no groups, are called voters here.
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
# Rows that descend side by side, so that their memory accesses overlap.
_ROWS = 8


class Pruned(NamedTuple):
    """The pruned trees of a forest, and the voters in their leaves."""

    splits: Any  # uint32 (nodes,): the feature, and from bit 16 the cut, from 24 missing_left
    children: Any  # int32 (nodes, 2): distances to the children; for a leaf 0 and its number
    offsets: Any  # int64 (n_trees + 1,): where the nodes of each tree begin
    ranges: Any  # uint32 (leaves, 2): the voters of a leaf, counted from the tree's first one
    mass: Any  # float32 (leaves,): the weight of a leaf's voters
    voters: Any  # uint32: the numbers of groups
    weights: Any  # float32: the weights of voters
    voter_offsets: Any  # uint64 (n_trees + 1,): where the voters of each tree begin


@jit
def prune(
    offsets, feature, cut, missing_left, right, start, perm_offsets, perm, mass, group, n_groups,
    min_samples, pruned,
):  # fmt: skip
    """Fill `pruned` and return the number of its leaves.

    Rows of a leaf that are in the same group become one voter.

    Parameters
    ----------
    offsets, feature, cut, missing_left, right, start, perm_offsets, perm : as in `Trees`
    mass : float32 array, the weight of each row of `perm`
    group : int array (n_rows,), the group of each training row
    n_groups : int
    min_samples : int, the fewest rows of a leaf
    pruned : Pruned, with arrays that are large enough
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
    """Append a pruned tree to `pruned`, and return the number of leaves so far.

    Parameters
    ----------
    feature, cut, missing_left, right, start, perm : the tree's parts of these arrays of `Trees`
    mass, group, min_samples, pruned : as in `prune`
    dense : array (n_groups,), zeros before and after
    tree : int, the number of the tree
    n_leaves : int, the number of leaves before
    """
    end, beyond, weight = _measured(right, start, mass)
    above, turn = np.zeros(len(right), np.int64), np.full(len(right), -1)
    before = np.zeros(len(perm) + 1, np.int32)  # voters, where a leaf's rows begin
    place, first_leaf, node = pruned.offsets[tree], n_leaves, 0
    first_voter = filled = np.int64(pruned.voter_offsets[tree])
    while node < len(right):
        if turn[node] >= 0:  # a right child: note its distance from its parent
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
    """For each node: the end of its rows, the next node outside its subtree, its rows' weight."""
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
    """Append the voters of a range of rows, and return the number of voters.

    Parameters
    ----------
    perm, mass, group, pruned : as in `prune`
    begin, end : int, the range of rows in `perm`
    dense : array (n_groups,), zeros before and after
    filled : int, the number of voters before
    """
    first = filled
    for row in range(begin, end):
        voter = group[perm[row]]
        if dense[voter] == 0.0:
            pruned.voters[filled] = voter
            filled += 1
        dense[voter] += mass[row]
    for i in range(first, filled):
        pruned.weights[i] = dense[pruned.voters[i]]
        dense[pruned.voters[i]] = 0.0
    return filled


@jit
def leaves(codes, used, pruned, out, lengths):
    """Find the leaf of each row in each tree, (n_trees, n), and the number of voters of each row.

    `used` (n, n_trees) says which trees are used for a row, all if it is empty; the leaf in the
    others is -1.
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
                if len(used) > 0 and not used[row, tree]:
                    leaf = -1
                else:
                    lengths[row] += pruned.ranges[leaf, 1] - pruned.ranges[leaf, 0]
                out[tree, row] = leaf


@inlined
def _far(codes, row, node, pruned):
    """The distance to the next node of a row, 0 in a leaf.

    There are no branches, which would be mispredicted. Where rows that lack the feature go left,
    1 is added to code and cut, so that the code of NaN becomes 0.
    """
    split = pruned.splits[node]
    missing = np.uint8(split >> _MISSING_BIT)
    code = np.uint8(codes[row, split & _FEATURE] + missing)
    right = code > np.uint8(np.uint8(split >> _CUT_BIT) + missing)
    return pruned.children[node, np.uint64(right)]


@jit
def collect(reached, pruned, indptr, indices, shares, n_used):
    """Collect the voters of the leaves that rows reach, tree by tree, which the cache favours.

    Parameters
    ----------
    reached : int64 array (n_trees, n), leaves, -1 where a tree is not used
    pruned : Pruned
    indptr : int64 array (n + 1,), where the voters of each row begin
    indices, shares : arrays, to which voters and their shares of a leaf's weight are written
    n_used : int64 array (n,), to which the number of trees with voters for each row is written
    """
    n_trees, n = reached.shape
    at = indptr[:-1].astype(np.uint64)  # unsigned: a negative index would count from the end
    n_used[:] = 0
    for tree in range(n_trees):
        first = pruned.voter_offsets[tree]
        for row in range(n):
            leaf = reached[tree, row]
            if leaf < 0:
                continue
            begin, end = pruned.ranges[leaf, 0], pruned.ranges[leaf, 1]
            n_used[row] += begin < end
            share, to = 1.0 / pruned.mass[leaf], at[row]
            for i in range(first + begin, first + end):
                indices[to] = pruned.voters[i]
                shares[to] = pruned.weights[i] * share
                to += _ONE
            at[row] = to


@jit
def unite(indptr, indices, shares, n_used, dense, weights):
    """Merge equal voters of each row, in place, and return how many remain.

    The weights of a row add up to 1; all trees with voters for it count the same.

    Parameters
    ----------
    indptr, indices, shares, n_used : as in `collect`
    dense : array (n_groups,), zeros before and after
    weights : array, to which the weights are written
    """
    filled, begin = np.uint64(0), np.uint64(0)
    for row in range(len(n_used)):
        first, end = filled, np.uint64(indptr[row + 1])
        for i in range(begin, end):
            voter = indices[i]
            held = dense[voter]
            indices[filled] = voter  # overwritten next if the voter is a repeated one
            filled += np.uint64(held == 0.0)
            dense[voter] = held + shares[i]
        for i in range(first, filled):
            weights[i] = dense[indices[i]] / n_used[row]
            dense[indices[i]] = 0.0
        indptr[row + 1], begin = filled, end
    return filled
