"""From pairwise preferences to bucket orders: the functions that users call."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from moreplr._stopping import stoppable
from moreplr._types import AnyArray
from moreplr._validation import check_name

from ._exact import exact_rows
from ._local import KICK_BUDGET, local_rows
from ._pivot import pivot_rows
from ._scores import score_rows
from ._segments import segment_rows
from .gains import Stack, l1_gains, tau_x_gains
from .validation import (
    Limits,
    Origin,
    as_stack,
    bucket_limits,
    check_number,
    check_pair_order,
    check_same_shape,
    check_three_way,
    check_tie_share,
    check_ties,
)

OBJECTIVES = ("tau_x", "l1")
OPTIMISERS = ("auto", "exact", "local", "segments")
HEURISTICS = ("bpa", "bpa_lia", "bpa_lia_mp2", "published", "borda", "copeland")
METHODS = OPTIMISERS + HEURISTICS

# "auto" depends on the number of labels only, so that a row's result does not depend on others.
EXACT_LABELS = 12
# Small enough that a block's matrices stay in cache, large enough to hide the call.
BLOCK_CELLS = 1 << 17

Prepare = Callable[[slice], tuple[Stack, Stack]]


@dataclass(frozen=True)
class _Solver:
    method: str
    limits: Limits
    beta: float
    threshold: float
    random_state: RandomState

    def fill(self, C: Stack, D: Stack, stop: NDArray[np.uint8], out: Stack) -> None:
        """Write the bucket orders of a block of rows into `out`, unless it is to stop."""
        method = self.method
        n, k = out.shape
        if method == "exact":
            # With a good bucket order as a bound, the exact solver has far less to do.
            exact_rows(D, self.limits, local_rows(C, D, self.limits, 0, stop, out), out)
        elif method == "local":
            local_rows(C, D, self.limits, KICK_BUDGET // k**4, stop, out)
        elif method == "segments":
            segment_rows(C, D, self.limits, stop, out)
        elif method in ("borda", "copeland"):
            score_rows(C, method == "copeland", self.threshold, out)
        else:
            draws = self.random_state.random_sample((n, k if method == "bpa" else 0))
            many = method == "bpa_lia_mp2"
            pivot_rows(C, draws, many, many, self.beta, out)


def aggregate(
    C: ArrayLike,
    method: str = "auto",
    objective: str = "l1",
    *,
    ties: ArrayLike | None = None,
    n_buckets: int | None = None,
    top: int | None = None,
    total_order: bool = False,
    beta: float = 0.25,
    threshold: float = 0.5,
    random_state: int | RandomState | None = None,
) -> NDArray[np.float64]:
    """Turn pair order matrices into bucket orders.

    Parameters
    ----------
    C : array-like of shape (k, k) or (n, k, k)
        Pair order matrices: C_ij = P(i≻j) + ½P(i∼j), so that C_ij + C_ji = 1. Diagonals are
        not looked at.
    method : str, default="auto"
        Solvers of the objective, which take all options below:

        - "exact": the best bucket order of all, for at most 12 labels.
        - "local": local search from several starts, never worse than "bpa_lia",
          "bpa_lia_mp2" or "segments".
        - "segments": the labels in the order of their Borda scores, with the best cut.
        - "auto": "exact" up to 12 labels, "local" beyond.

        Heuristics, which look at C alone and take no bucket options:

        - "bpa": bucket pivot algorithm with random pivots.
        - "bpa_lia": the same with the pivot of least indecision.
        - "bpa_lia_mp2", or "published": the same comparing with all labels of the central
          bucket, in two passes; what the published experiments used.
        - "borda", "copeland": labels of nearly equal score are tied; see `threshold`.
    objective : {"l1", "tau_x"}, default="l1"
        "l1" is the least sum of ``|B_ij - C_ij|`` over all i and j, where B has 1, ½ and 0 for
        before, tied and after: the optimal bucket order problem. "tau_x" is the greatest
        expected τ_X and needs `ties`.
    ties : array-like of the shape of C, default=None
        P(i∼j) for objective "tau_x".
    n_buckets : int, default=None
        Return exactly this many buckets.
    top : int, default=None
        Resolve only this many labels: the last bucket holds exactly the other k - top labels,
        and the choice and the order of the first ones is the best under that condition.
    total_order : bool, default=False
        Return no ties, but for the last bucket of `top`.
    beta : float, default=0.25
        For the bucket pivot methods: a label joins the central bucket when its mean preference
        is within `beta` of ½.
    threshold : float, default=0.5
        For "borda": a new bucket starts where the expected number of labels beaten falls by
        more than this from one label to the next. For "copeland": a pair with
        ``|C_ij - C_ji|`` up to `threshold` is a draw, and labels with equal numbers of wins are
        tied.
    random_state : int, RandomState or None, default=None
        Draws the pivots of "bpa"; all other methods are deterministic.

    Returns
    -------
    ndarray of shape (k,) or (n, k)
        Dense ranks: 1 for the best bucket, equal for tied labels.

    Notes
    -----
    Among equally good bucket orders the answer is one of them, always the same. Rows are
    solved one by one, so the answer for a row does not depend on the others ("bpa" apart), and
    threads may share the rows: the kernels release the GIL.

    References
    ----------
    Ukkonen, Puolamäki, Gionis and Mannila (2009), "A randomized approximation algorithm for
    computing bucket orders"; Aledo, Gámez and Rosete (2017), "Utopia in the solution of the
    bucket order problem" (least indecision, many pivots, two passes); Wang, Alfaro and Bengs
    (2025), "A comparative analysis of rank aggregation methods for the partial label ranking
    problem" (Borda and Copeland with ties).

    Examples
    --------
    >>> from moreplr.aggregation import aggregate
    >>> C = [[0.5, 0.9, 0.8], [0.1, 0.5, 0.6], [0.2, 0.4, 0.5]]
    >>> aggregate(C)
    array([1., 2., 2.])
    >>> aggregate(C, total_order=True)
    array([1., 2., 3.])
    """
    check_name("objective", objective, OBJECTIVES)
    check_name("method", method, METHODS)
    check_number(beta, "beta", 0.0, 0.5)
    check_number(threshold, "threshold", 0.0, inf)
    stack, single = as_stack(C, "C")
    if objective == "l1" and ties is not None:
        raise ValueError("ties is for objective='tau_x': the L1 distance depends on C alone")
    if objective == "tau_x" and ties is None:
        raise ValueError("objective='tau_x' needs ties, the probabilities of i and j tied")
    tied = None if ties is None else as_stack(ties, "ties")[0]
    if ties is not None:
        check_same_shape(C, ties, "C and ties")

    def prepare(rows: slice) -> tuple[Stack, Stack]:
        origin, block = Origin(rows.start, single), _block(stack, rows)
        check_pair_order(block, origin)
        if tied is None:
            return block, l1_gains(block)
        Q = _block(tied, rows)
        check_ties(Q, "ties", origin)
        check_tie_share(block, Q, origin)
        return block, tau_x_gains(block, Q)

    solver = _plan(
        stack.shape[1], method, n_buckets, top, total_order, beta, threshold, random_state
    )
    ranks = _decode(stack.shape[:2], prepare, solver)
    return ranks[0] if single else ranks


def expected_tau(
    P: ArrayLike,
    Q: ArrayLike,
    method: str = "auto",
    *,
    n_buckets: int | None = None,
    top: int | None = None,
    total_order: bool = False,
    random_state: int | RandomState | None = None,
) -> NDArray[np.float64]:
    """Bucket orders of greatest expected τ_X.

    A pair alone prefers a tie exactly when ``P(i∼j) > |P(i≻j) - P(j≻i)|``.

    Parameters
    ----------
    P : array-like of shape (k, k) or (n, k, k)
        P_ij = P(i≻j), the probability that i stands strictly before j.
    Q : array-like of the shape of P
        Q_ij = P(i∼j), symmetric, with P_ij + P_ji + Q_ij = 1. Diagonals are not looked at.
    method, n_buckets, top, total_order, random_state
        As in :func:`aggregate`; the heuristics work on C = P + Q/2.

    Returns
    -------
    ndarray of shape (k,) or (n, k)
        Dense ranks: 1 for the best bucket, equal for tied labels.

    See Also
    --------
    aggregate : With ``objective="tau_x"`` the same from C and the tie probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from moreplr.aggregation import expected_tau
    >>> P = np.array([[0.0, 0.7, 0.6], [0.1, 0.0, 0.3], [0.1, 0.2, 0.0]])
    >>> Q = np.array([[0.0, 0.2, 0.3], [0.2, 0.0, 0.5], [0.3, 0.5, 0.0]])
    >>> expected_tau(P, Q)
    array([1., 2., 2.])
    """
    check_name("method", method, METHODS)
    before, single = as_stack(P, "P")
    tied, _ = as_stack(Q, "Q")
    check_same_shape(P, Q, "P and Q")

    def prepare(rows: slice) -> tuple[Stack, Stack]:
        origin = Origin(rows.start, single)
        P_block, Q_block = _block(before, rows), _block(tied, rows)
        check_three_way(P_block, Q_block, origin)
        C = P_block + 0.5 * Q_block
        return C, tau_x_gains(C, Q_block)

    solver = _plan(before.shape[1], method, n_buckets, top, total_order, random_state=random_state)
    ranks = _decode(before.shape[:2], prepare, solver)
    return ranks[0] if single else ranks


def decode(
    P: Stack,
    Q: Stack,
    method: str,
    objective: str,
    *,
    n_buckets: int | None = None,
    top: int | None = None,
    total_order: bool = False,
    random_state: int | RandomState | None = None,
) -> NDArray[np.float64]:
    """Bucket orders of a ranker's pair probabilities, which are not checked again."""

    def prepare(rows: slice) -> tuple[Stack, Stack]:
        Q_block = _block(Q, rows)
        C = _block(P, rows) + 0.5 * Q_block
        return C, l1_gains(C) if objective == "l1" else tau_x_gains(C, Q_block)

    solver = _plan(P.shape[1], method, n_buckets, top, total_order, random_state=random_state)
    return _decode(P.shape[:2], prepare, solver)


