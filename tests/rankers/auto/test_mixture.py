"""The weights of a mixture."""

import numpy as np
import pytest
from scipy.optimize import minimize

from moreplr.rankers.auto._mixture import mixture_weights


def test_they_maximise_the_penalised_likelihood():
    rng = np.random.default_rng(0)
    shares, weight, prior = rng.random((4, 200)), rng.random(200), 3.0

    def loss(logits):
        w = np.exp(logits) / np.exp(logits).sum()
        return -(weight @ np.log(w @ shares) + prior * np.log(w).mean())

    best = minimize(loss, np.zeros(4), options={"gtol": 1e-9}).x
    expected = np.exp(best) / np.exp(best).sum()
    np.testing.assert_allclose(mixture_weights(shares, weight, prior), expected, atol=2e-3)


def test_without_observations_they_are_equal():
    np.testing.assert_allclose(mixture_weights(np.empty((3, 0)), np.empty(0)), 1 / 3)


def test_a_prior_pulls_towards_equal_weights():
    shares = np.array([[0.9] * 20, [0.1] * 20])
    first = [mixture_weights(shares, np.ones(20), prior)[0] for prior in (0.1, 1.0, 10.0, 1e6)]
    assert first == sorted(first, reverse=True)
    assert first[0] > 0.99
    assert first[-1] == pytest.approx(0.5, abs=1e-3)


def test_observations_count_by_their_weight():
    shares = np.random.default_rng(0).random((3, 5))
    weighted = mixture_weights(shares, np.array([1.0, 0, 2, 1, 3]))
    repeated = mixture_weights(shares[:, [0, 2, 2, 3, 4, 4, 4]], np.ones(7))
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_members_that_hold_the_seen_for_impossible_still_leave_weights():
    weights = mixture_weights(np.array([[0.0, 0.0], [0.5, 0.0]]), np.ones(2))
    assert weights.sum() == pytest.approx(1)
    assert weights[1] > weights[0]
