"""Slow, obvious twins of the kernels: all bucket orders, both objectives by their definitions."""

from __future__ import annotations

import itertools
import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest


@cache
def all_bucket_orders(k):
    """Dense ranks of every bucket order of k labels."""
    orders = [
        ranks
        for ranks in itertools.product(range(1, k + 1), repeat=k)
        if set(ranks) == set(range(1, max(ranks) + 1))
    ]
    return np.array(orders, dtype=float)


def bucket_matrix(ranks):
    """1, ½ and 0 for before, tied and after."""
    ranks = np.asarray(ranks, dtype=float)
    return (1 + np.sign(ranks[..., None, :] - ranks[..., :, None])) / 2


def l1_distance(C, ranks):
    """Sum of |B_ij - C_ij| over i ≠ j."""
    difference = np.abs(bucket_matrix(ranks) - C)
    return (difference * ~np.eye(C.shape[-1], dtype=bool)).sum(axis=(-2, -1))


def mean_tau_x(P, Q, ranks):
    """Expected τ_X from Emond and Mason's matrices: 1 for before or tied, -1 for after."""
    k = P.shape[-1]
    predicted = np.where(bucket_matrix(ranks) >= 0.5, 1.0, -1.0)
    expected = P + Q - np.swapaxes(P, -1, -2)
    off_diagonal = ~np.eye(k, dtype=bool)
    return (predicted * expected * off_diagonal).sum(axis=(-2, -1)) / (k * (k - 1))


def allowed(orders, n_buckets=None, top=None, total_order=False):
    """Which bucket orders honour the options."""
    k = orders.shape[1]
    count = orders.max(axis=1)
    last = (orders == count[:, None]).sum(axis=1)
    resolved = k if top is None else top
    keep = np.ones(len(orders), dtype=bool)
    if n_buckets is not None:
        keep &= count == n_buckets
    if resolved < k:
        keep &= last == k - resolved
    if total_order:
        keep &= count == (k if resolved == k else resolved + 1)
    return keep


def uniform(n, k, rng):
    """Pair order matrices with uniform entries."""
    C = np.triu(rng.random((n, k, k)), 1)
    return C + np.tril(1 - np.swapaxes(C, 1, 2), -1)


def three_way(n, k, rng, alpha=(1.0, 1.0, 1.0)):
    """P(i≻j) and P(i∼j) from a Dirichlet distribution for every pair."""
    draws = np.triu(np.moveaxis(rng.dirichlet(alpha, (n, k, k)), -1, 0), 1)
    return draws[0] + np.swapaxes(draws[1], 1, 2), draws[2] + np.swapaxes(draws[2], 1, 2)


def shares(rankings):
    """Shares of before and tied over the second to last axis, a sample of rankings."""
    before = (rankings[..., :, None] < rankings[..., None, :]).mean(axis=-3)
    tied = (rankings[..., :, None] == rankings[..., None, :]).mean(axis=-3)
    return before, tied


def sampled(n, k, rng, samples=12, noise=1.0):
    """Shares over noisy rankings with ties, as a classifier or neighbours would give them."""
    position = rng.integers(0, 5, (n, 1, k)) + rng.normal(0, noise, (n, samples, k))
    return shares(np.round(position))


@pytest.fixture(scope="session")
def twin():
    """The functions of this module."""
    return SimpleNamespace(
        all_bucket_orders=all_bucket_orders,
        allowed=allowed,
        bucket_matrix=bucket_matrix,
        l1_distance=l1_distance,
        mean_tau_x=mean_tau_x,
        sampled=sampled,
        shares=shares,
        three_way=three_way,
        uniform=uniform,
    )


@pytest.fixture(scope="session")
def benchmark_data():
    """Reader of the benchmark data sets, which are not part of the project."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("MOREPLR_DATA", beside)) / "plr"
    if not folder.is_dir():
        pytest.skip("the benchmark data are not here: set MOREPLR_DATA")

    def read(name):
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        labels = [column for column in frame if column.startswith("L")]
        return frame.drop(columns=labels).to_numpy(float), frame[labels].to_numpy(float)

    return read
