"""A bucket order with the gain of every single move.

The gain matrix `D` holds in `D[i, j]` what i strictly before j earns over a tie of the two.
For every label x and bucket b the state keeps two sums over the labels of b: what x earns in
front of them (`front`), and how much more it earns behind them (`step`). Walking a label
through the buckets then costs one addition per bucket. Buckets live in numbered slots, so that
opening one moves no sums. Loops stand where slices would do: they compile several times faster.
"""

from collections import namedtuple

import numpy as np

from moreplr._jit import jit

# Smaller gains, a millionth of a pair, are ignored: a search along them would hardly end.
EPSILON = 1e-6
# Typed, because numba compiles a function anew for every literal number it is called with.
ANY_PLACE = np.int64(-1)

# slot: of each label; slots: in order, the first count[0] in use; size: of each slot; stop: set
# from another thread to end the search
State = namedtuple("State", ["slot", "slots", "size", "count", "front", "step", "stop"])


@jit
def new_state(k, stop):
    """A state for k labels, to be filled by `load`."""
    return State(
        np.zeros(k, np.int64),
        np.zeros(k + 1, np.int64),
        np.zeros(k + 1, np.int64),
        np.zeros(1, np.int64),
        np.zeros((k, k + 1)),
        np.zeros((k, k + 1)),
        stop,
    )


@jit
def load(state, D, bucket, count):
    """Set the state to the bucket order in `bucket` (0 is best)."""
    k = D.shape[0]
    for b in range(k + 1):
        state.size[b] = 0
        state.slots[b] = b
        clear(state, b)
    state.count[0] = count
    for i in range(k):
        b = bucket[i]
        state.slot[i] = b
        state.size[b] += 1
        for x in range(k):
            state.front[x, b] += D[x, i]
            state.step[x, b] += D[i, x] - D[x, i]


@jit
def clear(state, slot):
    """Forget the sums of a slot."""
    for x in range(state.slot.shape[0]):
        state.front[x, slot] = 0.0
        state.step[x, slot] = 0.0


@jit
def copy(source, target):
    """Make `target` equal to `source`."""
    k = source.slot.shape[0]
    target.count[0] = source.count[0]
    for b in range(k + 1):
        target.slots[b] = source.slots[b]
        target.size[b] = source.size[b]
    for x in range(k):
        target.slot[x] = source.slot[x]
        for b in range(k + 1):
            target.front[x, b] = source.front[x, b]
            target.step[x, b] = source.step[x, b]


@jit
def unload(state, bucket):
    """Fill `bucket` with the place of each label's bucket, 0 for the best."""
    place_of = np.empty(state.slots.shape[0], np.int64)
    for place in range(state.count[0]):
        place_of[state.slots[place]] = place
    for i in range(bucket.shape[0]):
        bucket[i] = place_of[state.slot[i]]


@jit
def best_move(x, only, state, outward, limits):
    """Best other place for label x; return (gain over staying, where).

    `where` is 2p for a new bucket before the p-th, 2p + 1 for the p-th itself, and -1 when the
    limits leave x no other place. `only` fixes p unless it is ANY_PLACE. `outward[x]` is what x
    earns in front of all others.
    """
    n_buckets, rest, max_size = limits
    own = state.slot[x]
    count = state.count[0]
    if rest > 0:
        count -= 1
        if state.slots[count] == own:
            return 0.0, -1
    alone = state.size[own] == 1
    may_join = max_size > 1 and not (alone and n_buckets > 0)
    may_open = alone or n_buckets == 0
    # A label alone in its bucket opens nothing new on either side of it.
    barred = own if alone else -1
    previous = -2
    best = -np.inf
    stay = 0.0
    where = -1
    run = outward[x]
    for place in range(count):
        slot = state.slots[place]
        inside = run - state.front[x, slot]
        wanted = only < 0 or only == place
        if slot == own:
            stay = inside
        elif may_join and wanted and inside > best:
            best = inside
            where = 2 * place + 1
        if may_open and wanted and slot != barred and previous != barred and run > best:
            best = run
            where = 2 * place
        run += state.step[x, slot]
        previous = slot
    if may_open and (only < 0 or only == count) and previous != barred and run > best:
        best = run
        where = 2 * count
    return (best - stay, where) if where >= 0 else (0.0, -1)


@jit
def _open_slot(state, place):
    """Put an empty bucket at `place`; return its slot."""
    slot = 0
    while state.size[slot] > 0:
        slot += 1
    for p in range(state.count[0], place, -1):
        state.slots[p] = state.slots[p - 1]
    state.slots[place] = slot
    state.count[0] += 1
    clear(state, slot)
    return slot


@jit
def move(x, where, state, D):
    """Carry out a move in the code of `best_move`."""
    source = state.slot[x]
    target = state.slots[where // 2] if where % 2 == 1 else _open_slot(state, where // 2)
    relocate(x, target, state, D)
    if state.size[source] == 0:
        place = 0
        while state.slots[place] != source:
            place += 1
        state.count[0] -= 1
        for p in range(place, state.count[0]):
            state.slots[p] = state.slots[p + 1]


@jit
def relocate(x, target, state, D):
    """Move label x to another slot and keep the sums true."""
    source = state.slot[x]
    state.slot[x] = target
    state.size[source] -= 1
    state.size[target] += 1
    for i in range(D.shape[0]):
        front = D[i, x]
        step = D[x, i] - front
        state.front[i, source] -= front
        state.step[i, source] -= step
        state.front[i, target] += front
        state.step[i, target] += step
