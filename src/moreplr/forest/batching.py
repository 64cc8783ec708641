"""Grow the trees of many forests together: tree t of each uses the same bootstrap sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from moreplr._types import AnyArray
from moreplr.forest.growing import Limits, counts_of
from moreplr.forest.kernels import grow_packed, splitter_classes, traverse_words
from moreplr.forest.kernels.layout import CLASS_BITS, MISSING, N_COLUMNS, ROOM
from moreplr.forest.parallel import Stopped, cut, run
from moreplr.forest.trees import join, joined

_BUDGET = 5_000_000


@dataclass
class BatchTask:
    """Data that all trees of all forests share."""

    codes: NDArray[np.uint8]
    targets: AnyArray  # (n_forests, n): classes, or integers from 0; -1: row is left out
    n_classes: int  # 0: targets are numbers
    step: NDArray[np.float64]  # the unit of each forest's target
    base: NDArray[np.float64]  # (n_forests, n_values): the values of a tree without rows
    limits: Limits
    draws: int | None  # rows drawn for each tree; None: every row once
    seeds: NDArray[np.uint64]
    weight_bits: int
    stop: NDArray[np.uint8]
    spaces: list[_Workspace] = field(default_factory=list)  # workspaces not in use


@dataclass
class Words:
    """Trees of all forests as flat arrays; tree t of forest f has the number t * n_forests + f.

    Attributes
    ----------
    words : ndarray of uint64
        One per node, in preorder: see `kernels.grow_packed`.
    offsets, value_offsets : ndarray of int64, shape (n_trees * n_forests + 1,)
        Where each tree's nodes and leaf values begin.
    values : ndarray of float32, shape (n, n_values)
        Leaf values; leaves with rows of one class alone have none.

    Examples
    --------
    >>> from moreplr.forest import ForestBatch
    >>> batch = ForestBatch(2, random_state=0).fit([[0], [1], [2]], [[1.0], [2.0], [3.0]])
    >>> batch.words_.words.dtype
    dtype('uint64')
    """

    words: AnyArray
    offsets: NDArray[np.int64]
    values: NDArray[np.float32]
    value_offsets: NDArray[np.int64]


def grow_batch(task: BatchTask, n_jobs: int | None) -> Words:
    """Grow all trees of all forests, in threads."""
    parts = [(task, lo, hi) for lo, hi in cut(len(task.seeds), n_jobs)]
    grown = [tree for chunk in run(_grow_chunk, parts, n_jobs, task.stop) for tree in chunk]
    task.spaces.clear()
    return join(grown)


class _Workspace:
    def __init__(self, task: BatchTask) -> None:
        n, n_features = task.codes.shape
        top = int(task.codes.max(initial=0))
        n_bins = 256 if top == MISSING else top + 1
        stride = n_features + (1 if task.n_classes else 8)
        kind = np.arange(256)
        self.tree = grow_packed.Packed(
            cells=np.empty(n * stride, np.uint8),
            words=np.empty(2 * n, np.uint64),
            totals=np.empty(n + 1, np.int64),
            numbers=(kind >> 2) << (CLASS_BITS * (kind & 3)),
            small_numbers=((kind >> 2) << (splitter_classes.BITS * (kind & 3))).astype(np.int32),
            stride=stride,
            n_features=n_features,
            n_bins=n_bins,
            n_classes=task.n_classes,
            weight_bits=task.weight_bits,
        )
        self.scratch = grow_packed.PackedScratch(
            order=np.empty(n_features, np.int32),
            chosen=np.empty(n_features, np.int32),
            spare=np.empty(n, np.int32),
            sums=np.zeros(n_features * ROOM, np.int64),
            counts=np.zeros(n_features * ROOM, np.int32),
            occupied=np.zeros(n_features * 4, np.uint64),
            few=np.zeros(n_features * ROOM, np.int32),
            few_others=np.zeros(n_features * ROOM, np.int32),
            running=np.empty(n_features * ROOM, np.int32),
            gains=np.empty(n_features * ROOM, np.float32),
            largest=np.empty(n_features, np.float32),
        )
        self.perm = np.empty(n, np.int32)
        self.rng = np.empty(1, np.uint64)
        self.values = np.empty((n + 1, max(task.n_classes, 1)), np.float32)
        words = -(-n_features // 64)
        self.stack, self.sums = np.empty((0, N_COLUMNS), np.int32), np.empty(0, np.int64)
        self.constant = np.empty((0, words), np.uint64)
        self.widen(64)

    def widen(self, size: int) -> None:
        """Room for `size` pending nodes; what is there stays."""
        stack, sums = np.empty((size, N_COLUMNS), np.int32), np.empty(size, np.int64)
        constant = np.empty((size, self.constant.shape[1]), np.uint64)
        held = len(self.stack)
        stack[:held], sums[:held], constant[:held] = self.stack, self.sums, self.constant
        self.stack, self.sums, self.constant = stack, sums, constant


def _grow_chunk(task: BatchTask, lo: int, hi: int) -> list[Words]:
    try:
        space = task.spaces.pop()
    except IndexError:
        space = _Workspace(task)
    trees = [_grow_tree(task, seed, space) for seed in task.seeds[lo:hi]]
    task.spaces.append(space)
    return trees


def _grow_tree(task: BatchTask, seed: np.uint64, space: _Workspace) -> Words:
    """The tree of this seed in every forest."""
    counts = counts_of(seed, len(task.codes), task.draws)
    rows = np.flatnonzero(counts).astype(np.int32)
    grow_packed.copy_rows(task.codes, rows, space.tree.cells, space.tree.stride)
    n_forests = len(task.targets)
    sizes, value_sizes = np.zeros((2, n_forests + 1), np.int64)
    words, values = [], []
    for forest in range(n_forests):
        n_nodes, n_leaves = _grow_one(task, seed, space, rows, counts, forest)
        n_values = _finish(task, space, forest, n_nodes, n_leaves)
        words.append(space.tree.words[:n_nodes].copy())
        values.append(space.values[:n_values].copy())
        sizes[forest + 1], value_sizes[forest + 1] = n_nodes, n_values
    return Words(joined(words), np.cumsum(sizes), joined(values), np.cumsum(value_sizes))


def _grow_one(
    task: BatchTask,
    seed: np.uint64,
    space: _Workspace,
    rows: NDArray[np.int32],
    counts: NDArray[np.int32],
    forest: int,
) -> tuple[int, int]:
    """Grow the tree of one forest and return its numbers of nodes and leaves."""
    n, total = grow_packed.take_rows(
        rows, task.targets, forest, counts, task.n_classes, task.weight_bits,
        space.tree.cells, space.tree.stride, space.perm,
    )  # fmt: skip
    state = np.array([1, 0, 0], np.int64)
    space.stack[0] = 0, n, 0, -1, 0, -1
    space.sums[0] = total
    space.constant[0] = 0
    own = seed + np.uint64(forest)
    while grow_packed.grow(
        space.tree, space.scratch, space.perm, task.limits.array, own, space.rng, space.stack,
        space.sums, space.constant, state, _BUDGET,
    ):  # fmt: skip
        if task.stop[0]:
            raise Stopped
        if state[0] + 1 >= len(space.stack):
            space.widen(2 * len(space.stack))
    if task.stop[0]:
        raise Stopped
    return int(state[1]), int(state[2])


def _finish(task: BatchTask, space: _Workspace, forest: int, n_nodes: int, n_leaves: int) -> int:
    if task.n_classes:
        return traverse_words.finish_classes(
            space.tree.words, n_nodes, space.tree.totals, task.n_classes, task.base[forest],
            space.values,
        )  # fmt: skip
    traverse_words.finish_target(
        space.tree.totals, n_leaves, task.weight_bits, task.step[forest], task.base[forest, 0],
        space.values,
    )  # fmt: skip
    return n_leaves
