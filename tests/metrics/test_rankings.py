from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV

from moreplr import MORERanker, metrics
from moreplr.checks import make_rankings
from moreplr.metrics import (
    bucket_count_error,
    kendall_distance,
    tau_b_score,
    tau_x_score,
    tie_precision_score,
    tie_recall_score,
    top_one_score,
)

NAN = float("nan")


def pairs_of_rankings(values=(1.0, 2.0, 3.0, NAN)):
    return st.tuples(st.integers(1, 4), st.integers(2, 6)).flatmap(
        lambda shape: st.tuples(
            *(arrays(float, shape, elements=st.sampled_from(values)) for _ in range(2))
        )
    )


def beta(row, i, j):
    return 0 if i == j else 1 if row[i] <= row[j] else -1


def tau_x_by_the_equation(true, pred):
    """Section 5.1, over the labels that both rank together."""
    both = [i for i in range(len(true)) if not np.isnan(true[i] + pred[i])]
    k = len(both)
    if k < 2:
        return NAN
    total = sum(beta(true, i, j) * beta(pred, i, j) for i in both for j in both)
    return total / (k * (k - 1))


class TestTauX:
    @given(pairs_of_rankings())
    def test_equation(self, case):
        expected = [tau_x_by_the_equation(*rows) for rows in zip(*case, strict=True)]
        np.testing.assert_allclose(tau_x_score(*case, per_sample=True), expected)

    def test_all_orders_of_three_average_to_zero(self):
        orders = np.array(list(permutations([1.0, 2.0, 3.0])))
        assert tau_x_score(np.tile([1.0, 2.0, 3.0], (6, 1)), orders) == pytest.approx(0)

    def test_only_ranked_pairs_count(self):
        assert tau_x_score([[1, NAN, 2]], [[1, 5, 2]]) == 1
        assert tau_x_score([[1, NAN, 2]], [[2, 5, 1]]) == -1

    def test_rows_without_a_pair_are_left_out_of_the_mean(self):
        true = [[1, 2], [NAN, 1]]
        assert tau_x_score(true, [[1, 2], [1, 2]]) == 1
        assert np.isnan(tau_x_score(true, [[1, 2], [1, 2]], per_sample=True)[1])

    def test_nothing_to_compare_is_undefined(self):
        with pytest.warns(UndefinedMetricWarning, match="no row has a pair") as caught:
            assert np.isnan(tau_x_score([[1.0]], [[1.0]]))
        assert caught[0].filename == __file__  # where the user called, not inside of the library

    def test_weights(self):
        true, pred = [[1, 2], [1, 2]], [[1, 2], [2, 1]]
        assert tau_x_score(true, pred, sample_weight=[3, 1]) == pytest.approx(0.5)

    def test_frames_are_matched_by_column_name(self):
        true = pd.DataFrame({"a": [1], "b": [2]})
        assert tau_x_score(true, true[["b", "a"]]) == 1
        assert tau_x_score(true, [[2, 1]]) == -1
        assert tau_x_score([[2, 1]], true) == -1  # what has no names goes by its place

    def test_texts_and_frames_together(self):
        assert tau_x_score(["b > a"], pd.DataFrame({"b": [1], "a": [2]})) == 1

    def test_different_shapes(self):
        with pytest.raises(ValueError, match=r"\(1, 2\).*\(1, 3\)"):
            tau_x_score([[1, 2]], [[1, 2, 3]])