def _plan(
    k: int,
    method: str,
    n_buckets: int | None,
    top: int | None,
    total_order: bool,
    beta: float = 0.25,
    threshold: float = 0.5,
    random_state: int | RandomState | None = None,
) -> _Solver:
    """Check the options against the labels and settle the method."""
    limits = bucket_limits(k, n_buckets, top, total_order)
    if method in HEURISTICS:
        for name, given in (
            ("n_buckets", n_buckets is not None),
            ("top", top is not None),
            ("total_order", total_order),
        ):
            if given:
                raise ValueError(
                    f"method={method!r} cannot take {name}; use one of {', '.join(OPTIMISERS)}"
                )
    if method == "published":
        method = "bpa_lia_mp2"
    elif method == "auto":
        method = "exact" if k <= EXACT_LABELS else "local"
    elif method == "exact" and k > EXACT_LABELS:
        raise ValueError(
            f"method='exact' takes at most {EXACT_LABELS} labels, got k={k}; use 'local'"
        )
    return _Solver(method, limits, float(beta), float(threshold), check_random_state(random_state))


def _block(stack: AnyArray, rows: slice) -> Stack:
    """A private copy of some rows, contiguous, with nothing on the diagonals."""
    block = np.array(stack[rows], dtype=np.float64, order="C")
    labels = np.arange(block.shape[1])
    block[:, labels, labels] = 0.0
    return block


def _decode(shape: tuple[int, ...], prepare: Prepare, solver: _Solver) -> NDArray[np.float64]:
    """Solve all rows, block by block so that temporary arrays stay small."""
    n, k = shape
    ranks = np.empty((n, k))
    step = max(1, BLOCK_CELLS // (k * k))
    never = np.zeros(1, np.uint8)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        C, D = prepare(rows)
        if step > 1:
            solver.fill(C, D, never, ranks[rows])
        else:  # a single row may take long
            stoppable(partial(solver.fill, C, D, out=ranks[rows]))
    return ranks
