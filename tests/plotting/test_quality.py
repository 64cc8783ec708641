"""How good rankers are, as pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from moreplr import DummyRanker, RankingTree
from moreplr.checks import make_rankings
from moreplr.plotting import (
    ImportancesDisplay,
    LearningCurveDisplay,
    MeanRanksDisplay,
    OrderCalibrationDisplay,
    TieCalibrationDisplay,
)


def coins(n, seed=0):
    """Two labels, tied as often as predicted."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(0, 1, n)
    Y = np.where((rng.random(n) < share)[:, None], [[1.0, 1.0]], [[1.0, 2.0]])
    Q = np.zeros((n, 2, 2))
    Q[:, 0, 1] = Q[:, 1, 0] = share
    return Y, (np.zeros_like(Q), Q)


def test_calibrated_ties_lie_on_the_diagonal():
    Y, pairs = coins(20_000)
    display = TieCalibrationDisplay.from_predictions(Y, pairs, n_bins=5)
    np.testing.assert_allclose(display.predicted, [0.1, 0.3, 0.5, 0.7, 0.9], atol=0.02)
    np.testing.assert_allclose(display.observed, display.predicted, atol=0.03)
    assert display.counts.sum() == 20_000
    assert np.ptp(display.counts) <= 1


def test_pairs_that_are_not_ranked_do_not_count():
    Y, pairs = coins(100)
    Y[:40, 1] = np.nan
    assert TieCalibrationDisplay.from_predictions(Y, pairs).counts.sum() == 60
    with pytest.raises(ValueError, match="no ranking compares two labels"):
        TieCalibrationDisplay.from_predictions(np.where([True, False], Y, np.nan), pairs)


def test_the_more_probable_order_counts_and_ties_do_not():
    rng = np.random.default_rng(0)
    share = rng.uniform(0, 1, 20_000)
    Y = np.where((rng.random(20_000) < share)[:, None], [[1.0, 2.0]], [[2.0, 1.0]])
    Y[:5_000] = 1
    P, Q = np.zeros((2, 20_000, 2, 2))
    P[:, 0, 1], P[:, 1, 0] = 0.8 * share, 0.8 * (1 - share)  # 0.2 is left for ties
    display = OrderCalibrationDisplay.from_predictions(Y, (P, Q), n_bins=5)
    np.testing.assert_allclose(display.predicted, [0.55, 0.65, 0.75, 0.85, 0.95], atol=0.02)
    np.testing.assert_allclose(display.observed, display.predicted, atol=0.03)
    assert display.counts.sum() == 15_000
    with pytest.raises(ValueError, match="no ranking compares two labels"):
        OrderCalibrationDisplay.from_predictions(np.ones((3, 2)), (P[:3], Q[:3]))


def test_equal_probabilities_share_a_bin():
    X, Y = make_rankings()
    display = TieCalibrationDisplay.from_estimator(DummyRanker().fit(X, Y), X, Y)
    np.testing.assert_allclose(display.predicted, display.observed)
    assert len(display.counts) <= 6


def test_importances_are_sorted_and_named():
    X, Y = make_rankings(200)
    X = pd.DataFrame({"noise": np.random.default_rng(0).normal(size=200), "x": X[:, 0]})
    Y = np.column_stack([X["x"] > 0, X["x"] <= 0]).astype(float)
    tree = RankingTree(random_state=0).fit(X, Y)
    for display in (
        ImportancesDisplay.from_estimator(tree),
        ImportancesDisplay.from_estimator(tree, X, Y),
    ):
        assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["x", "noise"]
        assert display.importances[1] > 0.8 > 0.2 > display.importances[0]
    one = ImportancesDisplay.from_estimator(tree, most=1)
    assert len(one.ax_.get_yticks()) == 1
    with pytest.raises(ValueError, match="DummyRanker has no feature_importances_: give X and Y"):
        ImportancesDisplay.from_estimator(DummyRanker().fit(X, Y))


@pytest.mark.parametrize("length", [3, 60])
def test_names_of_any_length_leave_room_for_bars_and_meaning(length):
    display = ImportancesDisplay(np.array([0.2, 0.1]), ["n" * length, "b"], None, "lost " * 7)
    ax, figure = display.plot().ax_, display.figure_
    figure.draw_without_rendering()
    for part in (ax.xaxis.label, *ax.get_yticklabels()):
        box = part.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
    assert ax.bbox.width > 150


def test_a_learning_curve_rises_and_shares_axes():
    X, Y = make_rankings(200)
    tree = RankingTree(random_state=0)
    first = LearningCurveDisplay.from_estimator(tree, X, Y, sizes=[0.1, 1.0], n_folds=3)
    assert first.rows.tolist() == [13, 133]
    assert first.scores.mean(axis=1)[1] > first.scores.mean(axis=1)[0]
    second = LearningCurveDisplay.from_estimator(
        DummyRanker(), X, Y, sizes=[0.1, 1.0], n_folds=3, label="consensus", ax=first.ax_
    )
    assert len(second.ax_.lines) == 2
    assert second.ax_.get_legend().get_texts()[0].get_text() == "consensus"


def test_mean_ranks_and_bars_of_methods_that_do_not_differ():
    rng = np.random.default_rng(0)
    worse = rng.normal(size=40)
    scores = pd.DataFrame({"bad": worse - 5, "one": worse, "two": worse + rng.normal(0, 1, 40)})
    display = MeanRanksDisplay.from_predictions(scores)
    assert display.ranks.index[-1] == "bad"
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 4]
    assert len(bars) == 1
    low, high = bars[0].get_xdata()
    assert low < display.ranks.iloc[0] < display.ranks.iloc[1] < high < display.ranks["bad"]
    texts = " ".join(text.get_text() for text in display.ax_.texts)
    assert f"critical difference {display.distance:.2f}" in texts
    assert f"bad  {display.ranks['bad']:.2f}" in texts
