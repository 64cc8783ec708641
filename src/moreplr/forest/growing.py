"""Grow the trees of a forest: seeds, bootstraps, work space, threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moreplr.forest import _grow, _leaves, _random
from moreplr.forest.parallel import Stopped, cut, run
from moreplr.forest.trees import Trees

# about a fifth of a second of work between two looks at Ctrl-C
_BUDGET = 5_000_000
_LANES = 8


@dataclass
class Limits:
    """When to stop splitting."""

    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    max_features: int

    def array(self) -> NDArray[np.int64]:
        """The limits as the kernels read them."""
        deepest = np.iinfo(np.int32).max if self.max_depth is None else self.max_depth
        return np.array(
            [deepest, self.min_samples_split, self.min_samples_leaf, self.max_features], np.int64
        )


@dataclass
class Task:
    """What all trees of a forest share."""

    codes: NDArray[np.uint8]
    targets: NDArray[np.float32]  # zero where not observed
    seen: NDArray[np.float32] | None  # 1 where observed; None: everything is
    weight: NDArray[np.float32] | None
    base: NDArray[np.float64]
    limits: Limits
    bootstrap: bool
    projection: int | None
    seeds: NDArray[np.uint64]
    stop: NDArray[np.uint8]


def tree_seeds(random_state: np.random.RandomState, n_trees: int) -> NDArray[np.uint64]:
    """A seed for each tree, fixed before any of them is grown."""
    entropy = random_state.randint(0, 2**31 - 1, size=4).tolist()
    return np.random.SeedSequence(entropy).generate_state(n_trees, np.uint64).astype(np.uint64)


def grow_forest(task: Task, n_jobs: int | None) -> Trees:
    """Grow one tree per seed, in threads."""
    parts = [(task, lo, hi) for lo, hi in cut(len(task.seeds), n_jobs)]
    chunks = run(_grow_chunk, parts, n_jobs, task.stop)
    return Trees.join([tree for chunk in chunks for tree in chunk])


def counts_of(seed: np.uint64, n: int, bootstrap: bool) -> NDArray[np.int32]:
    """How often a tree draws each row; the same for the same seed."""
    counts = np.ones(n, np.int32)
    if bootstrap:
        _random.draw_counts(np.array([seed]), n, counts)
    return counts


def padded(columns: NDArray) -> NDArray[np.float32]:
    """The columns and zeros up to a full vector register, in single precision."""
    n, k = columns.shape
    out = np.zeros((n, -(-k // _LANES) * _LANES), np.float32)
    out[:, :k] = columns
    return out


class _Workspace:
    """Scratch arrays of one thread, used for one tree after the other."""

    def __init__(self, n: int, n_features: int, k: int, complete: bool) -> None:
        nodes = 2 * n
        self.words = -(-n_features // 64)
        self.feature = np.empty(nodes, np.uint16)
        self.cut = np.empty(nodes, np.uint8)
        self.missing_left = np.empty(nodes, np.uint8)
        self.right = np.empty(nodes, np.int32)
        self.start = np.empty(nodes, np.int32)
        self.parent = np.empty(nodes, np.int32)
        self.order = np.arange(n_features, dtype=np.int32)
        self.rest = np.empty((n, k), np.float32)
        self.part = np.empty((1 if complete else n, k), np.float32)
        self.share = np.empty(n, np.float32)
        self.total = np.empty(k, np.float32)
        self.column = np.empty(n, np.uint8)
        self.spare = np.empty(n, np.int32)
        self.h = np.zeros((256, k), np.float32)
        self.hw = np.zeros(256, np.float32)
        self.hn = np.zeros(256, np.int32)
        self.hp = np.zeros((256, k), np.float32)
        self.acc = np.empty(k, np.float32)
        self.accp = np.empty(k, np.float32)
        self.stack = np.empty((64, 5), np.int32)
        self.constant = np.empty((64, self.words), np.uint64)

    def widen(self) -> None:
        self.stack = np.concatenate([self.stack, np.empty_like(self.stack)])
        self.constant = np.concatenate([self.constant, np.empty_like(self.constant)])


def _grow_chunk(task: Task, lo: int, hi: int) -> list[Trees]:
    n, n_features = task.codes.shape
    width = task.targets.shape[1]
    if task.projection:
        width = -(-task.projection // _LANES) * _LANES
    complete = task.seen is None or bool(task.projection)
    space = _Workspace(n, n_features, width, complete)
    return [_grow_tree(task, seed, space) for seed in task.seeds[lo:hi]]


def _grow_tree(task: Task, seed: np.uint64, space: _Workspace) -> Trees:
    n, n_features = task.codes.shape
    counts = counts_of(seed, n, task.bootstrap)
    weight = counts.astype(np.float32)
    if task.weight is not None:
        weight *= task.weight
    if task.seen is not None:
        weight[~task.seen.any(axis=1)] = 0.0
    perm = np.flatnonzero(weight).astype(np.int32)
    rng = np.empty(1, np.uint64)
    _random.stream(seed, 1, rng)
    targets, seen = task.targets, task.seen
    if task.projection:
        targets, seen = _project(task, seed), None
    importance = np.zeros(n_features)
    state = np.array([1, 0, 0], np.int64)
    space.order[:] = np.arange(n_features)
    space.stack[0] = 0, len(perm), 0, -1, 0
    space.constant[0] = 0
    limits = task.limits.array()
    while _grow.grow(
        task.codes, targets, _or_empty(seen, targets), weight, seen is None, perm, limits, rng,
        space.stack, space.constant, state, space.feature, space.cut, space.missing_left,
        space.right, space.start, space.parent, importance, space.order, space.rest, space.part,
        space.share, space.total, space.column, space.spare, space.h, space.hw, space.hn,
        space.hp, space.acc, space.accp, _BUDGET,
    ):  # fmt: skip
        if task.stop[0]:
            raise Stopped
        if state[0] + 2 > len(space.stack):
            space.widen()
    n_nodes, n_leaves = int(state[1]), int(state[2])
    values = np.empty((n_leaves, len(task.base)), np.float32)
    _leaves.leaf_values(
        perm, space.right, space.start, space.parent, n_nodes, task.targets,
        _or_empty(task.seen, task.targets), weight, task.seen is None, task.base, values,
    )  # fmt: skip
    return Trees(
        offsets=np.array([0, n_nodes]),
        feature=space.feature[:n_nodes].copy(),
        cut=space.cut[:n_nodes].copy(),
        missing_left=space.missing_left[:n_nodes].copy(),
        right=space.right[:n_nodes].copy(),
        start=space.start[:n_nodes].copy(),
        leaf_offsets=np.array([0, n_leaves]),
        values=values,
        perm_offsets=np.array([0, len(perm)]),
        perm=perm,
        perm_count=counts[perm].astype(np.uint8),
        importance=importance[None],
    )


def _project(task: Task, seed: np.uint64) -> NDArray[np.float32]:
    """The targets on a few random directions; a value that is not observed counts as the mean."""
    k = len(task.base)
    assert task.projection
    directions = np.random.default_rng(int(seed)).standard_normal((k, task.projection))
    centred = task.targets[:, :k] - task.base
    if task.seen is not None:
        centred *= task.seen[:, :k]
    return padded(np.nan_to_num(centred) @ directions)


def _or_empty(seen: NDArray | None, like: NDArray) -> NDArray[np.float32]:
    return np.empty((0, like.shape[1]), np.float32) if seen is None else seen
