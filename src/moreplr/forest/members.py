"""Find the training rows that share leaves with given rows, a few rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from moreplr.forest.growing import counts_of
from moreplr.forest.kernels import members
from moreplr.forest.trees import Trees

_ROWS = 256

Members = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def leaf_members(
    trees: Trees,
    training: NDArray[np.uint8],
    weight: NDArray[np.float32] | None,
    seeds: NDArray[np.uint64],
    draws: int | None,
    codes: NDArray[np.uint8] | None,
    rows: ArrayLike | None,
    min_samples: int,
    oob: bool,
) -> Members:
    """Members of the nodes of `codes`, or of training rows: see `ForestRegressor.leaf_members`.

    `draws` is None for forests without a bootstrap.
    """
    if codes is not None and (oob or rows is not None):
        raise ValueError("rows and oob are for training rows: give no X with them")
    unseen = None
    if codes is None:
        picked = np.arange(len(training)) if rows is None else np.asarray(rows, np.int64)
        codes = training[picked]
        if oob:
            unseen = unseen_by(seeds, draws, picked, len(training))
    mass = trees.perm_count.astype(np.float32)
    if weight is not None:
        mass *= weight[trees.perm]
    parts: list[Members] = []
    for at in range(0, len(codes), _ROWS):
        part = slice(at, at + _ROWS)
        own = None if unseen is None else unseen[part]
        parts.append(_members_of(trees, codes[part], own, mass, len(training), min_samples))
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part[0]) for part in parts)])
    indices = np.concatenate([np.empty(0, np.int32), *(part[1] for part in parts)])
    weights = np.concatenate([np.empty(0, np.float32), *(part[2] for part in parts)])
    return np.cumsum(sizes), indices, weights


def unseen_by(
    seeds: NDArray[np.uint64], draws: int | None, rows: NDArray[np.int64], n: int
) -> NDArray[np.bool_]:
    """Which trees have not drawn which of the training rows, (n_rows, n_trees)."""
    out = np.zeros((len(rows), len(seeds)), np.bool_)
    for tree, seed in enumerate(seeds):
        out[:, tree] = counts_of(seed, n, draws)[rows] == 0
    return out


def _members_of(
    trees: Trees,
    codes: NDArray[np.uint8],
    unseen: NDArray[np.bool_] | None,
    mass: NDArray[np.float32],
    n: int,
    min_samples: int,
) -> Members:
    where = np.empty((len(codes), trees.n_trees, 2), np.int64)
    asked = np.empty((0, 0), np.bool_) if unseen is None else unseen
    total = members.ranges(
        codes, asked, *trees.split_arrays, trees.start, trees.perm_offsets, min_samples, where
    )
    indptr = np.zeros(len(codes) + 1, np.int64)
    indices, weights = np.empty(total, np.int32), np.empty(total, np.float32)
    filled = members.collect(where, trees.perm, mass, np.zeros(n), indptr, indices, weights)
    return indptr, indices[:filled].copy(), weights[:filled].copy()
