"""Bins keep few values apart and share out many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.forest.binning import Binner
from moreplr.forest.kernels.bins import encode
from moreplr.forest.kernels.layout import MISSING


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60), st.integers(2, 255))
def test_codes_keep_the_order_of_values(values, max_bins):
    x = np.array(values)
    codes = Binner(max_bins).fit_transform(x[:, None]).ravel()
    order = np.argsort(x, kind="stable")
    assert (np.diff(codes[order].astype(int)) >= 0).all()
    assert codes.max() < max_bins
    if len(np.unique(x)) <= max_bins:
        assert len(np.unique(codes)) == len(np.unique(x))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=200), st.sets(st.integers(-4, 4)))
def test_the_code_of_a_value_is_the_number_of_cuts_below_it(values, cuts):
    x, ordered = np.array(values, float), np.array(sorted(cuts), float)
    codes = np.empty((len(x), 2), np.uint8)
    encode(x, ordered, codes, 1)
    assert codes[:, 1].tolist() == [sum(cut < value for cut in cuts) for value in values]


def test_many_values_are_cut_into_equal_shares():
    x = np.random.default_rng(0).normal(size=20_000)
    counts = np.bincount(Binner(100).fit_transform(x[:, None]).ravel())
    assert len(counts) == 100
    assert counts.min() > 150
    assert counts.max() < 250


def test_a_frequent_value_has_a_bin_of_its_own():
    x = np.concatenate([np.zeros(5000), np.random.default_rng(0).random(5000)])
    codes = Binner(16).fit_transform(x[:, None]).ravel()
    assert (codes[5000:] != codes[0]).mean() > 0.8


def test_missing_values_have_a_code_above_all_bins():
    x = np.array([np.nan, 1.0, np.nan, 2.0])[:, None]
    assert Binner().fit_transform(x).ravel().tolist() == [MISSING, 0, MISSING, 1]
    assert Binner().fit_transform(np.full((3, 1), np.nan)).ravel().tolist() == [MISSING] * 3


def test_large_data_are_sampled_for_their_cuts():
    x = np.random.default_rng(0).normal(size=250_000)[:, None]
    counts = np.bincount(Binner(10).fit_transform(x).ravel())
    assert counts == pytest.approx(np.full(10, 25_000), rel=0.1)
