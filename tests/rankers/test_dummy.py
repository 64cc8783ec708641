import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import DummyRanker
from moreplr.checks import RANKER_CHECKS, check_learns, make_rankings
from moreplr.metrics import tau_x_score
from moreplr.rankings import pair_order_matrix

NAN = float("nan")


@parametrize_with_checks([DummyRanker()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(
            check,
            marks=pytest.mark.xfail(strict=True, reason="the consensus ignores the features"),
        )
        if check is check_learns
        else check
        for check in RANKER_CHECKS
    ],
    ids=lambda check: check.__name__,
)
def test_ranker(check):
    check(DummyRanker())


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_pairs_are_the_weighted_shares(seed):
    rng = np.random.default_rng(seed)
    Y = rng.integers(1, 4, size=(7, 4)).astype(float)
    Y[:, 1:][rng.random((7, 3)) < 0.4] = NAN
    Y[0] = [1, 2, 2, 3]
    weight = rng.integers(1, 5, size=7).astype(float)
    P, Q = DummyRanker().fit(np.zeros((7, 1)), Y, weight).predict_pairs([[0.0]])
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(Y[:, i] + Y[:, j])
            shares = [weight[both & hit].sum() for hit in (Y[:, i] < Y[:, j], Y[:, i] == Y[:, j])]
            np.testing.assert_allclose((P[0, i, j], Q[0, i, j]), shares / weight[both].sum())
    np.testing.assert_allclose((P + Q / 2)[0], pair_order_matrix(Y, weight))


def test_no_constant_is_better():
    X, Y = make_rankings(n=80, k=4)
    ranker = DummyRanker().fit(X, Y)
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 4), -1).reshape(-1, 4)
    best = max(tau_x_score(Y, np.tile(row, (80, 1))) for row in grid)
    assert ranker.score(X, Y) == pytest.approx(best)


def test_pairs_never_ranked_together_are_told_and_get_a_third():
    with pytest.warns(UserWarning, match="1 of 3 pairs of labels are never ranked together"):
        ranker = DummyRanker().fit([[0], [0]], ["a > b", "b > c"])
    P, Q = ranker.predict_pairs([[0]])
    assert P[0, 0, 2] == P[0, 2, 0] == Q[0, 0, 2] == pytest.approx(1 / 3)


def test_features_may_be_missing():
    X, Y = make_rankings()
    X[:] = NAN
    assert (DummyRanker().fit(X, Y).predict(X) == DummyRanker().fit(X, Y).predict(X[:1])).all()


@pytest.mark.parametrize("parameter", ["strategy", "aggregation", "objective"])
@pytest.mark.parametrize("value", ["mean", 1, ["consensus"]], ids=str)
def test_bad_names_are_named(parameter, value):
    with pytest.raises(
        ValueError, match=f"{parameter} must be one of .* got {value!r}".replace("[", r"\[")
    ):
        DummyRanker(**{parameter: value}).fit([[0]], [[1, 2]])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"town": ["Ulm", None, "Bonn"], "seen": pd.date_range("2024", periods=3)}),
        pd.DataFrame(index=range(3)),
        [["Ulm"], ["Bonn"], ["Rome"]],
        [[1j], [NAN], [np.inf]],
    ],
    ids=["kinds", "no column", "texts", "odd numbers"],
)
def test_features_are_not_looked_at(X):
    ranker = DummyRanker().fit(X, ["a > b", "a > b", "b > a"])
    assert ranker.predict_text(X) == ["a > b"] * 3
