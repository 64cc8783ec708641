"""Bucket pivot kernels: split the labels around a pivot, then split both sides again."""

import numpy as np

from moreplr._jit import jit

FIXED_LOW = 0.25
FIXED_HIGH = 0.75


@jit
def indecision(C):
    """Mean distance of each label's row to the nearest of 0, ½ and 1, by the ¼ and ¾ limits.

    It is taken once over all labels, also when the pivot is sought among a few of them.
    """
    k = C.shape[0]
    result = np.zeros(k)
    for i in range(k):
        for j in range(k):
            if i != j:
                utopia = 0.5
                if C[i, j] > FIXED_HIGH:
                    utopia = 1.0
                elif C[i, j] < FIXED_LOW:
                    utopia = 0.0
                result[i] += abs(C[i, j] - utopia)
        result[i] /= max(k - 1, 1)
    return result


@jit
def _distribute(C, items, n_items, central, n_central, grow, beta, before, after):
    """Send each item before, after or into the central bucket; return the three sizes.

    With `grow`, an item is compared with all that the central bucket holds by then,
    otherwise with the pivot alone.
    """
    n_before = 0
    n_after = 0
    for position in range(n_items):
        item = items[position]
        total = 0.0
        n_compared = n_central if grow else 1
        for member in range(n_compared):
            total += C[central[member], item]
        mean = total / n_compared
        if mean < 0.5 - beta:
            before[n_before] = item
            n_before += 1
        elif mean > 0.5 + beta:
            after[n_after] = item
            n_after += 1
        else:
            central[n_central] = item
            n_central += 1
    return n_before, n_central, n_after


@jit
def _append(target, start, source, n):
    """Copy the first n of `source` into `target` from `start` on; return the end."""
    for position in range(n):
        target[start + position] = source[position]
    return start + n


@jit
def _pick(order, low, high, doubt, draws, n_drawn):
    """Position of the pivot: drawn, or else of least indecision, the first among equals."""
    if draws.size > 0:
        return low + int(draws[n_drawn] * (high - low))
    best = low
    for position in range(low + 1, high):
        if doubt[order[position]] < doubt[order[best]]:
            best = position
    return best


@jit
def pivot_order(C, draws, grow, second_pass, beta, opens):
    """Order the labels by recursive pivoting; `opens[p]` is true where a bucket starts.

    `draws` are numbers in [0, 1) for random pivots; when it is empty, the pivot is the label of
    least indecision.
    """
    k = C.shape[0]
    order = np.arange(k)
    doubt = indecision(C)
    items = np.empty(k, np.int64)
    central = np.empty(k, np.int64)
    before = np.empty(k, np.int64)
    after = np.empty(k, np.int64)
    lows = np.empty(k + 1, np.int64)
    highs = np.empty(k + 1, np.int64)
    lows[0], highs[0] = 0, k
    depth = 1
    n_pivots = np.int64(0)
    while depth > 0:
        depth -= 1
        low, high = lows[depth], highs[depth]
        pivot_at = _pick(order, low, high, doubt, draws, n_pivots)
        n_pivots += 1
        central[0] = order[pivot_at]
        for position in range(low, high):
            opens[position] = False
            if position != pivot_at:
                items[position - low - (position > pivot_at)] = order[position]
        n_before, n_central, n_after = _distribute(
            C, items, high - low - 1, central, np.int64(1), grow, beta, before, after
        )
        if second_pass:
            n_items = _append(items, _append(items, np.int64(0), before, n_before), after, n_after)
            n_before, n_central, n_after = _distribute(
                C, items, n_items, central, n_central, grow, beta, before, after
            )
        start = _append(order, low, before, n_before)
        stop = _append(order, start, central, n_central)
        _append(order, stop, after, n_after)
        opens[start] = True
        if n_before > 0:
            lows[depth], highs[depth] = low, start
            depth += 1
        if n_after > 0:
            lows[depth], highs[depth] = stop, high
            depth += 1
    return order


@jit
def pivot_rows(C, draws, grow, second_pass, beta, out):
    """Fill `out` with the dense ranks of each matrix of the stack."""
    k = C.shape[1]
    opens = np.empty(k, np.bool_)
    for row in range(C.shape[0]):
        order = pivot_order(C[row], draws[row], grow, second_pass, beta, opens)
        rank = 0
        for position in range(k):
            if opens[position]:
                rank += 1
            out[row, order[position]] = rank
