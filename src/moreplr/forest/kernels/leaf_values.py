"""The mean targets of each leaf; if no row of a leaf has a target, its nearest ancestor's mean."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels.llvm import lowest_bit, peek
from moreplr.forest.kernels.records import rows_at, width_of


@jit
def leaf_values(perm, right, start, n_nodes, rows, base, out):
    """Compute the values of the leaves where no target is missing.

    Parameters
    ----------
    perm : int32 array, the rows of the tree
    right, start : int32 arrays, as in `Trees`
    n_nodes : int
    rows : Rows
    base : array (k,), the values of a leaf without rows
    out : array (n_leaves, k), to which the values are written
    """
    k = out.shape[1]  # records are padded
    own, width = rows_at(rows), width_of(rows)
    sums = np.zeros(k)
    for node in range(n_nodes):
        if right[node] >= 0:
            continue
        whole = 0.0
        sums[:] = 0.0
        for i in range(start[node], _stop(start, node, n_nodes, perm)):
            record = np.int64(perm[i]) * width
            whole += rows.weight[perm[i]]
            for t in range(k):
                sums[t] += peek(own.records, record + t)
        leaf = -1 - right[node]
        for t in range(k):
            out[leaf, t] = sums[t] / whole if whole > 0.0 else base[t]


@jit
def leaf_values_with_gaps(perm, right, start, n_nodes, rows, base, out):
    """Compute the values of the leaves where targets are missing; arguments as in `leaf_values`.

    Nodes are visited from the last to the first, children before parents. The leaves of a subtree
    are contiguous. If no row of it has a target, the value is filled in by the first ancestor that
    has one, and taken from `base` if the root has none.
    """
    k = out.shape[1]
    own = rows_at(rows)
    most, n_words = _most_pending(right, n_nodes), (k + 63) >> 6
    sums, mass = np.zeros((most, k)), np.zeros((most, k))
    observed = np.zeros((most, n_words), np.uint64)  # a bit for each target
    ends = np.zeros(most, np.int64)  # one past the last leaf of a pending subtree
    top, first = 0, 0
    for node in range(n_nodes - 1, -1, -1):
        if right[node] < 0:
            first = -1 - right[node]
            _add(
                perm, start[node], _stop(start, node, n_nodes, perm), own, sums[top], mass[top],
                observed[top],
            )  # fmt: skip
            for t in range(k):
                value = sums[top, t] / mass[top, t]
                out[first, t] = value if mass[top, t] > 0.0 else base[t]
            ends[top] = first + 1
            top += 1
            continue
        # the left subtree, whose leaves begin at `first`, is on top of the right one
        left, other = top - 1, top - 2
        for t in range(k):
            sums[other, t] += sums[left, t]
            mass[other, t] += mass[left, t]
        for word in range(n_words):
            on_left = observed[left, word]
            differ = on_left ^ observed[other, word]
            while differ != 0:
                bit = lowest_bit(differ)
                differ &= differ - np.uint64(1)
                t = 64 * word + np.int64(bit)
                value = sums[other, t] / mass[other, t]
                if (on_left >> bit) & np.uint64(1):
                    lo, hi = ends[left], ends[other]
                else:
                    lo, hi = first, ends[left]
                for leaf in range(lo, hi):
                    out[leaf, t] = value
            observed[other, word] |= on_left
        top -= 1


@inlined
def _stop(start, node, n_nodes, perm):
    """Where a leaf's rows end: the next node in preorder starts there."""
    return start[node + 1] if node + 1 < n_nodes else len(perm)


@jit
def _most_pending(right, n_nodes):
    """The largest number of finished subtrees whose sibling is not finished."""
    top, most = 0, 1
    for node in range(n_nodes - 1, -1, -1):
        top += 1 if right[node] < 0 else -1
        most = max(most, top)
    return most


@inlined
def _add(perm, begin, stop, rows, sums, mass, observed):
    """Compute `sums` and `mass` (k,) of the rows `perm[begin:stop]`.

    `observed` gets a bit for each target that some row has.
    """
    k = len(sums)
    lanes = 8 * rows.steps
    for t in range(k):
        sums[t] = 0.0
        mass[t] = 0.0
    for i in range(begin, stop):
        record = np.int64(perm[i]) * 2 * lanes
        for t in range(k):
            sums[t] += peek(rows.records, record + t)
            mass[t] += peek(rows.records, record + lanes + t)
    for word in range(len(observed)):
        observed[word] = 0
        for t in range(64 * word, min(k, 64 * word + 64)):
            observed[word] |= np.uint64(mass[t] > 0.0) << np.uint64(t & 63)
