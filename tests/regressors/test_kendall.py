"""Kendall's τ_b between columns, beside SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from moreplr.regressors._kendall import numbered, squared_kendall

VALUES = st.sampled_from([np.nan, -1.5, 0.0, 1.0, 2.0, 2.5])


def by_scipy(x, y):
    both = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < 2 or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
        return np.nan
    return float(kendalltau(x[both], y[both]).statistic ** 2)


@given(st.integers(0, 12).flatmap(lambda n: arrays(float, (n, 4), elements=VALUES)))
def test_it_is_that_of_scipy(rows):
    found = squared_kendall(rows[:, 0], numbered(rows[:, 1:]))
    expected = [by_scipy(rows[:, 0], y) for y in rows[:, 1:].T]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_values", [2, 15, 4000])
def test_it_is_that_of_scipy_on_long_columns(n_values):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(3000) < 0.1, np.nan, rng.normal(size=3000).round(2))
    Y = rng.integers(0, n_values, size=(3000, 3)) + np.nan_to_num(x)[:, None].round()
    Y[rng.random(Y.shape) < 0.3] = np.nan
    expected = [by_scipy(x, y) for y in Y.T]
    np.testing.assert_allclose(squared_kendall(x, numbered(Y)), expected, rtol=1e-12)
