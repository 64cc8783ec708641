from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from moreplr import DummyRanker
from moreplr.cli.declaring import Options
from moreplr.cli.resampling import cross_validate
from moreplr.datasets import Dataset, load
from moreplr.model_selection import by_split


def validate(data, folds=3, repeats=2, **rankers):
    steps = []
    progress = SimpleNamespace(advance=lambda count, title: steps.append(count))
    options = Options(folds=folds, repeats=repeats, random_state=0)
    scores = cross_validate(data, rankers or {"dummy": DummyRanker()}, options, progress)
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