class TestOtherMetrics:
    @given(pairs_of_rankings((1.0, 2.0, 3.0)))
    def test_tau_b_is_scipys(self, case):
        values = tau_b_score(*case, per_sample=True)
        for true, pred, value in zip(*case, values, strict=True):
            constant = len(set(true)) == 1 or len(set(pred)) == 1
            expected = NAN if constant else kendalltau(true, pred).statistic
            np.testing.assert_allclose(value, expected, atol=1e-12)

    @given(pairs_of_rankings())
    def test_distance_with_half_penalty_is_tau_x_turned_around(self, case):
        np.testing.assert_allclose(
            kendall_distance(*case, per_sample=True),
            (1 - tau_x_score(*case, per_sample=True)) / 2,
        )

    def test_distance_counts_discordant_pairs(self):
        assert kendall_distance([[1, 2, 3]], [[3, 2, 1]], normalize=False) == 3
        for penalty in (0, 1):
            distance = kendall_distance([[1, 2, 3]], [[1, 1, 1]], penalty=penalty, normalize=False)
            assert distance == 3 * penalty

    def test_distance_of_a_single_pair(self):
        assert kendall_distance([[1, 2]], [[2, 1]], normalize=False) == 1

    def test_distance_of_nothing_to_compare_is_not_zero(self):
        found = kendall_distance([[1, NAN]], [[1, 2]], normalize=False, per_sample=True)
        assert np.isnan(found).all()

    def test_distance_refuses_an_odd_penalty(self):
        with pytest.raises(ValueError, match="penalty"):
            kendall_distance([[1, 2]], [[1, 2]], penalty=2)

    def test_bucket_count_error_over_shared_labels(self):
        true, pred = [[1, 2, 2, NAN], [1, 1, 1, 1]], [[1, 2, 3, 4], [1, 2, 1, 2]]
        np.testing.assert_array_equal(bucket_count_error(true, pred, per_sample=True), [1, 1])
        assert bucket_count_error(true, pred) == 1.0

    def test_ties(self):
        true, pred = [[1, 1, 2, 3]], [[1, 1, 1, 2]]
        assert tie_precision_score(true, pred) == pytest.approx(1 / 3)
        assert tie_recall_score(true, pred) == 1
        with pytest.warns(UndefinedMetricWarning, match="no predicted tie") as caught:
            assert np.isnan(tie_precision_score(true, [[1, 2, 3, 4]]))
        assert caught[0].filename == __file__
        with pytest.warns(UndefinedMetricWarning, match="no true tie"):
            assert np.isnan(tie_recall_score([[1, 2, 3, 4]], pred))

    @given(pairs_of_rankings())
    def test_top_one_is_the_chance_of_a_draw(self, case):
        values = top_one_score(*case, per_sample=True)
        for true, pred, value in zip(*case, values, strict=True):
            both = np.flatnonzero(~np.isnan(true + pred))
            best = [i for i in both if pred[i] == pred[both].min()]
            hits = [true[i] == true[both].min() for i in best]
            np.testing.assert_allclose(value, np.mean(hits) if hits else NAN)

    def test_top_one_of_several_rows_is_their_mean(self):
        true, pred = [[1, 2, 3]] * 4, [[1, 2, 3], [1, 1, 2], [2, 1, 3], [1, 3, 2]]
        assert top_one_score(true, pred) == pytest.approx(2.5 / 4)
        assert top_one_score(true, pred, sample_weight=[0, 0, 1, 1]) == pytest.approx(0.5)

    def test_top_one_by_hand(self):
        assert top_one_score([[1, 1, 2]], [[1, 2, 3]]) == 1
        assert top_one_score([[1, 2, 2]], [[1, 1, 1]]) == pytest.approx(1 / 3)
        assert top_one_score([[NAN, 1, 2]], [[1, 2, 3]]) == 1


@pytest.mark.parametrize("name", sorted(metrics.SCORERS))
def test_scorers_prefer_a_learner_to_its_reverse_in_a_search(name):
    X, Y = make_rankings(n=40)

    class Reversed(MORERanker):
        def predict(self, X):
            return -super().predict(X)

    scores = [
        GridSearchCV(ranker, {"random_state": [0]}, scoring=metrics.SCORERS[name], cv=2)
        .fit(X, Y)
        .best_score_
        for ranker in (MORERanker(), Reversed())
    ]
    assert scores[0] > scores[1]
