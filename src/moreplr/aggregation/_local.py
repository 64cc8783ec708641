"""Local search: a few start orders, cut, then moved label by label and bucket by bucket."""

import numpy as np

from moreplr._jit import jit

from ._pivot import pivot_order
from ._scores import borda_scores, descending
from ._segments import cut
from ._state import ANY_PLACE, EPSILON, best_move, copy, load, move, new_state, relocate, unload

N_STARTS = 3
# There are about k² kicks of k² steps each: small problems get all, large ones a few.
KICK_BUDGET = 2_500_000
PUBLISHED_BETA = 0.25
# More than any search was seen to need; the bound ends the search on odd input.
MOST_MOVES = 100
MOST_ROUNDS = 1_000


@jit
def descend(state, D, outward, limits):
    """Move single labels to their best place until none gains; return the gain."""
    k = D.shape[0]
    total = 0.0
    idle = 0
    moves = 0
    while idle < k and moves < MOST_MOVES * k:
        for x in range(k):
            if state.stop[0]:
                return total
            gain, where = best_move(x, ANY_PLACE, state, outward, limits)
            idle += 1
            if gain > EPSILON:
                move(x, where, state, D)
                total += gain
                idle = 0
                moves += 1
            elif idle >= k:
                break
    return total


@jit
def descend_buckets(state, D, limits, bucket):
    """Move and merge whole buckets: the same search with the buckets as its labels."""
    k = D.shape[0]
    count = state.count[0]
    if count < 2 or limits[2] == 1:
        return 0.0
    unload(state, bucket)
    joint = np.zeros((count, count))
    outward = np.zeros(count)
    for i in range(k):
        for b in range(count):
            if b != bucket[i]:
                gain = state.front[i, state.slots[b]]
                joint[bucket[i], b] += gain
                outward[bucket[i]] += gain
    outer = new_state(count, state.stop)
    load(outer, joint, np.arange(count), count)
    total = descend(outer, joint, outward, limits)
    if total > 0.0:
        merged = np.empty(count, np.int64)
        unload(outer, merged)
        for i in range(k):
            bucket[i] = merged[bucket[i]]
        load(state, D, bucket, outer.count[0])
    return total


@jit
def flatten(D, bucket):
    """Order of the labels by bucket, inside a bucket by the net gain over its other members."""
    k = D.shape[0]
    net = np.zeros(k)
    order = np.empty(k, np.int64)
    for x in range(k):
        for y in range(x):
            if bucket[x] == bucket[y]:
                net[x] += D[x, y] - D[y, x]
                net[y] += D[y, x] - D[x, y]
    for x in range(k):
        position = x
        while position > 0:
            y = order[position - 1]
            if bucket[y] < bucket[x] or (bucket[y] == bucket[x] and net[y] >= net[x]):
                break
            order[position] = y
            position -= 1
        order[position] = x
    return order


@jit
def worth(D, bucket):
    """Gain of a bucket order over the one that ties all labels."""
    total = 0.0
    for i in range(D.shape[0]):
        for j in range(D.shape[0]):
            if bucket[i] < bucket[j]:
                total += D[i, j]
    return total


@jit
def recut(state, D, limits, bucket):
    """Cut the present order of the labels anew where that gains; return the gain."""
    unload(state, bucket)
    now = worth(D, bucket)
    value, count = cut(flatten(D, bucket), D, limits, bucket, state.stop)
    if value <= now + EPSILON:
        return 0.0
    load(state, D, bucket, count)
    return value - now


@jit
def exchange(state, D, outward):
    """Swap the two labels of different buckets that gain most by it; return the gain."""
    k = D.shape[0]
    inside = np.empty(state.front.shape)
    for x in range(k):
        run = outward[x]
        for place in range(state.count[0]):
            slot = state.slots[place]
            inside[x, slot] = run - state.front[x, slot]
            run += state.step[x, slot]
    best = EPSILON
    left = right = k
    for x in range(k):
        for y in range(x):
            a, b = state.slot[x], state.slot[y]
            if a != b:
                gain = inside[x, b] - inside[x, a] + inside[y, a] - inside[y, b]
                # Each gain assumes that the other label stays, so that both would be tied.
                gain += D[x, y] + D[y, x]
                if gain > best:
                    best = gain
                    left, right = x, y
    if left == k:
        return 0.0
    a, b = state.slot[left], state.slot[right]
    relocate(left, b, state, D)
    relocate(right, a, state, D)
    return best


