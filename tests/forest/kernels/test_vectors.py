"""Operations on slices agree with NumPy."""

import numpy as np
import pytest

from moreplr._jit import jit
from moreplr.forest.kernels import vectors
from moreplr.forest.kernels.llvm import pointer


@jit
def sums(a, mass, share, steps):
    p, q, r = pointer(a), pointer(mass), pointer(share)
    return (
        vectors.squares(p, 0, steps),
        vectors.gain(p, 0, r, 0, steps),
        vectors.spread(p, 0, q, 0, steps),
    )


@jit
def changes(a, b, c, d, steps):
    p, q, r, s = pointer(a), pointer(b), pointer(c), pointer(d)
    vectors.add(p, 0, q, 0, steps)
    vectors.subtract(p, 0, r, 0, steps)
    vectors.away(q, 0, p, 0, r, 0, np.float32(3.0), steps)
    vectors.add_into(s, 0, p, 0, q, 0, steps)
    vectors.scaled(r, 0, s, 0, np.float32(0.5), steps)


@jit
def nodes(sums, mass, mean, inverse, root, a, share, steps):
    p, q = pointer(sums), pointer(mass)
    r, s, t = pointer(mean), pointer(inverse), pointer(root)
    vectors.means(r, s, t, p, q, 0, steps)
    u, v = pointer(a), pointer(share)
    vectors.centre(u, 0, v, 0, p, 0, q, 0, r, s, t, steps)


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
