"""The best cut of a given order into consecutive buckets, by dynamic programming."""

import numpy as np

from moreplr._jit import jit

from ._scores import borda_scores, descending

EPSILON = 1e-12


@jit
def cut(order, D, limits, bucket, stop):
    """Cut `order` for the greatest gain; fill `bucket` and return (gain, number of buckets).

    `D[i, j]` is the gain of i strictly before j over a tie, so a segment that follows a prefix
    earns the sum of `D` from the prefix to it. `limits` are the number of buckets and the size
    of the last one, both free when 0, and the largest size of all but such a last one. With
    `stop[0]` set the result is invalid.
    """
    k = order.shape[0]
    n_buckets, rest, max_size = limits
    step = 1 if n_buckets > 0 else 0
    value = np.full((n_buckets + 1, k + 1), -np.inf)
    previous = np.zeros((n_buckets + 1, k + 1), np.int64)
    value[0, 0] = 0.0
    top = k - rest
    column = np.zeros(k)
    for i in range(k):
        if stop[0]:
            break
        last = min(top, i + max_size) if i < top else k
        first = i + 1 if i < top else k
        for used in range(n_buckets + 1 - step):
            run = value[used, i]
            if run == -np.inf:
                continue
            for j in range(i + 1, last + 1):
                run += column[j - 1]
                if j >= first and run > value[used + step, j] + EPSILON:
                    value[used + step, j] = run
                    previous[used + step, j] = i
        for j in range(i + 1, k):
            column[j] += D[order[i], order[j]]
    return value[n_buckets, k], _read_back(order, previous, n_buckets, step, bucket)


@jit
def _read_back(order, previous, used, step, bucket):
    """Number the segments from the back pointers; return how many there are."""
    k = order.shape[0]
    count = 0
    end = k
    while end > 0:
        start = previous[used, end]
        for position in range(start, end):
            bucket[order[position]] = count
        count += 1
        end = start
        used -= step
    for label in range(k):
        bucket[label] = count - 1 - bucket[label]
    return count


@jit
def segment_rows(C, D, limits, stop, out):
    """Fill `out` with the best cut of each row's Borda order."""
    k = C.shape[1]
    scores = np.empty(k)
    bucket = np.empty(k, np.int64)
    for row in range(C.shape[0]):
        borda_scores(C[row], scores)
        cut(descending(scores), D[row], limits, bucket, stop)
        for label in range(k):
            out[row, label] = bucket[label] + 1
