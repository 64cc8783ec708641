"""Score kernels: one number per label, labels of nearly equal numbers tied."""

import numpy as np

from moreplr._jit import jit

ROUNDING = 1e-9


@jit
def borda_scores(C, scores):
    """Expected number of labels that each label beats, a tie counting one half."""
    k = C.shape[0]
    for i in range(k):
        total = 0.0
        for j in range(k):
            if j != i:
                total += C[i, j]
        scores[i] = total


@jit
def copeland_scores(C, threshold, scores):
    """Number of labels beaten by more than `threshold`, nearer pairs counting one half."""
    k = C.shape[0]
    for i in range(k):
        total = 0.0
        for j in range(k):
            if j != i:
                margin = C[i, j] - C[j, i]
                if margin > threshold + ROUNDING:
                    total += 1.0
                elif margin >= -threshold - ROUNDING:
                    total += 0.5
        scores[i] = total


@jit
def descending(scores):
    """Labels by falling score, the lower index first among equals."""
    k = scores.shape[0]
    order = np.empty(k, np.int64)
    for i in range(k):
        position = i
        # Rounding must not decide between labels whose scores are the same sum.
        while position > 0 and scores[order[position - 1]] < scores[i] - ROUNDING:
            order[position] = order[position - 1]
            position -= 1
        order[position] = i
    return order


@jit
def score_rows(C, copeland, threshold, out):
    """Fill `out` with the dense ranks by Borda or Copeland scores.

    A bucket ends where the score falls by more than `threshold` from one label to the next
    (Borda), or where it falls at all (Copeland: the threshold has made near pairs a draw).
    """
    k = C.shape[1]
    scores = np.empty(k)
    step = 0.0 if copeland else threshold
    for row in range(C.shape[0]):
        if copeland:
            copeland_scores(C[row], threshold, scores)
        else:
            borda_scores(C[row], scores)
        order = descending(scores)
        rank = 1
        out[row, order[0]] = rank
        for position in range(1, k):
            fall = scores[order[position - 1]] - scores[order[position]]
            if fall > step + ROUNDING:
                rank += 1
            out[row, order[position]] = rank
