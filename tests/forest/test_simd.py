"""Vector operations agree with NumPy for one register, for several, and for a loop of them."""

import numpy as np
import pytest

from moreplr._jit import jit
from moreplr.forest import _bits, _simd


@jit
def sums(a, mass, total, mean, steps):
    p, q, r, s = _bits.pointer(a), _bits.pointer(mass), _bits.pointer(total), _bits.pointer(mean)
    return (
        _simd.squares(p, 0, steps),
        _simd.squares_away(p, 0, s, 0, np.float32(2.0), steps),
        _simd.gain(p, 0, q, 0, r, 0, steps),
        _simd.gain_away(p, 0, q, 0, r, 0, s, 0, steps),
        _simd.spread(p, 0, q, 0, steps),
    )


@jit
def changes(a, b, c, d, steps):
    p, q, r, s = _bits.pointer(a), _bits.pointer(b), _bits.pointer(c), _bits.pointer(d)
    _simd.add(p, 0, q, 0, steps)
    _simd.subtract(p, 0, r, 0, steps)
    _simd.away(q, 0, p, 0, r, 0, np.float32(3.0), steps)
    _simd.away_each(s, 0, p, 0, q, 0, r, 0, steps)
    drained = _simd.drain(s, 0, r, 0, steps)
    _simd.pour(q, 0, s, 0, steps)
    return drained


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 9])
def test_sums(steps):
    rng = np.random.default_rng(steps)
    n = 8 * steps
    a, mean = rng.normal(size=(2, n)).astype(np.float32)
    total = rng.integers(0, 9, n).astype(np.float32)
    mass = np.minimum(rng.integers(0, 9, n), total).astype(np.float32)
    inside = (mass > 0) & (mass < total)
    share = np.divide(total, mass * (total - mass), where=inside, out=np.zeros(n, np.float32))
    expected = (
        (a**2).sum(),
        ((a - 2 * mean) ** 2).sum(),
        (a**2 * share).sum(),
        ((a - mass * mean) ** 2 * share).sum(),
        (a[mass > 0] ** 2 / mass[mass > 0]).sum(),
    )
    np.testing.assert_allclose(sums(a, mass, total, mean, steps), expected, rtol=1e-5)


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 9])
def test_changes(steps):
    a, b, c, d = np.random.default_rng(steps).normal(size=(4, 8 * steps)).astype(np.float32)
    first = a + b - c
    second = first - 3 * c
    third = first - second * c + c
    mine = [x.copy() for x in (a, b, c, d)]
    drained = changes(*mine, steps)
    assert drained == pytest.approx((third**2).sum(), rel=1e-5)
    expected = (first, second + third, np.zeros_like(c), np.zeros_like(d))
    for got, want in zip(mine, expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-5)


@jit
def bits(word, codes, bound):
    return (
        _bits.lowest_bit(word),
        _bits.highest_bit(word),
        _bits.not_above(_bits.pointer(codes), 1, bound),
    )


@pytest.mark.parametrize("word", [1, 6, 1 << 63, (1 << 63) + 8])
def test_bits(word):
    codes = np.array([9, 0, 255, 3, 4, 200, 4, 5, 6], np.uint8)
    low, high, mask = bits(np.uint64(word), codes, np.uint8(4))
    assert low == (word & -word).bit_length() - 1
    assert high == word.bit_length() - 1
    assert mask == sum((code <= 4) << i for i, code in enumerate(codes[1:].tolist()))
