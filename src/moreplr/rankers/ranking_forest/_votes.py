"""Count the votes of leaf members: on pairs of labels, and on the positions of single labels.

Votes are whole numbers of 2⁻³⁰ of a forest's weight, and rankings are small integers. So sums are
exact, in whatever order, and the compiler compares and adds many labels at a time. Members are
given as in :mod:`moreplr.rankers._counts`.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit

UNIT = 1 << 30
"""The votes of a forest for one row: those of three forests have room in 32 bits."""
LANES = 16
"""Loops over the columns of rankings are the fastest for a multiple of these."""
_AT_ONCE = 4  # members are counted so many at a time: sums are stored less often
_NONE = np.int32(0)


@jit
def add_votes(
    codes, places, complete, first, last, indptr, indices, weights, before, tied, after, positions
):
    """Add the members' votes on labels `first` to `last` - 1: a single one, or all.

    A single label is compared with all others; of all labels, each pair is compared once.

    Parameters
    ----------
    codes : int16 array (n_rankings, n_labels or more)
        Ranks from 0, -1 for a label that is not ranked and beyond the labels.
    places : int16 array (n_labels, n_rankings)
        Positions from 0, -1 for those not ranked.
    complete : whether every ranking ranks all labels
    before, tied, after : uint32 arrays (n, n_labels, n_labels)
        Votes for label i before j, tied with it, and after it. Those on a pair are of i and j
        and of j and i: a forest adds to one line of each array for each label. Diagonals mean
        nothing.
    positions : uint32 array (n, n_labels, n_places)
        Votes for label i at place p.
    """
    rows = np.zeros(len(codes) + _AT_ONCE, np.uint64)
    votes, own = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)
    counts = np.empty((3, codes.shape[1]), np.int32)
    for r in range(len(indptr) - 1):
        n = indptr[r + 1] - indptr[r]
        for m in range(n):
            rows[m] = indices[indptr[r] + m]
            votes[m] = np.int32(np.rint(UNIT * np.float64(weights[indptr[r] + m])))
        own[n : n + _AT_ONCE] = 0
        for label in range(first, last):
            total = _place(places[label], rows, votes, n, own, positions[r, label])
            others = before.shape[1] if last - first == 1 else label
            width = min(-(-others // LANES) * LANES, codes.shape[1])
            counts[:, :width] = 0
            _count_relations(codes, label, rows, own, n, width, counts[0], counts[1])
            if complete:
                counts[2, :width] = total
            else:
                _count_ranked(codes, rows, own, n, width, counts[2])
            for j in range(others):
                before[r, label, j] += counts[0, j]
                tied[r, label, j] += counts[1, j]
                after[r, label, j] += counts[2, j] - counts[0, j] - counts[1, j]


@inlined
def _place(places, rows, votes, n, own, positions):
    """Count votes for the places of a label, note who ranks it, and give the votes of these."""
    total = 0
    for m in range(n):
        place = places[rows[m]]
        own[m] = _if(place >= 0, votes[m])
        positions[max(place, 0)] += own[m]
        total += own[m]
    return total


@inlined
def _count_relations(codes, label, rows, votes, n, width, before, tied):
    """Count the votes for a label before each of the first `width` ones, and for ties."""
    for m in range(0, n, _AT_ONCE):
        a, b, c, d = codes[rows[m]], codes[rows[m + 1]], codes[rows[m + 2]], codes[rows[m + 3]]
        of_a, of_b, of_c, of_d = votes[m], votes[m + 1], votes[m + 2], votes[m + 3]
        own_a, own_b, own_c, own_d = a[label], b[label], c[label], d[label]
        for j in range(width):
            before[j] += (_if(own_a < a[j], of_a) + _if(own_b < b[j], of_b)) + (
                _if(own_c < c[j], of_c) + _if(own_d < d[j], of_d)
            )
            tied[j] += (_if(own_a == a[j], of_a) + _if(own_b == b[j], of_b)) + (
                _if(own_c == c[j], of_c) + _if(own_d == d[j], of_d)
            )


@inlined
def _count_ranked(codes, rows, votes, n, width, ranked):
    """Count the votes of members that rank each of the first `width` labels."""
    for m in range(0, n, _AT_ONCE):
        a, b, c, d = codes[rows[m]], codes[rows[m + 1]], codes[rows[m + 2]], codes[rows[m + 3]]
        of_a, of_b, of_c, of_d = votes[m], votes[m + 1], votes[m + 2], votes[m + 3]
        for j in range(width):
            ranked[j] += (_if(a[j] >= 0, of_a) + _if(b[j] >= 0, of_b)) + (
                _if(c[j] >= 0, of_c) + _if(d[j] >= 0, of_d)
            )


@inlined
def _if(condition, votes):
    """Without a branch, so that many labels are compared at a time."""
    return votes if condition else _NONE
