"""The rows of a node as vectors of weighted targets, raw or centred on the node's mean."""

# mypy: disable-error-code="assignment"
from __future__ import annotations

import numpy as np

from moreplr._jit import inlined, jit
from moreplr.forest.kernels import vectors
from moreplr.forest.kernels.layout import Rows, Scratch
from moreplr.forest.kernels.llvm import peek, pointer, poke


@inlined
def width_of(rows):
    """How many numbers a record has."""
    return 16 * rows.steps if rows.masked else 8 * rows.steps


@inlined
def centre_row(rows, scratch, row, at):
    """Write the deviation of a row from the node's mean to `centred`.

    With missing targets, deviations are scaled and masses are shares of the node's mass. A gain
    is then the sum of a² / (share (1 - share)).
    """
    lanes, record = 8 * rows.steps, row * width_of(rows)
    if rows.masked:
        vectors.centre(
            scratch.centred, at, scratch.centred, at + lanes, rows.records, record, rows.records,
            record + lanes, scratch.mean, scratch.inverse, scratch.root, rows.steps,
        )  # fmt: skip
    else:
        w = peek(rows.weight, row)
        vectors.away(scratch.centred, at, rows.records, record, scratch.mean, 0, w, rows.steps)


@inlined
def squares_of(rows, scratch, row, at):
    """The squared deviations of a row in `centred`."""
    if rows.masked:
        lanes = 8 * rows.steps
        return vectors.spread(scratch.centred, at, scratch.centred, at + lanes, rows.steps)
    return vectors.squares(scratch.centred, at, rows.steps) / peek(rows.weight, row)


@jit
def centre(rows, scratch, perm, lo, m):
    """Centre the rows of a small node, note their weights and cells; return squared deviations."""
    width = width_of(rows)
    spread = 0.0
    for i in range(m):
        row = np.int64(peek(perm, lo + i))
        poke(scratch.offsets, i, row * rows.n_features)
        poke(scratch.masses, i, peek(rows.weight, row))
        centre_row(rows, scratch, row, i * width)
        spread += squares_of(rows, scratch, row, i * width)
    return spread


@inlined
def rows_at(rows):
    """Rows as pointers."""
    return Rows(
        pointer(rows.cells), pointer(rows.records), pointer(rows.weight), pointer(rows.squares),
        pointer(rows.bins), rows.n_features, rows.n_targets, rows.steps, rows.unit, rows.per_unit,
        rows.masked,
    )  # fmt: skip


@inlined
def scratch_at(scratch):
    """Scratch as pointers."""
    return Scratch(
        pointer(scratch.order), pointer(scratch.chosen), pointer(scratch.spare),
        pointer(scratch.total), pointer(scratch.mean),
        pointer(scratch.inverse), pointer(scratch.root), pointer(scratch.running),
        pointer(scratch.centred), pointer(scratch.offsets), pointer(scratch.local),
        pointer(scratch.sorted), pointer(scratch.ends), pointer(scratch.left),
        pointer(scratch.count), pointer(scratch.gains), pointer(scratch.masses),
        pointer(scratch.table), pointer(scratch.far), pointer(scratch.far_count),
        pointer(scratch.free),
    )  # fmt: skip


@jit
def copy(codes, targets, seen, weight, rowids, rows):
    """Copy the in-bag rows into `rows`, numbered from 0, with weighted targets.

    Parameters
    ----------
    codes : uint8 array (n, n_features)
    targets : float32 array (n, lanes), 0 where missing
    seen : float32 array (n, lanes), 1 where a target is present; not read unless `rows.masked`
    weight : float32 array (n,)
    rowids : int32 array, the in-bag rows
    rows : Rows, to which everything is written
    """
    lanes = targets.shape[1]
    width = width_of(rows)
    place = pointer(rows.records)
    for i in range(len(rowids)):
        row, at = rowids[i], i * width
        w = weight[row]
        rows.weight[i] = w
        for f in range(codes.shape[1]):
            rows.cells[i * rows.n_features + f] = codes[row, f]
        for t in range(lanes):
            rows.records[at + t] = w * targets[row, t]
        if rows.masked:
            for t in range(lanes):
                rows.records[at + lanes + t] = w * seen[row, t]
            rows.squares[i] = vectors.spread(place, at, place, at + lanes, rows.steps)
        else:
            rows.squares[i] = vectors.squares(place, at, rows.steps) / w
            rows.records[at + rows.n_targets] = w * rows.unit
