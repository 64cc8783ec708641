import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from moreplr import DummyRanker
from moreplr.cli.resampling import bootstrap, by_split, corrected_t, cross_validate
from moreplr.datasets import Dataset, load

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
    assert found == bootstrap(values, 0.95, seed)


def validate(data, folds=3, repeats=2, **rankers):
    steps = []
    scores = cross_validate(
        data,
        rankers or {"dummy": DummyRanker()},
        folds=folds,
        repeats=repeats,
        random_state=0,
        advance=lambda count, title: steps.append(count),
    )
    return scores, sum(steps)


def test_each_ranker_sees_the_same_splits_and_each_row_is_tested_once_a_repeat():
    data = load("iris")
    scores, steps = validate(data, one=DummyRanker(), two=DummyRanker())
    assert steps == len(scores) == 12
    wide = by_split(scores)
    assert list(wide) == ["one", "two"]
    assert (wide["one"] == wide["two"]).all()
    tested = scores[scores["ranker"] == "one"].groupby("repeat")["test_rows"].sum()
    assert tested.tolist() == [150, 150]


def test_the_test_rows_teach_nothing():
    """Features of a row that is predicted are unknown to what prepares them."""
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    Y = pd.DataFrame([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [2.0, 1.0]])
    scores, _ = validate(Dataset("d", "plr", X, Y), folds=4, repeats=1)
    # Of the three others, two prefer what this row does not.
    assert scores["tau_x"].tolist() == [-1, -1, -1, -1]


def test_warnings_of_many_fits_are_said_once(capsys):
    Y = pd.DataFrame([[1.0, 2.0]] * 8 + [[np.nan, np.nan]] * 4)
    validate(Dataset("d", "plr", pd.DataFrame({"x": np.arange(12.0)}), Y))
    said = capsys.readouterr().err
    assert said.count("rows rank no label") == 1
    assert "fits)" in said


@pytest.mark.parametrize(("folds", "repeats"), [(1, 1), (2, 0), (200, 1)])
def test_folds_that_make_no_sense(folds, repeats):
    with pytest.raises(ValueError, match="folds"):
        validate(load("iris"), folds, repeats)


def test_nothing_to_score():
    Y = pd.DataFrame({"a": [1.0] * 4, "b": [np.nan] * 4})
    with pytest.raises(ValueError, match="no row ranks two labels"):
        validate(Dataset("d", "plr", pd.DataFrame({"x": np.arange(4.0)}), Y))
