"""Vector operations agree with NumPy for one register, for several, and for a loop of them."""

import numpy as np
import pytest

from moreplr._jit import jit
from moreplr.forest import _bits, _simd


@jit
def sums(a, mass, share, steps):
    p, q, r = _bits.pointer(a), _bits.pointer(mass), _bits.pointer(share)
    return (
        _simd.squares(p, 0, steps),
        _simd.gain(p, 0, r, 0, steps),
        _simd.spread(p, 0, q, 0, steps),
    )


@jit
def changes(a, b, c, d, steps):
    p, q, r, s = _bits.pointer(a), _bits.pointer(b), _bits.pointer(c), _bits.pointer(d)
    _simd.add(p, 0, q, 0, steps)
    _simd.subtract(p, 0, r, 0, steps)
    _simd.away(q, 0, p, 0, r, 0, np.float32(3.0), steps)
    _simd.add_into(s, 0, p, 0, q, 0, steps)
    _simd.scaled(r, 0, s, 0, np.float32(0.5), steps)


@jit
def nodes(sums, mass, mean, inverse, root, a, share, steps):
    p, q = _bits.pointer(sums), _bits.pointer(mass)
    r, s, t = _bits.pointer(mean), _bits.pointer(inverse), _bits.pointer(root)
    _simd.means(r, 0, s, 0, t, 0, p, 0, q, 0, steps)
    u, v = _bits.pointer(a), _bits.pointer(share)
    _simd.centre(u, 0, v, 0, p, 0, q, 0, r, 0, s, 0, t, 0, steps)


@jit
def widened(codes, scale, out, seen, mass, weight, steps):
    p, q = _bits.pointer(codes), _bits.pointer(scale)
    _simd.widen(_bits.pointer(out), 0, q, 0, p, 0, weight, steps)
    _simd.widen_seen(_bits.pointer(seen), 0, _bits.pointer(mass), 0, p, 0, weight, steps)


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 9])
def test_sums(steps):
    rng = np.random.default_rng(steps)
    n = 8 * steps
    a = rng.normal(size=n).astype(np.float32)
    mass = rng.integers(0, 9, n).astype(np.float32)
    share = rng.random(n).astype(np.float32)
    expected = (
        (a**2).sum(),
        (a**2 / (share * (1 - share))).sum(),
        (a[mass > 0] ** 2 / mass[mass > 0]).sum(),
    )
    np.testing.assert_allclose(sums(a, mass, share, steps), expected, rtol=1e-5)


def test_a_side_without_mass_gains_nothing():
    a, share = np.zeros(8, np.float32), np.array([0, 1] * 4, np.float32)
    assert sums(a, share, share, 1)[1] == 0.0


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 9])
def test_changes(steps):
    a, b, c, d = np.random.default_rng(steps).normal(size=(4, 8 * steps)).astype(np.float32)
    first = a + b - c
    second = first - 3 * c
    mine = [x.copy() for x in (a, b, c, d)]
    changes(*mine, steps)
    expected = (first, second, (first + second) / 2, first + second)
    for got, want in zip(mine, expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_rows_are_taken_off_the_mean_of_what_is_observed(steps):
    rng = np.random.default_rng(steps)
    total = rng.normal(size=8 * steps).astype(np.float32)
    mass = rng.integers(0, 3, 8 * steps).astype(np.float32)
    mean, inverse, root, a, share = np.empty((5, 8 * steps), np.float32)
    nodes(total, mass, mean, inverse, root, a, share, steps)
    expected = np.divide(1, mass, where=mass > 0, out=np.zeros_like(mass))
    np.testing.assert_allclose(inverse, expected, rtol=1e-6)
    np.testing.assert_allclose(mean, total * expected, rtol=1e-6)
    np.testing.assert_allclose(root, np.sqrt(expected), rtol=1e-6)
    np.testing.assert_allclose(a, (total - mass * mean) * root, atol=1e-6)
    np.testing.assert_allclose(share, mass > 0)


@pytest.mark.parametrize("steps", [1, 5])
def test_bytes_become_weighted_targets(steps):
    codes = np.random.default_rng(steps).integers(-128, 128, 8 * steps).astype(np.int8)
    codes[:3] = -128
    scale, out, seen, mass = np.full((4, 8 * steps), 0.5, np.float32)
    widened(codes.view(np.uint8), scale, out, seen, mass, np.float32(3.0), steps)
    np.testing.assert_array_equal(out, 1.5 * codes)
    np.testing.assert_array_equal(seen, np.where(codes == -128, 0.0, 3.0 * codes))
    np.testing.assert_array_equal(mass, np.where(codes == -128, 0.0, 3.0))


@jit
def bits(word, codes, bound):
    return (
        _bits.lowest_bit(word),
        _bits.highest_bit(word),
        _bits.not_above(_bits.pointer(codes), 1, bound),
        _bits.below(_bits.pointer(codes), 0, bound),
        _bits.equal(_bits.pointer(codes), 0, bound),
        _bits.count_bits(word),
    )


@pytest.mark.parametrize("word", [1, 6, 1 << 63, (1 << 63) + 8])
def test_bits(word):
    codes = np.array([9, 0, 255, 3, 4, 200, 4, 5, 6] * 8, np.uint8)
    low, high, mask, smaller, same, count = bits(np.uint64(word), codes, np.uint8(4))
    assert low == (word & -word).bit_length() - 1
    assert high == word.bit_length() - 1
    assert count == word.bit_count()
    assert mask == sum((code <= 4) << i for i, code in enumerate(codes[1:9].tolist()))
    assert smaller == sum((code < 4) << i for i, code in enumerate(codes[:64].tolist()))
    assert same == sum((code == 4) << i for i, code in enumerate(codes[:64].tolist()))
