"""Which training rows, or groups of them, share a leaf or a larger node with a given row."""

from __future__ import annotations

import numpy as np

from moreplr._jit import jit
from moreplr.forest.kernels.layout import MISSING


@jit
def ranges(
    codes, asked, offsets, feature, cut, missing_left, right, start, perm_offsets, begin,
    voter_offsets, min_samples, out,
):  # fmt: skip
    """Per row and tree the range of voters that the row's node covers, (n, n_trees, 2).

    The node is the lowest one on the row's path with at least `min_samples` rows. A node's rows
    begin at `start`, its voters at `begin`. `asked` (n, n_trees) tells which trees may speak, all
    if it is empty; those that may not get an empty range. Gives the length of all ranges together.
    """
    total = 0
    for tree in range(len(offsets) - 1):  # a tree at a time stays in the cache
        first = offsets[tree]
        for row in range(len(codes)):
            node = first
            lo, hi = np.int64(0), perm_offsets[tree + 1] - perm_offsets[tree]
            first_voter, last_voter = voter_offsets[tree], voter_offsets[tree + 1]
            if len(asked) > 0 and not asked[row, tree]:
                hi, last_voter = lo, first_voter
            while lo < hi and right[node] >= 0:
                c = codes[row, feature[node]]
                goes = c <= cut[node] or (c == MISSING and missing_left[node] != 0)
                other = first + right[node]
                middle = np.int64(start[other])
                if goes:
                    if middle - lo < min_samples:
                        break
                    node, hi = node + 1, middle
                    last_voter = voter_offsets[tree] + begin[other]
                else:
                    if hi - middle < min_samples:
                        break
                    node, lo = other, middle
                    first_voter = voter_offsets[tree] + begin[other]
            out[row, tree, 0] = first_voter
            out[row, tree, 1] = last_voter
            total += last_voter - first_voter
    return total


@jit
def merge(offsets, right, start, perm_offsets, perm, mass, group, dense, begin, voters, weights):
    """Merge the rows of each leaf that are of one group; gives how many voters there are by tree.

    `begin` becomes the number of voters of the tree before each node. `dense`, of a number for
    each group, comes in and goes out as zeros.
    """
    ends = np.zeros(len(offsets), np.int64)
    filled = 0
    for tree in range(len(offsets) - 1):
        first = offsets[tree]
        end = perm_offsets[tree + 1]
        for node in range(first, offsets[tree + 1]):  # leaves are in the order of their rows
            begin[node] = filled - ends[tree]
            if right[node] >= 0:
                continue
            lo = perm_offsets[tree] + start[node]
            hi = end if node + 1 == offsets[tree + 1] else perm_offsets[tree] + start[node + 1]
            held = filled
            for i in range(lo, hi):
                own = group[perm[i]]
                if dense[own] == 0.0:
                    voters[filled] = own
                    filled += 1
                dense[own] += mass[i]
            for i in range(held, filled):
                weights[i] = dense[voters[i]]
                dense[voters[i]] = 0.0
        ends[tree + 1] = filled
    return ends


@jit
def collect(where, voters, voter_weight, dense, indptr, indices, weights):
    """Voters of each row's ranges with weights that add up to 1; gives how many there are.

    Each tree with a range has the same say, shared among its voters by their weight. `dense`
    comes in and goes out as zeros.
    """
    filled = 0
    for row in range(len(where)):
        begin = filled
        trees = 0
        for tree in range(where.shape[1]):
            lo, hi = where[row, tree, 0], where[row, tree, 1]
            if hi <= lo:
                continue
            trees += 1
            mass = 0.0
            for i in range(lo, hi):
                mass += voter_weight[i]
            for i in range(lo, hi):
                member = voters[i]
                if dense[member] == 0.0:
                    indices[filled] = member
                    filled += 1
                dense[member] += voter_weight[i] / mass
        for i in range(begin, filled):
            weights[i] = dense[indices[i]] / trees
            dense[indices[i]] = 0.0
        indptr[row + 1] = filled
    return filled