@jit
def improve(state, D, outward, limits, bucket):
    """All neighbourhoods in turn until none gains; return the gain.

    The state has been through `descend`.
    """
    total = 0.0
    for _ in range(MOST_ROUNDS):
        if state.stop[0]:
            break
        gain = descend_buckets(state, D, limits, bucket)
        if gain <= 0.0:
            gain = recut(state, D, limits, bucket)
        if gain <= 0.0:
            gain = exchange(state, D, outward)
        if gain <= 0.0:
            break
        total += gain + descend(state, D, outward, limits)
    return total


@jit
def ceiling(D, limits):
    """No bucket order gains more: every pair for itself at its best."""
    strict = limits[2] == 1 and limits[1] <= 1
    total = 0.0
    for i in range(D.shape[0]):
        for j in range(i):
            best = max(D[i, j], D[j, i])
            total += best if strict else max(best, 0.0)
    return total


@jit
def start_order(which, C):
    """The labels by Borda score (0), by single pivots (1) or by many pivots (2)."""
    k = C.shape[0]
    if which == 0:
        scores = np.empty(k)
        borda_scores(C, scores)
        return descending(scores)
    many = which == 2
    return pivot_order(C, np.empty(0), many, many, PUBLISHED_BETA, np.empty(k, np.bool_))


@jit
def kick(x, where, state, D, outward, limits):
    """Force label x elsewhere, then move the others, then all; return the gain after that."""
    total = 0.0
    move(x, where, state, D)
    others_moved = False
    for y in range(D.shape[0]):
        if y != x:
            gain, where = best_move(y, ANY_PLACE, state, outward, limits)
            if gain > EPSILON:
                move(y, where, state, D)
                total += gain
                others_moved = True
    # If no other label moves, x would only go back.
    return total + descend(state, D, outward, limits) if others_moved else total


@jit
def row_sums(D):
    """What each label earns in front of all others."""
    k = D.shape[0]
    sums = np.zeros(k)
    for i in range(k):
        for j in range(k):
            sums[i] += D[i, j]
    return sums


@jit
def search(C, D, limits, n_kicks, trial, best, bucket):
    """Leave the best bucket order found in `bucket`; return its gain.

    `trial` and `best` are states to work in. Every start is cut at its best, so the result is
    never worse than any of the start methods.
    """
    outward = row_sums(D)
    enough = ceiling(D, limits) - EPSILON
    top = -np.inf
    for which in range(N_STARTS):
        if trial.stop[0]:
            return top
        value, count = cut(start_order(which, C), D, limits, bucket, trial.stop)
        load(trial, D, bucket, count)
        value += descend(trial, D, outward, limits)
        # Most starts end in the same order: equal gain means that it was seen before.
        if abs(value - top) > EPSILON:
            value += improve(trial, D, outward, limits, bucket)
        if value > top + EPSILON:
            top = value
            copy(trial, best)
        if top >= enough or trial.stop[0]:
            break
    if top < enough:
        top = shake(top, enough, D, outward, limits, n_kicks, trial, best, bucket)
    unload(best, bucket)
    return top


@jit
def shake(top, enough, D, outward, limits, n_kicks, trial, best, bucket):
    """Kick the labels one by one out of the local optimum; return the gain of the new one.

    At first each label goes to its best other place, then to every place there is.
    """
    k = D.shape[0]
    attempt = 0
    while attempt < k * (best.count[0] + 2) and n_kicks > 0 and top < enough:
        if trial.stop[0]:
            break
        x = attempt % k
        loss, where = best_move(x, attempt // k - 1, best, outward, limits)
        attempt += 1
        if where < 0:
            continue
        n_kicks -= 1
        copy(best, trial)
        value = top + loss + kick(x, where, trial, D, outward, limits)
        if value > top + EPSILON:
            top = value + improve(trial, D, outward, limits, bucket)
            copy(trial, best)
            attempt = 0
    return top


@jit
def local_rows(C, D, limits, n_kicks, stop, out):
    """Fill `out` with the dense ranks found for each row; return their gains.

    It returns soon after another thread sets `stop[0]`; its result is invalid then.
    """
    n, k = out.shape
    trial = new_state(k, stop)
    best = new_state(k, stop)
    bucket = np.empty(k, np.int64)
    gains = np.empty(n)
    for row in range(n):
        if stop[0]:
            break
        gains[row] = search(C[row], D[row], limits, n_kicks, trial, best, bucket)
        for label in range(k):
            out[row, label] = bucket[label] + 1
    return gains
