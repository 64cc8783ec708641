"""The mean targets of each leaf; one that no row of it has comes from the nearest ancestor."""

from __future__ import annotations

import numpy as np

from moreplr._jit import jit


@jit
def leaf_values(perm, right, start, parent, n_nodes, targets, seen, weight, complete, base, out):
    """Fill `out` (n_leaves, k); `base` answers where not even the root has seen a target."""
    k = out.shape[1]  # targets are padded
    sums, mass = np.zeros(k), np.zeros(k)
    for node in range(n_nodes):
        if right[node] >= 0:
            continue
        leaf = -1 - right[node]
        sums[:] = 0.0
        mass[:] = 0.0
        # preorder: the next node starts where this leaf's rows end
        stop = start[node + 1] if node + 1 < n_nodes else len(perm)
        _add(perm, start[node], stop, targets, seen, weight, complete, sums, mass)
        for t in range(k):
            out[leaf, t] = sums[t] / mass[t] if mass[t] > 0.0 else base[t]
        if not complete and node > 0 and mass.min() <= 0.0:
            _fall_back(perm, parent, start, right, node, n_nodes, targets, seen, weight, mass, out)


@jit
def _add(perm, begin, stop, targets, seen, weight, complete, sums, mass):
    for i in range(begin, stop):
        row = perm[i]
        w = np.float64(weight[row])
        for t in range(len(sums)):
            sums[t] += w * targets[row, t]
        if complete:
            for t in range(len(sums)):
                mass[t] += w
        else:
            for t in range(len(sums)):
                mass[t] += w * seen[row, t]


@jit
def _fall_back(perm, parent, start, right, node, n_nodes, targets, seen, weight, mass, out):
    """Walk up from a leaf until every target has been seen; each step adds the sibling's rows."""
    k = len(mass)
    leaf = -1 - right[node]
    sums, wider = np.zeros(k), np.zeros(k)
    open_targets = 0
    for t in range(k):
        open_targets += mass[t] <= 0.0
    begin = start[node]
    stop = start[node + 1] if node + 1 < n_nodes else len(perm)
    while parent[node] >= 0 and open_targets > 0:
        up = parent[node]
        if right[up] == node:
            lo, hi = start[up], begin
            begin = lo
        else:
            lo, hi = stop, _end(right, start, parent, up, len(perm))
            stop = hi
        # targets open so far were seen nowhere below, so that the sibling's rows are all there is
        _add(perm, lo, hi, targets, seen, weight, False, sums, wider)
        for t in range(k):
            if mass[t] <= 0.0 and wider[t] > 0.0:
                out[leaf, t] = sums[t] / wider[t]
                mass[t] = 1.0
                open_targets -= 1
        node = up


@jit
def _end(right, start, parent, node, n_rows):
    """Where a node's rows end: at the next right sibling on the way up, or at the last row."""
    while parent[node] >= 0:
        up = parent[node]
        if right[up] != node:
            return start[right[up]]
        node = up
    return n_rows
