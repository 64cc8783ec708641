import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.rankings import from_votes, pair_order_matrix, to_text, to_votes

NAN = float("nan")
VOTES = pd.DataFrame(
    {
        "words": [5, 6, 7, 8, 9],
        "model_a": ["gpt", "llama", "gpt", "claude", "gpt"],
        "model_b": ["llama", "claude", "claude", "gpt", "llama"],
        "winner": ["model_a", "claude", "tie", "tie (bothbad)", "B"],
    }
)
NAMES = ("model_a", "model_b", "winner")


def test_winners_by_name_column_and_letter_and_ties():
    X, Y = from_votes(VOTES, *NAMES)
    assert to_text(Y) == ["gpt > llama", "claude > llama", *["claude ~ gpt"] * 2, "llama > gpt"]
    assert X["words"].tolist() == [5, 6, 7, 8, 9]


def test_both_bad_can_be_skipped():
    X, Y = from_votes(VOTES, *NAMES, skip=["tie (bothbad)"])
    assert X["words"].tolist() == [5, 6, 7, 9]
    assert X.index.tolist() == Y.index.tolist() == [0, 1, 2, 4]


def test_polars_in_polars_out():
    X, Y = from_votes(polars.DataFrame(VOTES.to_dict("list")), *NAMES, skip=["tie"])
    assert X["words"].to_list() == [5, 6, 8, 9]
    assert Y.columns == ["claude", "gpt", "llama"]


def test_a_label_named_like_a_column_or_tie_is_a_label():
    frame = pd.DataFrame({"a": ["b", "tie"], "b": ["a", "x"], "winner": ["a", "tie"]})
    assert to_text(from_votes(frame, "a", "b", "winner").Y) == ["a > b", "tie > x"]


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 5), st.integers(2, 4)),
        elements=st.sampled_from([1.0, 2.0, 3.0, NAN]),
    )
)
def test_votes_of_rankings_have_their_pairs(Y):
    votes = to_votes(Y)
    if not len(votes):
        return
    back = from_votes(votes, "a", "b", "winner", labels=range(Y.shape[1]), ignore=["row"]).Y
    np.testing.assert_allclose(
        pair_order_matrix(back.to_numpy(dtype=float)), pair_order_matrix(Y), atol=1e-12
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"winner": ["x"] * 5},
            r"row 0, column 'winner': 'x' is neither 'gpt' nor 'llama', nor one of the columns "
            r"'model_a' and 'model_b'; if it is a tie, say",
        ),
        ({"winner": [None] * 5}, r"row 0, column 'winner': '' is .* skip=\[''\] leaves"),
        (
            {"model_b": ["gpt"] * 5},
            "row 0: 'gpt' is compared with itself in columns 'model_a' and 'model_b'; ",
        ),
        ({"model_a": ["gpt", ""] * 2 + ["gpt"]}, "row 1, column 'model_a' is empty"),
    ],
)
def test_a_wrong_use_names_row_and_column(change, message):
    with pytest.raises(ValueError, match=message):
        from_votes(VOTES.assign(**change), *NAMES)


def test_nothing_is_left_or_known():
    with pytest.raises(ValueError, match="'winner': all votes are skipped"):
        from_votes(VOTES[2:3], *NAMES, skip=["tie"])
    with pytest.raises(ValueError, match="row 3: 'claude' is not among the labels"):
        from_votes(VOTES, *NAMES, labels=["gpt", "llama"])
