"""The rows of a node as vectors of weighted targets, as they are or off the node's mean."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import vectors
from moreplr.forest.kernels.layout import Rows, Scratch
from moreplr.forest.kernels.llvm import peek, pointer, poke


@inlined
def record(rows, scratch, row, slot):
    """Where a row's record is, as a place and an index; `slot` of `record` may hold it."""
    lanes = 8 * rows.steps
    width = 2 * lanes if rows.masked else lanes
    if not rows.small:
        return rows.records, row * width
    at, codes = slot * width, row * rows.stride + rows.n_features
    w = peek(rows.weight, row)
    if rows.masked:
        vectors.widen_seen(
            scratch.record, at, scratch.record, at + lanes, rows.cells, codes, w, rows.steps
        )
    else:
        vectors.widen(scratch.record, at, rows.scale, 0, rows.cells, codes, w, rows.steps)
    return scratch.record, at


@inlined
def centre_row(rows, scratch, row, at):
    """Write a row off the node's mean to `centred`.

    With missing targets, deviations are scaled and masses are shares, so that a gain is the sum
    of a² / (share (1 - share)).
    """
    lanes = 8 * rows.steps
    place, index = record(rows, scratch, row, 0)
    if rows.masked:
        vectors.centre(
            scratch.centred, at, scratch.centred, at + lanes, place, index, place, index + lanes,
            scratch.mean, scratch.inverse, scratch.root, rows.steps,
        )  # fmt: skip
    else:
        w = peek(rows.weight, row)
        vectors.away(scratch.centred, at, place, index, scratch.mean, 0, w, rows.steps)


@inlined
def squares_of(rows, scratch, row, at):
    """The squared deviations of a row in `centred`."""
    if rows.masked:
        lanes = 8 * rows.steps
        return vectors.spread(scratch.centred, at, scratch.centred, at + lanes, rows.steps)
    return vectors.squares(scratch.centred, at, rows.steps) / peek(rows.weight, row)


@jit
def centre(rows, scratch, perm, lo, m):
    """Write the rows of a small node to `centred`, with their weights and cells.

    Gives their squared deviations.
    """
    width = 16 * rows.steps if rows.masked else 8 * rows.steps
    spread = 0.0
    for i in range(m):
        row = np.int64(peek(perm, lo + i))
        poke(scratch.offsets, i, row * rows.stride)
        poke(scratch.masses, i, peek(rows.weight, row))
        centre_row(rows, scratch, row, i * width)
        spread += squares_of(rows, scratch, row, i * width)
    return spread


@inlined
def rows_at(rows):
    """Rows as pointers."""
    return Rows(
        pointer(rows.cells), pointer(rows.records), pointer(rows.weight), pointer(rows.squares),
        pointer(rows.bins), pointer(rows.scale), rows.stride, rows.n_features, rows.n_targets,
        rows.steps, rows.unit, rows.per_unit, rows.masked, rows.small,
        rows.exact,
    )  # fmt: skip


@inlined
def scratch_at(scratch):
    """Scratch as pointers."""
    return Scratch(
        pointer(scratch.order), pointer(scratch.chosen), pointer(scratch.spare),
        pointer(scratch.record), pointer(scratch.total), pointer(scratch.mean),
        pointer(scratch.inverse), pointer(scratch.root), pointer(scratch.running),
        pointer(scratch.centred), pointer(scratch.offsets), pointer(scratch.local),
        pointer(scratch.sorted), pointer(scratch.ends), pointer(scratch.left),
        pointer(scratch.count), pointer(scratch.gains), pointer(scratch.masses),
        pointer(scratch.table), pointer(scratch.far), pointer(scratch.far_count),
        pointer(scratch.free),
    )  # fmt: skip


@jit
def copy_floats(codes, targets, seen, weight, rowids, rows):
    """Copy the in-bag rows into `rows`, numbered from 0, with weighted targets."""
    lanes = targets.shape[1]
    width = 2 * lanes if rows.masked else lanes
    place = pointer(rows.records)
    for i in range(len(rowids)):
        row, at = rowids[i], i * width
        w = weight[row]
        rows.weight[i] = w
        for f in range(codes.shape[1]):
            rows.cells[i * rows.stride + f] = codes[row, f]
        for t in range(lanes):
            rows.records[at + t] = w * targets[row, t]
        if rows.masked:
            for t in range(lanes):
                rows.records[at + lanes + t] = w * seen[row, t]
            rows.squares[i] = vectors.spread(place, at, place, at + lanes, rows.steps)
        else:
            rows.squares[i] = vectors.squares(place, at, rows.steps) / w
            rows.records[at + rows.n_targets] = w * rows.unit


@jit
def copy_small(codes, small, weight, rowids, rows):
    """The same for targets that are small whole numbers."""
    n_features = codes.shape[1]
    for i in range(len(rowids)):
        row, at = rowids[i], i * rows.stride
        rows.weight[i] = weight[row]
        for f in range(n_features):
            rows.cells[at + f] = codes[row, f]
        squares = 0
        for t in range(small.shape[1]):
            code = np.int64(small[row, t])
            rows.cells[at + n_features + t] = np.uint8(code & 255)
            if t < rows.n_targets and code != vectors.ABSENT:
                squares += code * code
        rows.squares[i] = weight[row] * squares
