import numpy as np
import pandas as pd
import pytest

from moreplr.metrics import choice_regret, closed_gap, penalized_runtime

INF, NAN = np.inf, np.nan


class TestChoiceRegret:
    def test_the_best_label_costs_nothing_and_others_the_difference(self):
        scores = [[1.0, 5.0, 3.0]] * 3
        Y = ["b > a ~ c", "c > b > a", "a > b > c"]
        assert choice_regret(scores, Y, per_sample=True).tolist() == [0, 2, 4]

    def test_costs_are_better_when_smaller(self):
        assert choice_regret([[1.0, 5.0]], [[2, 1]], larger_is_better=False) == 4

    def test_a_tie_is_drawn(self):
        assert choice_regret([[1.0, 5.0, 0.0]], [[1, 1, 2]]) == 2

    def test_labels_without_a_score_are_not_taken(self):
        assert choice_regret([[NAN, 5.0, 3.0]], [[1, 3, 2]]) == 2

    def test_rows_without_any_score_are_left_out(self):
        assert choice_regret([[NAN, NAN], [1.0, 4.0]], [[1, 2], [1, 2]]) == 3

    def test_columns_are_matched_by_name(self):
        scores = pd.DataFrame({"b": [5.0], "a": [1.0]})
        assert choice_regret(scores, ["a > b"]) == 4

    def test_each_label_needs_a_score(self):
        with pytest.raises(ValueError, match=r"values have shape \(1, 2\), Y_pred .* \(1, 3\)"):
            choice_regret([[1.0, 2.0]], [[1, 2, 3]])

    def test_infinite_scores_are_refused(self):
        with pytest.raises(ValueError, match="penalized_runtime"):
            choice_regret([[INF, 1.0]], [[1, 2]])


class TestRunTimes:
    times = np.array([[3.0, INF, 8.0], [50.0, 1.0, 8.0]])

    def test_par10(self):
        assert penalized_runtime(self.times, [[1, 2, 3], [1, 2, 3]], 100) == 26.5
        assert penalized_runtime(self.times, [[2, 1, 3], [2, 1, 3]], 100) == 500.5

    def test_above_the_cutoff_is_a_time_out(self):
        assert penalized_runtime([[60.0, 1.0]], [[1, 2]], 50, penalty=2) == 100
        assert penalized_runtime([[50.0, 1.0]], [[1, 2]], 50) == 50

    def test_a_cutoff_may_be_below_a_second(self):
        assert penalized_runtime([[0.6, 0.1]], [[1, 2]], 0.5) == 5

    @pytest.mark.parametrize(
        ("Y", "share"),
        [
            ([[1, 2, 3], [2, 1, 3]], 1.0),  # the virtual best
            ([[2, 3, 1], [2, 3, 1]], 0.0),  # the single best: the third solver
            ([[1, 2, 3], [2, 3, 1]], (8 - 5.5) / (8 - 2)),
        ],
    )
    def test_closed_gap(self, Y, share):
        assert closed_gap(self.times, Y, 100, single_best=2) == pytest.approx(share)

    def test_a_time_out_counts_ten_times_in_the_gap_too(self):
        times = [[2.0, 1.0], [2.0, INF]]
        share = closed_gap(times, [[2, 1], [2, 1]], 100, single_best=0)
        assert share == pytest.approx((2 - (1 + 1000) / 2) / (2 - 1.5))

    def test_the_single_best_may_be_named(self):
        frame = pd.DataFrame(self.times, columns=["a", "b", "c"])
        Y = pd.DataFrame([[2, 3, 1], [2, 1, 3]], columns=["a", "b", "c"])
        named = closed_gap(frame, Y, 100, single_best="c")
        assert named == closed_gap(self.times, Y, 100, single_best=2) == (8 - 4.5) / (8 - 2)

    def test_no_gap(self):
        assert np.isnan(closed_gap([[1.0, 2.0]], [[1, 2]], 10, single_best=0))

    def test_bad_times(self):
        with pytest.raises(ValueError, match="time-out is infinity"):
            penalized_runtime([[NAN, 1.0]], [[1, 2]], 10)
        with pytest.raises(ValueError, match="cutoff"):
            penalized_runtime([[1.0, 1.0]], [[1, 2]], 0)
