"""Count the votes of the training rankings in leaves, on pairs of labels and on positions.

Votes are integers, in units of 2⁻³⁰ of a forest's weight, and rankings are small integers. So sums
are exact in any order, and the compiler compares and adds many labels at a time. The rankings in
the leaves of a row are given as in :mod:`moreplr.rankers._counts`.
"""

from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit

UNIT = 1 << 30
"""All votes of a forest for one row. The votes of three forests fit into 32 bits."""
LANES = 16
"""Loops over the columns of rankings are fastest for a multiple of this."""
_AT_ONCE = 4  # rankings counted at a time, so that sums are stored less often
_NONE = np.int32(0)


@jit
def add_votes(
    codes, places, complete, first, last, indptr, indices, weights, before, tied, after, positions
):
    """Add the votes on labels `first` to `last` - 1: a single label, or all.

    A single label is compared with all others. With all labels, each pair is compared once.

    Parameters
    ----------
    codes : int16 array (n_rankings, n_labels or more)
        Ranks from 0; -1 for a label that is not ranked, and in the columns that are added.
    places : int16 array (n_labels, n_rankings)
        Positions from 0; -1 for a label that is not ranked.
    complete : whether every ranking ranks all labels
    first, last : the first label, and the one after the last
    indptr, indices, weights : the rankings of each row and their weights, see `_counts`
    before, tied, after : uint32 arrays (n, n_labels, n_labels)
        Votes for label i before j, tied with it, and after it. The votes on a pair are spread over
        (i, j) and (j, i), since each label adds to its own row of the arrays. Diagonals are
        not used.
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
    """Count the votes for the places of a label and return their sum.

    Parameters
    ----------
    places : int16 array (n_rankings,), the label's position in each ranking
    rows, votes : the rankings of a row and their votes
    n : how many they are
    own : int32 array, to which the votes of rankings with the label are written, 0 for others
    positions : uint32 array (n_places,), to which votes are added
    """
    total = 0
    for m in range(n):
        place = places[rows[m]]
        own[m] = _if(place >= 0, votes[m])
        positions[max(place, 0)] += own[m]
        total += own[m]
    return total


@inlined
def _count_relations(codes, label, rows, votes, n, width, before, tied):
    """Count the votes for `label` before each of the first `width` labels, and for ties.

    `rows` are the numbers of n rankings in `codes`, and `votes` their votes. Counts are added to
    `before` and `tied`.
    """
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
    """Add the votes of the rankings with each of the first `width` labels to `ranked`.

    The other arguments are those of `_count_relations`.
    """
    for m in range(0, n, _AT_ONCE):
        a, b, c, d = codes[rows[m]], codes[rows[m + 1]], codes[rows[m + 2]], codes[rows[m + 3]]
        of_a, of_b, of_c, of_d = votes[m], votes[m + 1], votes[m + 2], votes[m + 3]
        for j in range(width):
            ranked[j] += (_if(a[j] >= 0, of_a) + _if(b[j] >= 0, of_b)) + (
                _if(c[j] >= 0, of_c) + _if(d[j] >= 0, of_d)
            )


@inlined
def _if(condition, votes):
    """`votes` or 0, without a branch, so that many labels are compared at a time."""
    return votes if condition else _NONE
