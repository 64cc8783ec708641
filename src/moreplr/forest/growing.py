"""Grow the trees of a forest: seeds, bootstraps, work space, threads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from moreplr._lazy import lazy
from moreplr._types import AnyArray
from moreplr.forest.binning import BinnedMatrix
from moreplr.forest.kernels import grow_vectors, leaf_values, random, records
from moreplr.forest.kernels.layout import MOST_ROWS, Nodes, Rows, Scratch
from moreplr.forest.parallel import Stopped, cut, run
from moreplr.forest.trees import Trees, join

# Work of one kernel call, about a fifth of a second; Ctrl-C is checked between calls.
_BUDGET = 5_000_000
_LANES = 8
_HISTOGRAM_BYTES = 32_000_000


@dataclass
class Limits:
    """When to stop splitting."""

    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    max_features: int

    @lazy
    def array(self) -> NDArray[np.int64]:
        """The limits as the kernels read them."""
        deepest = np.iinfo(np.int32).max if self.max_depth is None else self.max_depth
        return np.array(
            [deepest, self.min_samples_split, self.min_samples_leaf, self.max_features], np.int64
        )


@dataclass
class Task:
    """Data that all trees of a forest share."""

    binned: BinnedMatrix
    targets: NDArray[np.float32]  # (n, lanes), zero where missing
    seen: NDArray[np.float32] | None  # 1 where present, 0 where missing; None: all are present
    idle: NDArray[np.intp]  # rows without any target
    weight: NDArray[np.float32] | None
    base: NDArray[np.float64]
    limits: Limits
    draws: int | None  # rows drawn for each tree; None: every row once
    seeds: NDArray[np.uint64]
    stop: NDArray[np.uint8]
    spaces: list[_Workspace] = field(default_factory=list)  # workspaces not in use


def tree_seeds(random_state: np.random.RandomState, n_trees: int) -> NDArray[np.uint64]:
    """A seed for each tree, fixed before any of them is grown."""
    entropy = random_state.randint(0, 2**31 - 1, size=4).tolist()
    return np.random.SeedSequence(entropy).generate_state(n_trees, np.uint64).astype(np.uint64)


def grow_forest(task: Task, n_jobs: int | None) -> Trees:
    """Grow one tree per seed, in threads."""
    parts = [(task, lo, hi) for lo, hi in cut(len(task.seeds), n_jobs)]
    chunks = run(_grow_chunk, parts, n_jobs, task.stop)
    task.spaces.clear()
    return join([tree for chunk in chunks for tree in chunk])


def counts_of(seed: np.uint64, n: int, draws: int | None) -> NDArray[np.int32]:
    """How often the tree of a seed draws each row; once each if `draws` is None."""
    counts = np.ones(n, np.int32)
    if draws is not None:
        random.draw_counts(np.array([seed]), n, draws, counts)
    return counts


def padded(columns: AnyArray) -> NDArray[np.float32]:
    """The columns in float32, and at least one column of zeros to fill whole registers."""
    n, k = columns.shape
    out = np.zeros((n, lanes_for(k + 1)), np.float32)
    out[:, :k] = columns
    return out


def lanes_for(k: int) -> int:
    """How many lanes of full registers hold k numbers."""
    return -(-k // _LANES) * _LANES


class _Workspace:
    """Scratch arrays of one thread, reused from tree to tree."""

    def __init__(self, task: Task) -> None:
        n, n_features = task.binned.shape
        self.rows = _rows(task)
        lanes = _LANES * self.rows.steps
        width = 2 * lanes if self.rows.masked else lanes
        self.large = int(np.clip(np.diff(task.binned.bins).max() // 2, 24, MOST_ROWS))
        n_bins = int(task.binned.bins[-1])
        slots = int(np.clip(_HISTOGRAM_BYTES // (4 * n_bins * width), 2, 32))
        self.slots = slots if n >= self.large else 0
        self.nodes = Nodes(
            feature=np.empty(2 * n, np.uint16),
            cut=np.empty(2 * n, np.uint8),
            missing_left=np.empty(2 * n, np.uint8),
            right=np.empty(2 * n, np.int32),
            start=np.empty(2 * n, np.int32),
        )
        self.scratch = Scratch(
            order=np.empty(n_features, np.int32),
            chosen=np.empty(n_features, np.int32),
            spare=np.empty(n, np.int32),
            total=np.empty(width, np.float32),
            mean=np.empty(lanes, np.float32),
            inverse=np.empty(lanes, np.float32),
            root=np.empty(lanes, np.float32),
            running=np.empty(width, np.float32),
            centred=np.empty(MOST_ROWS * width, np.float32),
            offsets=np.empty(MOST_ROWS, np.int64),
            local=np.zeros(MOST_ROWS, np.uint8),
            sorted=np.empty(512, np.uint8),
            ends=np.empty(520, np.uint8),
            left=np.empty(264, np.float32),
            count=np.empty(256, np.int32),
            gains=np.empty(264, np.float32),
            masses=np.empty(MOST_ROWS, np.float32),
            table=np.empty(64 * width, np.float32),
            far=np.empty(self.slots * n_bins * width, np.float32),
            far_count=np.empty(self.slots * n_bins, np.int32),
            free=np.empty(self.slots + 1, np.int32),
        )
        self.stack = np.empty((64, 6), np.int32)
        self.constant = np.empty((64, -(-n_features // 64)), np.uint64)

    def begin(self, n: int) -> NDArray[np.int64]:
        """Prepare for a tree of n rows and return the kernel's state."""
        self.scratch.free[: self.slots] = np.arange(self.slots)
        self.stack[0] = 0, n, 0, -1, 0, -1
        self.constant[0] = 0
        return np.array([1, 0, 0, self.slots], np.int64)

    def widen(self) -> None:
        """Room for more pending nodes."""
        self.stack = np.concatenate([self.stack, np.empty_like(self.stack)])
        self.constant = np.concatenate([self.constant, np.empty_like(self.constant)])


