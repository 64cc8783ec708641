import choix
import numpy as np
import pytest
from scipy.optimize import minimize

from moreplr.rivals.plackett_luce import fit_skills

NAN = float("nan")


def test_two_labels_by_hand():
    """a wins two of three: skills 2 : 1; with a prior p, the root of its own equation."""
    Y = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]])
    a, b = np.exp(fit_skills(Y, prior=0, tol=1e-12))
    assert a / b == pytest.approx(2)
    a, b = np.exp(fit_skills(Y, prior=0.5, tol=1e-12))
    assert 2 / a + 0.5 / a == pytest.approx(3 / (a + b) + 0.5)
    assert 1 / b + 0.5 / b == pytest.approx(3 / (a + b) + 0.5)


def test_greatest_likelihood_as_choix_finds_it():
    orders = [(0, 1, 2, 3), (1, 0, 3), (3, 1, 0, 2), (2, 3), (2, 0, 1)]
    Y = np.full((5, 4), NAN)
    for row, order in enumerate(orders):
        Y[row, list(order)] = np.arange(len(order))
    expected = choix.mm_rankings(4, orders, max_iter=20_000)
    found = fit_skills(Y, prior=0, tol=1e-10, max_iter=20_000)
    np.testing.assert_allclose(found, expected - expected.mean(), atol=1e-5)


def breslow(log_skill, Y, weight, prior):
    skill = np.exp(log_skill)
    value = prior * (log_skill - skill).sum()
    for row, w in zip(Y, weight, strict=True):
        for label in np.flatnonzero(~np.isnan(row)):
            value += w * (log_skill[label] - np.log(skill[row >= row[label]].sum()))
    return value


def test_ties_weights_and_prior_reach_the_maximum():
    rng = np.random.default_rng(0)
    Y = rng.integers(1, 4, size=(7, 5)).astype(float)
    Y[rng.random(Y.shape) < 0.3] = NAN
    weight = rng.random(7) + 0.1
    found = fit_skills(Y, weight, prior=0.2, tol=1e-10, max_iter=5000)
    best = minimize(lambda x: -breslow(x, Y, weight, 0.2), np.zeros(5), tol=1e-10)
    np.testing.assert_allclose(found, best.x, atol=1e-4)


def test_labels_that_win_always_or_are_absent_have_finite_skills():
    found = fit_skills(np.array([[1.0, 2.0, NAN]] * 5))
    assert found[0] > found[2] == 0 > found[1]


def test_a_stack_is_fitted_like_its_parts():
    rng = np.random.default_rng(1)
    Y = rng.integers(1, 5, size=(3, 4, 4)).astype(float)
    together = fit_skills(Y, tol=1e-10, max_iter=3000)
    for part in range(3):
        alone = fit_skills(Y[part], tol=1e-10, max_iter=3000)
        np.testing.assert_allclose(together[part], alone, atol=1e-6)
