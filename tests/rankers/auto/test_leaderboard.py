"""The worth of members as a table and in words."""

import numpy as np
import pytest

from moreplr.metrics._means import mean_of_known
from moreplr.rankers.auto._judging import Judged
from moreplr.rankers.auto._mixture import leaderboard, summary

NONE = np.empty((0, 0, 2), np.float32)
WEIGHTS = {"near": 0.75, "consensus": 0.25}


def test_members_stand_by_weight_and_say_what_became_of_them():
    judged = {
        "consensus": Judged(NONE, None, 0.1, None),
        "forest": Judged(NONE, None, 2.0, None),
        "near": Judged(NONE, np.arange(40), 1.0, None),
    }
    scores = {"consensus": (0.1, 1.0), "forest": (0.5, 0.7), "near": (0.6, 0.6)}
    board = leaderboard(judged, {"slow": "takes about 9 s"}, WEIGHTS, scores, 100)
    assert board["member"].tolist() == ["near", "consensus", "forest", "slow"]
    assert board["weight"].tolist() == [0.75, 0.25, 0, 0]
    assert board["status"].tolist() == [
        "mixed, fitted on 40 of 100 rows",
        "mixed",
        "dropped: hardly any weight",
        "left out: takes about 9 s",
    ]
    assert board["tau_x"].tolist()[:3] == [0.6, 0.1, 0.5]
    assert np.isnan(board["tau_x"][3])


def test_means_are_of_what_is_known():
    values = np.array([1.0, np.nan, 4.0])
    assert mean_of_known(values, None) == 2.5
    assert mean_of_known(values, np.array([3.0, 9.0, 1.0])) == 1.75
    assert np.isnan(mean_of_known(values, np.array([0.0, 1.0, 0.0])))


def test_a_gain_beyond_its_error_is_said():
    said = summary(WEIGHTS, 0.6, np.array([0.1, 0.2, 0.3]), None)
    assert said.startswith("A mixture of near 75%, consensus 25%: τ_X 0.600 on held-out rows")
    assert "0.200 ± 0.058 more than the consensus" in said


@pytest.mark.parametrize("gains", [[0.3, -0.3, 0.1], [-0.1, -0.1, -0.2]])
def test_without_such_a_gain_nothing_beats_the_consensus(gains):
    assert "Nothing beats the consensus" in summary(WEIGHTS, 0.6, np.array(gains), None)


def test_one_row_is_too_few_to_compare():
    said = summary(WEIGHTS, 0.6, np.array([0.5, np.nan]), None)
    assert said.endswith("too few rows to compare it with the consensus.")
