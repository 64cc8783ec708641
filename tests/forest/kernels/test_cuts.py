"""Scans of all cuts agree with sums over the rows on the left."""

import numpy as np
import pytest

from moreplr._jit import jit
from moreplr.forest.kernels import cuts, llvm
from moreplr.forest.kernels.llvm import pointer


@jit
def scans(records, masses, order, left, mean, inverse, out, steps):
    p, q, o, n = pointer(records), pointer(masses), pointer(order), len(order)
    a, b, c = pointer(left), pointer(mean), pointer(inverse)
    running = np.empty(16 * steps, np.float32)
    r, width = pointer(running), 8 * steps
    llvm.centred(p, o, n, width, a, b, c, r, pointer(out[0]), steps)
    llvm.raw(p, o, n, width, a, b, c, r, pointer(out[1]), steps)
    llvm.shares(q, o, n, 2 * width, a, b, c, r, pointer(out[2]), steps)
    llvm.raw_masses(q, o, n, 2 * width, a, b, c, r, pointer(out[3]), steps)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 6])
def test_every_cut_is_weighed_as_if_alone(steps):
    rng = np.random.default_rng(steps)
    n, lanes = 9, 8 * steps
    values = rng.normal(size=(n, lanes)).astype(np.float32)
    shares = (rng.random((n, lanes)) / 10).astype(np.float32)
    order = rng.permutation(n).astype(np.uint8)
    left = rng.random(n).astype(np.float32)
    mean, inverse = rng.random((2, lanes)).astype(np.float32)
    masses = np.concatenate([values, shares], axis=1).ravel()
    out = np.empty((4, n), np.float32)
    scans(values.ravel(), masses, order, left, mean, inverse, out, steps)
    for i in range(n):
        total, share = values[order[: i + 1]].sum(axis=0), shares[order[: i + 1]].sum(axis=0)
        away = (total - share * mean) ** 2 * inverse
        part = share * inverse
        expected = (
            (total**2).sum(),
            ((total - left[i] * mean) ** 2).sum(),
            (total**2 / (share - share**2)).sum(),
            (away / (part - part**2)).sum(),
        )
        np.testing.assert_allclose(out[:, i], expected, rtol=2e-4)


@jit
def picked(gains, left, count, ends, n, m, whole, min_leaf, masked):
    return cuts.pick(
        pointer(gains), pointer(left), pointer(count), pointer(ends), n, m, whole, min_leaf,
        masked, np.float32(-1.0),
    )  # fmt: skip


@pytest.mark.parametrize("n", [1, 4, 9])
def test_the_first_of_equal_cuts_between_bins_wins(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        squares = np.full(16, np.nan, np.float32)
        squares[:n] = rng.integers(1, 4, n)
        left, count = np.arange(1, 17, dtype=np.float32), np.arange(1, 17, dtype=np.int32)
        ends = rng.integers(0, 2, 24).astype(np.uint8)
        whole = np.float32(n + 1)
        for masked in (True, False):
            gain = squares[:n].copy()
            if not masked:
                gain *= whole / (left[:n] * (whole - left[:n]))
            for min_leaf in (1, 2):
                fits = ends[:n] != 0
                fits &= (count[:n] >= min_leaf) & (n + 1 - count[:n] >= min_leaf)
                gain_or_less = np.where(fits, gain, -1.0)
                best, at = picked(
                    squares.copy(), left, count, ends.copy(), n, n + 1, whole, min_leaf, masked
                )
                assert best == pytest.approx(gain_or_less.max(), rel=1e-6)
                if best >= 0.0:
                    assert at == (gain_or_less * (1 + 2e-6) >= best).argmax()
