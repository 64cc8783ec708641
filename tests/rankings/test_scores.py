import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.rankings import dense_ranks, from_ratings, from_scores, to_scores, to_text

NAN, INF = float("nan"), float("inf")
VALUES = [-3.0, 0, 1, 1.5, 2, 10, NAN, INF]
scores = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: arrays(
        float, shape, elements=st.sampled_from([-3.0, 0, 1, 1.5, 2, 10, NAN, INF])
    )
)


def brute_ranks(row, margin, relative, last):
    """One label after another, the smallest cost first."""
    cost = [INF if np.isnan(c) and last else c for c in row]
    ranks, rank, best = [NAN] * len(row), 0, None
    for at in sorted((i for i, c in enumerate(cost) if not np.isnan(c)), key=lambda i: cost[i]):
        reach = margin * abs(best) if relative and best not in (None, INF) else margin
        if best is None or not (cost[at] == best or cost[at] - best <= reach):
            rank, best = rank + 1, cost[at]
        ranks[at] = rank
    return ranks


@given(scores, st.sampled_from([(0.0, False), (0.5, False), (1.0, False), (0.5, True)]))
@pytest.mark.parametrize("missing", ["unranked", "last"])
def test_ranks_are_those_of_one_label_after_another(missing, values, tolerance):
    margin, relative = tolerance
    given_as = f"{100 * margin}%" if relative else margin
    frame = pd.DataFrame(values)
    Y = from_scores(frame, larger_is_better=False, tolerance=given_as, missing=missing).Y
    expected = [brute_ranks(row, margin, relative, missing == "last") for row in values]
    np.testing.assert_array_equal(Y, expected)
    mirrored = from_scores(-frame, larger_is_better=True, tolerance=given_as, missing=missing).Y
    np.testing.assert_array_equal(mirrored, Y)


@given(scores)
def test_the_order_of_labels_does_not_matter(values):
    frame = pd.DataFrame(values)
    Y = from_scores(frame, larger_is_better=False, tolerance=1).Y
    back = from_scores(frame.iloc[:, ::-1], larger_is_better=False, tolerance=1).Y.iloc[:, ::-1]
    np.testing.assert_array_equal(back, Y)


def test_a_chain_is_cut_where_it_leaves_the_best_of_the_bucket():
    frame = pd.DataFrame([[100.0, 100.9, 101.8, 102.5]], columns=list("abcd"))
    Y = from_scores(frame, larger_is_better=False, tolerance="1%").Y
    assert to_text(Y) == ["a ~ b > c ~ d"]


def test_a_difference_of_just_the_tolerance_ties_whatever_rounding_does():
    frame = pd.DataFrame([[1.0, 1.1], [0.3, 0.2]])
    assert (from_scores(frame, larger_is_better=False, tolerance=0.1).Y == 1).all(axis=None)


def test_features_are_what_is_left():
    frame = pd.DataFrame({"id": ["x"], "size": [3], "t_a": [2.0], "t_b": [1.0]}, index=["i7"])
    X, Y = from_scores(frame, "t_*", larger_is_better=False, ignore=["id"])
    assert X.to_dict("index") == {"i7": {"size": 3}}
    assert Y.to_dict("index") == {"i7": {"t_a": 2.0, "t_b": 1.0}}


def test_polars_and_ratings():
    frame = polars.DataFrame({"age": [3], "a": [5], "b": [None], "c": [5]})
    X, Y = from_ratings(frame, 3)
    assert X.columns == ["age"]
    np.testing.assert_array_equal(Y.to_numpy(), [[1, NAN, 1]])


@given(scores.filter(lambda values: not np.isinf(values).any()))
@pytest.mark.parametrize("larger", [True, False])
def test_there_and_back(larger, Y):
    frame = to_scores(Y, larger_is_better=larger)
    back = from_scores(frame, larger_is_better=larger).Y
    np.testing.assert_array_equal(back, dense_ranks(Y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "first"}, "missing must be one of"),
        ({"tolerance": "1 percent"}, "tolerance must be a number from 0 or a share such as '1%'"),
        ({"tolerance": -1}, "tolerance must be"),
        ({"labels": "score_*"}, "no column matches 'score_"),
        ({"labels": ["t_a", "t_c"]}, "no column 't_c' .labels.; did you mean"),
        ({"larger_is_better": True}, "row 1, label 't_b': no score is better than inf"),
    ],
)
def test_a_wrong_use_says_what_is_right(options, message):
    frame = pd.DataFrame({"t_a": [1.0, 2], "t_b": [2.0, INF]})
    with pytest.raises(ValueError, match=message):
        from_scores(frame, **{"larger_is_better": False, **options})


def test_a_cell_that_is_no_number_is_named():
    frame = pd.DataFrame({"t_a": [1.0, 2], "t_b": ["2", "timeout"]})
    with pytest.raises(ValueError, match="row 1, label 't_b': score 'timeout' is not a number"):
        from_scores(frame, larger_is_better=False)
