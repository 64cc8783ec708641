"""The best bucket order of all, by dynamic programming over the subsets of labels."""

import numpy as np

from moreplr._jit import jit

from ._state import EPSILON


@jit
def outlook(D, strict):
    """For every set of labels placed so far, the most that the rest can still add.

    That is the gain between the set and its complement, which is certain, and every pair of
    the complement at its best.
    """
    k = D.shape[0]
    full = 1 << k
    across = np.zeros(full)
    inside = np.zeros(full)
    both = np.zeros(full)
    peak = np.zeros(full)
    for t in range(k):
        top = 1 << t
        outward = 0.0
        for j in range(k):
            outward += D[t, j]
        for j in range(t):
            there = 1 << j
            pair = D[t, j] + D[j, t]
            ideal = max(D[t, j], D[j, t])
            if not strict and ideal < 0.0:
                ideal = 0.0
            for s in range(there):
                both[there + s] = both[s] + pair
                peak[there + s] = peak[s] + ideal
        for s in range(top):
            across[top + s] = across[s] + outward - both[s]
            inside[top + s] = inside[s] + peak[s]
    for s in range(full):
        across[s] += inside[full - 1 - s]
    return across


@jit
def members(n_bits):
    """Number of labels in each set."""
    counts = np.zeros(1 << n_bits, np.int64)
    for t in range(n_bits):
        for s in range(1 << t):
            counts[(1 << t) + s] = counts[s] + 1
    return counts


@jit
def next_buckets(placed, D, masks, gains):
    """List the sets of labels that may follow the placed ones; return the number of labels.

    A bucket earns what the placed labels earn in front of it, a sum over its members.
    """
    k = D.shape[0]
    n_free = 0
    for j in range(k):
        if placed >> j & 1 == 0:
            gain = 0.0
            for i in range(k):
                if placed >> i & 1:
                    gain += D[i, j]
            half = 1 << n_free
            for s in range(half):
                masks[half + s] = masks[s] | 1 << j
                gains[half + s] = gains[s] + gain
            n_free += 1
    return n_free


@jit
def solve(D, limits, floor, ahead, counts, bucket):
    """Replace `bucket`, whose gain is `floor`, by a better bucket order if there is one.

    A set of placed labels whose outlook cannot beat the floor is not followed any further.
    """
    k = D.shape[0]
    n_buckets, rest, max_size = limits
    full = (1 << k) - 1
    step = 1 if n_buckets > 0 else 0
    value = np.full((n_buckets + 1, full + 1), -np.inf)
    previous = np.zeros((n_buckets + 1, full + 1), np.int64)
    masks = np.zeros(full + 1, np.int64)
    gains = np.zeros(full + 1)
    value[0, 0] = 0.0
    top = k - rest
    for used in range(n_buckets + 1 - step):
        # Enough labels must be left for the buckets still to come.
        most = min(top, k - max(n_buckets - used - 1, 0))
        last = used == n_buckets - 1
        for placed in range(full):
            here = value[used, placed]
            final = counts[placed] == top or (last and rest == 0)
            if here + ahead[placed] <= floor + EPSILON or (last and not final):
                continue
            everything = (1 << next_buckets(placed, D, masks, gains)) - 1
            for s in range(everything if final else 1, everything + 1):
                if not final and (counts[s] > max_size or counts[placed] + counts[s] > most):
                    continue
                after = placed | masks[s]
                if here + gains[s] > value[used + step, after]:
                    value[used + step, after] = here + gains[s]
                    previous[used + step, after] = placed
    if value[n_buckets, full] > floor + EPSILON:
        read_back(previous, n_buckets, step, full, bucket)


@jit
def read_back(previous, used, step, full, bucket):
    """Number the buckets from the back pointers."""
    k = bucket.shape[0]
    count = 0
    stop = full
    while stop > 0:
        start = previous[used, stop]
        for label in range(k):
            if (stop & ~start) >> label & 1:
                bucket[label] = count
        count += 1
        stop = start
        used -= step
    for label in range(k):
        bucket[label] = count - 1 - bucket[label]


@jit
def exact_rows(D, limits, floors, out):
    """Replace the bucket orders in `out`, whose gains are `floors`, by optimal ones."""
    n, k = out.shape
    counts = members(k)
    bucket = np.empty(k, np.int64)
    strict = limits[2] == 1 and limits[1] <= 1
    for row in range(n):
        ahead = outlook(D[row], strict)
        if ahead[0] > floors[row] + EPSILON:
            for label in range(k):
                bucket[label] = int(out[row, label]) - 1
            solve(D[row], limits, floors[row], ahead, counts, bucket)
            for label in range(k):
                out[row, label] = bucket[label] + 1
