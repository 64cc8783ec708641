import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moreplr.rankings import check_rankings, from_text, to_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a < b", "'<' in 'a < b'; the best label comes first: 'b > a'"),
        ("a, b, c", "',' in 'a, b, c'; labels are joined by '>'"),
        ("a > b >", "'a > b >' ends where a label should stand"),
        ("a > ", "'a >' ends where a label should stand"),
        ("> a", "expected a label at '> a'"),
        ("a > (b ~ c)", r"'\(' in 'a > \(b ~ c\)'; ties need no brackets: 'a > b ~ c'"),
        ("a > {b, c}", "',' in "),
        ("a >= b", "'=' in 'a >= b'; '>' is better and '~' is tied"),
        ("a = b", "'=' in 'a = b'"),
        ("a ≥ b", "'≥' in 'a ≥ b'"),
        ("a; b", "';' in 'a; b'"),
    ],
)
def test_what_is_no_ranking_is_said_with_what_is_meant(text, message):
    with pytest.raises(ValueError, match=f"row 1: .*{message}"):
        check_rankings(["a > b", text])


def test_odd_labels_are_quoted_or_named():
    assert from_text(['"a, b" > c'])[1].tolist() == ["a, b", "c"]
    assert from_text(["a, b > c"], labels=["a, b", "c"])[0].tolist() == [[1, 2]]
    assert to_text([[1, 2]], ["a, b", "x=1"]) == ['"a, b" > "x=1"']


def test_brackets_within_a_label_are_part_of_it():
    assert from_text(["Llama (7B) > C++ [gcc]"])[1].tolist() == ["C++ [gcc]", "Llama (7B)"]
    assert to_text([[1, 2]], ["Llama (7B)", "(7B)"]) == ['Llama (7B) > "(7B)"']


def test_a_message_shows_a_line_of_a_long_text_at_most():
    with pytest.raises(ValueError, match="row 0") as caught:
        check_rankings([f"{'tea' * 10_000} < milk"])
    assert len(str(caught.value)) < 250


@given(st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=4, unique=True))
def test_whatever_labels_are_called_they_are_read_as_written(names):
    texts = to_text([range(len(names))], names)
    assert set(from_text(texts)[1]) == set(names)


def test_an_unknown_label_is_named_with_the_remedy():
    with pytest.raises(ValueError, match=r"unknown label 'c'; known are 'a', 'b'; where labels"):
        from_text(["a > c"], labels=["a", "b"])


def test_a_frame_of_texts_says_to_give_the_column():
    with pytest.raises(ValueError, match=r"such as Y\['ranking'\], and no frame"):
        check_rankings(pd.DataFrame({"ranking": ["a > b"]}))
