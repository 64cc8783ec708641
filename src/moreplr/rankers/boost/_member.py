"""One member: boosted trees that stop when the loss of held-out rows no longer falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moreplr._jit import jit
from moreplr._types import Array
from moreplr.forest.binning import BinnedMatrix
from moreplr.forest.gradient import GradientGrower
from moreplr.forest.parallel import Stopped
from moreplr.forest.trees import Trees
from moreplr.rankers._davidson import add_gradients, total_loss


@dataclass(frozen=True)
class Growth:
    """The validated parameters of `RankingBoost` for growing trees."""

    n_estimators: int
    learning_rate: float
    max_depth: int
    l2: float
    subsample: float
    n_features: int
    n_outputs: int  # utilities, and tie tendencies if there are ties
    n_directions: int
    patience: int


@dataclass(frozen=True)
class Observed:
    """The training data of all members: features, dense ranks (-1 if not ranked), weights."""

    binned: BinnedMatrix
    ranks: NDArray[np.int16]
    weights: Array


def grow_member(
    data: Observed,
    base: Array,
    held_out: NDArray[np.bool_],
    growth: Growth,
    seed: int,
    stop: NDArray[np.uint8],
) -> tuple[list[Trees], Array]:
    """Grow one tree per step; also return the held-out loss before the first and after each step.

    Parameters
    ----------
    data : Observed
    base : array (2 · n_labels,), the scores without trees
    held_out : bool array (n,), the rows of the member's own fold
    growth : Growth
    seed : int
    stop : array with a flag that ends the work
    """
    rng = np.random.default_rng(seed)
    n, p = data.binned.shape
    d = growth.n_outputs
    train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    n_drawn = max(1, round(growth.subsample * len(train)))
    n_directions = min(growth.n_directions, d)
    grower = GradientGrower(
        data.binned,
        n_directions,
        max_depth=growth.max_depth,
        l2=growth.l2,
    )
    scores = np.tile(base, (n, 1))
    whole = np.zeros((2, n, len(base)))
    slopes, curves = whole[:, :, :d]
    trees: list[Trees] = []
    losses = [total_loss(test, scores, data.ranks, data.weights)]
    best = 0
    while len(trees) < growth.n_estimators and len(trees) - best < growth.patience:
        if stop[0]:
            raise Stopped
        rows = np.sort(rng.permutation(train)[:n_drawn])
        counts = np.zeros(n, np.int32)
        counts[rows] = 1
        add_gradients(rows, scores, data.ranks, data.weights, *whole)
        features = rng.permutation(p)[: growth.n_features]
        seen = _directions(slopes, curves, rows, n_directions, rng)
        tree, leaf = grower.grow(*seen, counts, features)
        sums = np.zeros((2, len(tree.values), d))
        add_by_leaf(rows, leaf, slopes, curves, sums[0], sums[1])
        values = -growth.learning_rate * sums[0] / (sums[1] + growth.l2)
        tree.values = values.astype(np.float32)
        trees.append(tree)
        scores[:, :d] += tree.values[leaf]
        losses.append(total_loss(test, scores, data.ranks, data.weights))
        if losses[-1] < losses[best]:
            best = len(trees)
    return trees, np.array(losses)


def _directions(
    slopes: Array, curves: Array, rows: NDArray[np.intp], count: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Project negative gradients and Hessians on `count` random directions of the outputs.

    Outputs are first scaled to a mean Hessian of 1, so that rare ties count as much as the rest.
    """
    mean = curves[rows].mean(axis=0)
    scale = np.divide(1.0, np.sqrt(mean), out=np.zeros(len(mean)), where=mean > 0)
    directions = rng.standard_normal((len(mean), count)) * scale[:, None] / np.sqrt(len(mean))
    return -slopes @ directions, curves @ directions**2


@jit
def add_by_leaf(rows, leaf, slopes, curves, slope_sums, curve_sums):
    """Add up the gradients and Hessians of the rows in each leaf.

    Parameters
    ----------
    rows : the numbers of the rows
    leaf : int32 array (n,), the leaf of each row
    slopes, curves : arrays (n, n_outputs), gradients and Hessians
    slope_sums, curve_sums : arrays (n_leaves, n_outputs), to which they are added
    """
    for row in rows:
        at = leaf[row]
        for output in range(slopes.shape[1]):
            slope_sums[at, output] += slopes[row, output]
            curve_sums[at, output] += curves[row, output]
