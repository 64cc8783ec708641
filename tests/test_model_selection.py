from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from moreplr import DummyRanker
from moreplr.datasets import load
from moreplr.model_selection import bootstrap, by_split, corrected_t, cross_validate

SCORES = st.lists(st.floats(-1, 1), min_size=2, max_size=30)


@given(scores=SCORES)
@settings(max_examples=50, deadline=None)
def test_without_correction_it_is_the_t_interval(scores):
    found = corrected_t(scores, 0.0, 0.9, most=np.inf)
    error = stats.sem(scores)
    assert found.mean == pytest.approx(np.mean(scores))
    if error > 1e-9:
        low, high = stats.t.interval(0.9, len(scores) - 1, np.mean(scores), error)
        assert (found.low, found.high) == pytest.approx((low, high))
        assert found.p_value == pytest.approx(stats.ttest_1samp(scores, 0).pvalue)


def test_the_correction_adds_the_ratio_of_test_to_training_rows():
    scores = [0.5, 0.7, 0.6, 0.8]
    plain, corrected = corrected_t(scores, 0.0, most=9), corrected_t(scores, 1 / 3, most=9)
    wider = (corrected.high - corrected.low) / (plain.high - plain.low)
    assert wider == pytest.approx(np.sqrt((1 / 4 + 1 / 3) / (1 / 4)))
    assert corrected.p_value > plain.p_value


def test_scores_that_do_not_vary():
    assert corrected_t([0.0, 0.0], 0.5).p_value == 1
    found = corrected_t([0.4, 0.4], 0.5)
    assert (found.low, found.high, found.p_value) == (0.4, 0.4, 0)


def test_one_score_has_no_interval():
    found = corrected_t([0.4], 0.5)
    assert found.mean == 0.4
    assert np.isnan([found.low, found.high, found.p_value]).all()


def test_intervals_end_where_the_measure_does():
    assert corrected_t([1.0, 0.5], 1.0).high == 1
    assert corrected_t([-1.0, -0.5], 1.0).low == -1


@pytest.mark.parametrize("seed", [0, 1])
def test_the_bootstrap_is_near_the_normal_interval_and_repeatable(seed):
    values = np.random.default_rng(seed).normal(size=400)
    found = bootstrap(values, 0.95, seed)
    error = values.std() / 20
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.3 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.3 * error)
    again = bootstrap(values, 0.95, seed)
    np.testing.assert_equal(astuple(again), astuple(found))  # of which p is NaN


IRIS = load("iris")


def test_each_ranker_sees_the_same_splits_and_each_row_is_tested_once_a_repeat():
    rankers = {"one": DummyRanker(), "two": DummyRanker()}
    scores = cross_validate(rankers, IRIS.X, IRIS.Y, n_folds=3, n_repeats=2, random_state=0)
    wide = by_split(scores)
    assert list(wide) == ["one", "two"]
    assert (wide["one"] == wide["two"]).all()
    tested = scores[scores["ranker"] == "one"].groupby("repeat")["test_rows"].sum()
    assert tested.tolist() == [150, 150]
    assert wide["one"].nunique() > 3  # repetitions have folds of their own


class Spy(DummyRanker):
    """Remembers which rows it was fitted on, by their first feature, and with what weights."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        Spy.seen.append((set(np.asarray(X)[:, 0]), sample_weight))
        return super().fit(X, y, sample_weight)


def test_groups_are_never_split():
    Spy.seen.clear()
    groups = np.arange(30) // 3
    X, Y = groups[:, None].astype(float), [[1, 2], [2, 1], [1, 1]] * 10
    scores = cross_validate({"spy": Spy()}, X, Y, n_folds=5, groups=groups, random_state=0)
    for (train, _), test_rows in zip(Spy.seen, scores["test_rows"], strict=True):
        assert 3 * (10 - len(train)) == test_rows


def test_weights_are_used_in_fits_and_in_the_mean():
    Spy.seen.clear()
    X, Y = np.arange(6.0)[:, None], [[1, 2], [1, 2], [1, 2], [1, 2], [2, 1], [1, 2]]
    weight = np.array([1.0, 1.0, 1.0, 1.0, 0.5, 1.0])
    for model in (Spy(), make_pipeline(StandardScaler(), Spy())):
        scores = cross_validate(
            {"spy": model}, X, Y, n_folds=2, sample_weight=weight, random_state=1
        )
        own = (scores["tau_x"] * [1, 1]).to_numpy()
        # The one row that disagrees is half as heavy: (2 - 0.5) / 2.5 where it is tested.
        assert sorted(own) == pytest.approx([0.6, 1.0])
    assert all(len(rows) == len(weights) for rows, weights in Spy.seen)


def test_text_rankings_keep_their_labels_in_every_fold():
    """A label that few rows name is still known where no training row has it."""
    Y = ["a > b > c"] * 9 + ["d > a > b > c"]
    with pytest.warns(UserWarning, match="never ranked together"):
        scores = cross_validate({"dummy": DummyRanker()}, np.zeros((10, 1)), Y, random_state=0)
    assert scores["tau_x"].notna().sum() == 5


@pytest.mark.parametrize(("folds", "repeats"), [(1, 1), (2, 0), (200, 1)])
def test_folds_that_make_no_sense(folds, repeats):
    with pytest.raises(ValueError, match=r"folds|repeats"):
        cross_validate({}, IRIS.X, IRIS.Y, n_folds=folds, n_repeats=repeats)


def test_nothing_to_score():
    with pytest.raises(ValueError, match="no row ranks two labels"):
        cross_validate({}, np.zeros((4, 1)), [[1.0, np.nan]] * 4, n_folds=2)
