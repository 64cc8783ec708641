"""What a ranker says of rows, as pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.patches import FancyBboxPatch

from moreplr import BradleyTerryRanker, DummyRanker, RankingTree
from moreplr.checks import make_rankings
from moreplr.plotting import PairsDisplay, RankingDisplay, UtilitiesDisplay

LABELS = ["tea", "milk", "beer", "water"]


@pytest.fixture(scope="module")
def data():
    X, Y = make_rankings()
    return X, pd.DataFrame(Y, columns=LABELS)


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def test_a_box_is_a_bucket_and_holds_its_labels():
    display = RankingDisplay.from_predictions(["tea > milk ~ beer", "beer"], names=["Ann", "Bo"])
    found = boxes(display.ax_)
    assert [round(box.get_width() + 0.12) for box in found] == [1, 2, 1]
    assert [text.get_text() for text in display.ax_.texts] == ["tea", "beer", "milk", "beer"]
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["Ann", "Bo"]
    by_row = {round(box.get_y() + 0.32) for box in found}
    assert by_row == {0, 1}


def test_predictions_keep_the_names_of_rows(data):
    X, Y = data
    frame = pd.DataFrame(X[:3], index=["p", "q", "r"])
    ranker = RankingTree(random_state=0).fit(pd.DataFrame(X), Y)
    display = RankingDisplay.from_estimator(ranker, frame, top=1)
    assert display.names == ["p", "q", "r"]
    assert len(boxes(display.ax_)) == 6
    framed = ranker.set_output(transform="pandas")
    np.testing.assert_array_equal(
        RankingDisplay.from_estimator(framed, frame, top=1).ranks, display.ranks
    )


def test_the_map_is_sorted_and_says_the_shares(data):
    X, Y = data
    ranker = DummyRanker().fit(X, Y)
    display = PairsDisplay.from_estimator(ranker, X[:5])
    order = np.argsort(-ranker.predict_scores(X[:1])[0])
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names == [LABELS[at] for at in order]
    P, Q = (part[0] for part in ranker.predict_pairs(X[:1]))
    shown = display.ax_.images[0].get_array()
    i, j = order[0], order[1]
    assert shown[0, 1] == pytest.approx(P[i, j] + Q[i, j] / 2)
    assert len(display.ax_.texts) == 12
    assert display.ax_.texts[0].get_text() == f"{shown[0, 1] * 100:.0f}"


def test_many_labels_go_without_numbers():
    k = 15
    display = PairsDisplay.from_predictions(np.full((k, k), 0.5), np.zeros((k, k)), range(k))
    assert not display.ax_.texts


def test_utilities_have_the_intervals_of_their_standard_errors(data):
    X, Y = data
    ranker = BradleyTerryRanker(alpha=1.0, standard_errors="fisher").fit(np.zeros((len(X), 1)), Y)
    display = UtilitiesDisplay.from_estimator(ranker, level=0.95)
    np.testing.assert_allclose(
        display.high - display.low, 2 * 1.96 * ranker.intercept_error_, 1e-3
    )
    best = display.ax_.get_yticklabels()[0].get_text()
    assert best == LABELS[ranker.intercept_.argmax()]


def test_scores_of_rows_have_the_interval_of_the_rows(data):
    X, Y = data
    ranker = RankingTree(random_state=0).fit(X, Y)
    display = UtilitiesDisplay.from_estimator(ranker, X, level=0.5)
    np.testing.assert_allclose(
        [display.low, display.high], np.quantile(ranker.predict_scores(X), [0.25, 0.75], axis=0)
    )
    twin = UtilitiesDisplay.from_predictions(ranker.predict_scores(X), LABELS, level=0.5)
    np.testing.assert_array_equal(twin.low, display.low)
    with pytest.raises(ValueError, match="give X, or fit a BradleyTerryRanker"):
        UtilitiesDisplay.from_estimator(ranker)


def test_displays_draw_on_given_axes(data):
    X, Y = data
    ranker = DummyRanker().fit(X, Y)
    figure, axes = pyplot.subplots(3)
    shown = [
        RankingDisplay.from_estimator(ranker, X[:2], ax=axes[0]),
        PairsDisplay.from_estimator(ranker, X[:2], ax=axes[1]),
        UtilitiesDisplay.from_estimator(ranker, X[:2], ax=axes[2]),
    ]
    assert [display.ax_ for display in shown] == list(axes)
    assert {display.figure_ for display in shown} == {figure}
    figure.canvas.draw()
