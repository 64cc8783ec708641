"""Score kernels: one number per label, labels of nearly equal numbers tied."""

import numpy as np
from numba import njit

ROUNDING = 1e-9


@njit(cache=True, nogil=True)
def borda_scores(C, scores):
    """Expected number of labels that each label beats, a tie counting one half."""
    k = C.shape[0]
    for i in range(k):
        total = 0.0
        for j in range(k):
            if j != i:
                total += C[i, j]
        scores[i] = total


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def score_rows(C, copeland, threshold, out):
    """Fill `out` with the dense ranks by Borda or Copeland scores.

    A bucket takes labels down to `threshold` below its best one (Borda), or of equal score
    (Copeland, where the threshold has already made near pairs a draw).
    """
    k = C.shape[1]
    scores = np.empty(k)
    width = 0.0 if copeland else threshold
    for row in range(C.shape[0]):
        if copeland:
            copeland_scores(C[row], threshold, scores)
        else:
            borda_scores(C[row], scores)
        order = descending(scores)
        rank = 1
        best = scores[order[0]]
        for position in range(k):
            label = order[position]
            if scores[label] < best - width - ROUNDING:
                rank += 1
                best = scores[label]
            out[row, label] = rank