def _rows(task: Task) -> Rows:
    """Allocate the rows of a tree: their bins and their targets."""
    n, n_features = task.binned.shape
    n_targets = len(task.base)
    lanes = task.targets.shape[1]
    unit = _unit(task.targets)
    masked = task.seen is not None
    return Rows(
        cells=np.empty(n * n_features, np.uint8),
        records=np.empty(n * (2 * lanes if masked else lanes), np.float32),
        weight=np.empty(n, np.float32),
        squares=np.empty(n, np.float32),
        bins=task.binned.bins,
        n_features=n_features,
        n_targets=n_targets,
        steps=lanes // _LANES,
        unit=np.float32(unit),
        per_unit=np.float32(1.0 / unit),
        masked=masked,
    )


def _unit(targets: AnyArray) -> float:
    """A power of two that is some thousand times smaller than the targets."""
    scale = float(np.sqrt(np.mean(np.square(targets, dtype=np.float32), dtype=np.float64)))
    return 2.0 ** (np.floor(np.log2(scale)) - 12) if scale > 0 else 1.0


def _grow_chunk(task: Task, lo: int, hi: int) -> list[Trees]:
    try:
        space = task.spaces.pop()
    except IndexError:
        space = _Workspace(task)
    trees = [_grow_tree(task, seed, space) for seed in task.seeds[lo:hi]]
    task.spaces.append(space)
    return trees


def _grow_tree(task: Task, seed: np.uint64, space: _Workspace) -> Trees:
    n, n_features = task.binned.shape
    counts = counts_of(seed, n, task.draws)
    weight = counts.astype(np.float32)
    if task.weight is not None:
        weight *= task.weight
    weight[task.idle] = 0.0
    rowids = np.flatnonzero(weight).astype(np.int32)
    seen = np.empty((0, 0), np.float32) if task.seen is None else task.seen
    records.copy(task.binned.codes, task.targets, seen, weight, rowids, space.rows)
    perm = np.arange(len(rowids), dtype=np.int32)
    importance = np.zeros(n_features)
    n_nodes, n_leaves = _grow_slices(task, seed, space, perm, importance)
    values = np.empty((n_leaves, len(task.base)), np.float32)
    nodes = space.nodes
    masked = space.rows.masked
    kernel = leaf_values.leaf_values_with_gaps if masked else leaf_values.leaf_values
    kernel(
        perm, nodes.right, nodes.start, n_nodes, space.rows, task.base, values,
    )  # fmt: skip
    perm = rowids[perm]
    return Trees(
        offsets=np.array([0, n_nodes]),
        feature=nodes.feature[:n_nodes].copy(),
        cut=nodes.cut[:n_nodes].copy(),
        missing_left=nodes.missing_left[:n_nodes].copy(),
        right=nodes.right[:n_nodes].copy(),
        start=nodes.start[:n_nodes].copy(),
        leaf_offsets=np.array([0, n_leaves]),
        values=values,
        perm_offsets=np.array([0, len(perm)]),
        perm=perm,
        perm_count=counts[perm].astype(np.uint8),
        importance=importance[None],
    )


def _grow_slices(
    task: Task, seed: np.uint64, space: _Workspace, perm: AnyArray, importance: AnyArray
) -> tuple[int, int]:
    """Call the kernel until the tree is done and return its numbers of nodes and leaves."""
    rng = np.empty(1, np.uint64)
    limits = task.limits.array
    state = space.begin(len(perm))
    while grow_vectors.grow(
        space.rows, space.nodes, space.scratch, perm, limits, seed, rng, space.stack,
        space.constant, state, importance, space.large, _BUDGET,
    ):  # fmt: skip
        if task.stop[0]:
            raise Stopped
        if state[0] + 2 > len(space.stack):
            space.widen()
    return int(state[1]), int(state[2])
