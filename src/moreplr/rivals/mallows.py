"""The Mallows model: rankings are the likelier, the fewer pairs they order unlike a centre.

    P(σ | π, θ) = exp(−θ·D(σ, π)) / φ(θ),

where D is Kendall's distance. A pair that only one of two rankings ties counts as half a
discordant one, so that D is half the distance of Kemeny and Snell; the paper has no ties.

Incomplete rankings are fitted as Cheng, Hühn and Hüllermeier (2009) do: the centre starts as
the generalised Borda count, each ranking is replaced by its completion that is the likeliest
under that centre, and the Borda count of these is the next centre, until it stays the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from moreplr._types import Array, Positions
from moreplr.rankings import dense_ranks
from moreplr.rivals.borda import consensus, expected_positions

# Between two points of this grid the expected distance is nearly linear in exp(−θ).
_GRID = 4096


class Centre(NamedTuple):
    """Centres (…, k) of rankings (…, n, k), and the completed rankings as positions."""

    ranks: Positions
    completed: Array


def fit_centre(Y: Positions, weight: Array | None = None, max_iter: int = 20) -> Centre:
    """Fit centres to rankings (…, n, k) with weights (…, n).

    Examples
    --------
    >>> nan = np.nan
    >>> Y = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [nan, 1.0, nan]])
    >>> fit_centre(Y).completed[2]
    array([1., 2., 3.])
    """
    positions = expected_positions(Y)
    centre = consensus(positions, weight)
    incomplete = np.isnan(Y).any(axis=-1)
    if not incomplete.any():
        return Centre(centre, positions)
    where = np.nonzero(incomplete)
    for _ in range(max_iter):
        filled = complete(Y[where], centre[where[:-1]])
        positions[where] = expected_positions(filled)
        before, centre = centre, consensus(positions, weight)
        if np.array_equal(before, centre):
            break
    return Centre(centre, positions)


def complete(Y: Positions, centre: Positions) -> Positions:
    """The completions of rankings (n, k) nearest to centres (n, k) or (k,).

    Each missing label goes where it is discordant with the fewest ranked ones, to the first
    such place: before, between or into their buckets. Those that meet between two buckets
    take the order of the centre. For rankings without ties no completion is nearer.

    Examples
    --------
    >>> complete(np.array([[2.0, 1.0, np.nan]]), np.array([1.0, 2.0, 3.0]))
    array([[2., 1., 3.]])
    """
    k = Y.shape[1]
    centre = np.broadcast_to(centre, Y.shape)
    ranked = ~np.isnan(Y)
    buckets = dense_ranks(Y)
    places = np.arange(0.5, k + 1, 0.5)  # whole numbers are in a bucket, halves between two
    there = np.sign(places[:, None] - np.nan_to_num(buckets)[:, None, :]) * ranked[:, None, :]
    wanted = np.sign(centre[:, :, None] - centre[:, None, :])
    # Of signs, |s − t| = s² + t² − s²t² − st; t² counts where the other label is ranked.
    here = there**2
    cost = here.sum(axis=2)[:, None, :] - wanted**2 @ here.swapaxes(1, 2)
    cost = cost - wanted @ there.swapaxes(1, 2)
    cost += np.einsum("nij,nj->ni", wanted**2, ranked)[:, :, None]
    last = np.where(ranked, buckets, 0.0).max(axis=1)
    cost[np.broadcast_to((places > last[:, None] + 0.5)[:, None, :], cost.shape)] = np.inf
    place = places[cost.argmin(axis=2)]
    between = place % 1 == 0.5
    place = place + np.where(between, (centre - 1) / (2 * k), 0.0)
    return dense_ranks(np.where(ranked, buckets, place))


def distance(positions: Array, centre: Positions) -> Array:
    """Discordant pairs (…,) of rankings and centres (…, k), ties of only one counted half.

    Examples
    --------
    >>> distance(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]]), np.array([1.0, 2.0, 3.0]))
    array([0. , 2.5])
    """
    i, j = np.triu_indices(positions.shape[-1], 1)
    signs = np.sign(positions[..., i] - positions[..., j])
    return np.abs(signs - np.sign(centre[..., i] - centre[..., j])).sum(axis=-1) / 2


def expected_distance(spread: Array, k: int) -> Array:
    """The mean distance to the centre under spreads θ ≥ 0.

    Examples
    --------
    >>> expected_distance(np.array([0.0, np.inf]), 3)
    array([1.5, 0. ])
    """
    return _expected(np.exp(-np.asarray(spread, dtype=float)), k)


def spread(mean_distance: Array, k: int) -> Array:
    """The θ under which a mean distance is the expected one; θ is 0 for any greater one.

    Examples
    --------
    >>> spread(expected_distance(np.array([0.5, 2.0]), 4), 4).round(3)
    array([0.5, 2. ])
    """
    points, distances = _grid(k)
    with np.errstate(divide="ignore"):
        return -np.log(np.interp(mean_distance, distances, points)) + 0.0


@lru_cache
def _grid(k: int) -> tuple[Array, Array]:
    points = np.linspace(0, 1, _GRID + 1)
    return points, _expected(points, k)


def _expected(phi: Array, k: int) -> Array:
    """The expected distance as insertions: label j has 0 to j − 1 others put behind it."""
    total = np.zeros(phi.shape)
    for j in range(2, k + 1):
        powers = phi[..., None] ** np.arange(j)
        total += (powers * np.arange(j)).sum(axis=-1) / powers.sum(axis=-1)
    return total
