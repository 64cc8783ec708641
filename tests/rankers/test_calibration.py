"""Calibration of pair probabilities on its own; how PairwiseRanker uses it is in test_pairwise."""

import numpy as np
import pytest
from scipy.optimize import minimize

from moreplr.rankers._calibration import PairCalibration


def test_calibrated_probabilities_stay():
    rng = np.random.default_rng(0)
    given = rng.dirichlet([2, 1, 2], size=5_000)
    codes = np.array([rng.choice(3, p=row) for row in given])
    calibration = PairCalibration().fit(given, codes)
    np.testing.assert_allclose(calibration.powers_, [1, 1, 0], atol=0.1)
    np.testing.assert_allclose(calibration.transform(given), given, atol=0.03)


def test_the_order_of_a_pair_is_arbitrary():
    rng = np.random.default_rng(1)
    given = rng.dirichlet([1, 1, 1], size=500)
    codes = rng.integers(0, 3, size=500)
    one = PairCalibration().fit(given, codes)
    other = PairCalibration().fit(given[:, ::-1], 2 - codes)
    np.testing.assert_allclose(one.powers_, other.powers_, atol=1e-4)
    np.testing.assert_allclose(
        one.transform(given), one.transform(given[:, ::-1])[:, ::-1], atol=1e-12
    )


def test_weights_count_as_copies():
    rng = np.random.default_rng(1)
    given = rng.dirichlet([1, 1, 1], size=200)
    codes, weight = rng.integers(0, 3, size=200), rng.integers(0, 4, size=200)
    weighted = PairCalibration().fit(given, codes, weight.astype(float))
    copied = PairCalibration().fit(given.repeat(weight, axis=0), codes.repeat(weight))
    np.testing.assert_allclose(weighted.powers_, copied.powers_, atol=1e-4)


def random_case(n, seed):
    """Probabilities, true codes that ignore them, and weights."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet([1, 1, 1], size=n), rng.integers(0, 3, size=n), rng.random(n)


def test_powers_maximise_the_penalised_likelihood():
    given, codes, weight = random_case(120, 2)

    def loss(powers):
        strict, tie, factor = powers
        shares = given ** [strict, tie, strict] * np.exp([0.0, factor, 0.0])
        shares = (shares / shares.sum(axis=1, keepdims=True))[np.arange(120), codes]
        return -(weight @ np.log(shares)) + ((powers - [1, 1, 0]) ** 2).sum() / 2

    given = np.maximum(given, 0.005)  # less says little: it counts as that
    best = minimize(loss, [1.0, 1.0, 0.0], bounds=[(0, None), (0, None), (None, None)]).x
    np.testing.assert_allclose(
        PairCalibration().fit(given, codes, weight).powers_, best, atol=1e-3
    )


def test_what_is_always_wrong_is_not_turned_around():
    """Powers are not negative: the likelier relation stays the likelier."""
    given = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]] * 50)
    calibration = PairCalibration().fit(given, np.array([2, 0] * 50))
    assert calibration.powers_[0] == pytest.approx(0)
    found = calibration.transform(given)
    np.testing.assert_allclose(found[:, 0], found[:, 2])


def test_results_are_probabilities_even_of_certainties():
    given, codes, _ = random_case(50, 3)
    sure = np.eye(3)[codes].reshape(5, 10, 3)
    found = PairCalibration().fit(given, codes).transform(sure)
    assert found.shape == sure.shape
    np.testing.assert_allclose(found.sum(axis=-1), 1)
    assert ((found > 0) & (found < 1)).all()


def test_without_observations_nothing_changes():
    calibration = PairCalibration().fit(np.empty((0, 3)), np.empty(0, int))
    np.testing.assert_array_equal(calibration.powers_, [1, 1, 0])
