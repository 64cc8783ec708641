import numpy as np
import pandas as pd
import polars
import pytest

from moreplr.datasets import from_csv
from moreplr.rankings import check_rankings, from_choices, to_choices, to_text

FARMS = pd.DataFrame(
    {
        "rain": [310, 95, 40, 7],
        "item_A": ["oat", "rye", "oat", "rye"],
        "item_B": ["rye", "emmer", "rye", "oat"],
        "item_C": ["spelt", "oat", None, "emmer"],
        "best": ["B", "rye", "item_A", None],
        "worst": ["C", "item_B", None, None],
    }
)
ITEMS = ["item_A", "item_B", "item_C"]


def test_answers_by_letter_label_and_column():
    X, Y = from_choices(FARMS, ITEMS, "best", "worst")
    assert to_text(Y) == ["rye > oat > spelt", "rye > oat > emmer", "oat > rye", ""]
    assert list(X) == ["rain"]


def test_best_alone_and_worst_alone():
    assert to_text(from_choices(FARMS[:1], ITEMS, best="best").Y) == ["rye > oat ~ spelt"]
    assert to_text(from_choices(FARMS[:1], ITEMS, worst="worst").Y) == ["oat ~ rye > spelt"]


def test_polars_in_polars_out():
    frame = polars.from_pandas(FARMS)
    X, Y = from_choices(frame, ["item_*"], "best", "worst")
    assert X.columns == ["rain"]
    assert Y.columns == ["emmer", "oat", "rye", "spelt"]


def test_there_and_back():
    texts = ["b > a > c", "c > a ~ b", "a ~ b > c", "b > c", ""]
    frame = to_choices(texts)
    assert list(frame) == ["tried_1", "tried_2", "tried_3", "best", "worst"]
    back = from_choices(frame, ["tried_*"], "best", "worst").Y
    np.testing.assert_array_equal(back, check_rankings(texts)[0])


@pytest.mark.parametrize("text", ["a > b > c > d", "a ~ b", "a > b ~ c > d > e"])
def test_what_choices_can_not_say_is_refused(text):
    if text == "a > b > c > d":
        assert to_choices(["a > b ~ c > d"])["worst"].tolist() == ["d"]
    with pytest.raises(ValueError, match="row 0: choices of best and worst can't say"):
        to_choices([text])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"best": ["D"] * 4},
            "row 0, column 'best': 'D' is none of those tried: 'oat', 'rye', .* or A to C; leave",
        ),
        (
            {"best": ["C"] * 4},
            r"row 0: 'spelt' is both best and worst \(columns 'best' and 'worst'\); leave",
        ),
        (
            {"item_B": FARMS["item_A"]},
            "row 0: 'oat' was tried twice, .* in column 'item_B'; leave",
        ),
        (
            {"worst": ["A", "A", "C", "A"]},
            "row 1: 'rye' is both|row 2, column 'worst': 'C' is none",
        ),
    ],
)
def test_a_wrong_use_names_row_and_column(change, message):
    with pytest.raises(ValueError, match=message):
        from_choices(FARMS.assign(**change), ITEMS, "best", "worst")


def test_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match="two or more columns, got 'item_A'"):
        from_choices(FARMS, ["item_A"], "best")
    with pytest.raises(ValueError, match="say which column holds the best"):
        from_choices(FARMS, ITEMS)
    with pytest.raises(ValueError, match="did you mean 'worst'"):
        from_choices(FARMS, ITEMS, "best", "wurst")


@pytest.mark.parametrize("name", ["breadwheat", "cassava"])
def test_trials_of_farmers_are_read_as_published(field_data, name):
    """The published rankings, written as answers and read again."""
    Y = from_csv(field_data / f"tricot_{name}.csv.gz", "label:").Y
    back = from_choices(to_choices(Y), ["tried_*"], "best", "worst", labels=list(Y)).Y
    np.testing.assert_array_equal(check_rankings(to_text(back))[0], check_rankings(to_text(Y))[0])
