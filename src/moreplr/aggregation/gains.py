"""The one form of both objectives: what i strictly before j earns over a tie of the two.

Let `D[i, j]` be that gain. A bucket order is then worth a constant, the value of tying all
labels, plus the sum of `D[i, j]` over all pairs in which i stands strictly before j. Every
solver maximises this sum and knows nothing else of the objective. Matrices come with zeros on
their diagonals, and so do the gains.
"""

import numpy as np
from numpy.typing import NDArray

Stack = NDArray[np.float64]


def l1_gains(C: Stack) -> Stack:
    """Gains for the L1 distance between a bucket order's matrix and C.

    The bucket order's matrix has 1, ½ and 0 for before, tied and after. A pair costs
    2(1 - C_ij) when i stands before j and 2|C_ij - ½| when they are tied, so the step from the
    tie to i before j gains 4 C_ij - 3 where C_ij is at least ½ and loses 1 elsewhere.
    """
    D = np.maximum(4.0 * C - 3.0, -1.0)
    labels = np.arange(C.shape[1])
    D[:, labels, labels] = 0.0
    return D


def tau_x_gains(C: Stack, Q: Stack) -> Stack:
    """Gains for the expected τ_X, with C_ij = P(i≻j) + ½P(i∼j) and Q_ij = P(i∼j).

    A pair adds 1 to τ_X when the truth agrees, a tie with a tie included, -1 when the truth is
    opposite, and 0 when only one of the two is a tie. Tying i and j is thus worth Q_ij, and
    putting i before j is worth P(i≻j) - P(j≻i) = C_ij - C_ji.
    """
    return C - C.swapaxes(1, 2) - Q
