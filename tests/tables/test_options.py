"""Options that contradict each other are refused where they are given."""

import pytest

from moreplr.tables.options import TableOptions

CHOICES = {"choices": ["best", "worst"], "tried": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "r", "votes": ["a", "b", "w"]}, "text and votes contradict each other"),
        ({"long": "item"}, "long names three columns"),
        ({"long": ["u", "i"]}, "long names three columns"),
        ({"votes": ["a", "b", "a"]}, "a column stands twice"),
        ({**CHOICES, "choices": ["a", "b", "c"]}, "choices names one or two columns"),
        ({"choices": ["best"]}, "choices and tried belong together"),
        ({"tried": ["a", "b"]}, "choices and tried belong together"),
        ({"scores": "more"}, "scores must be 'smaller' or 'larger', got 'more'"),
        ({"ratings": True, "scores": "smaller"}, "ratings and scores='smaller' contradict"),
        ({"text": "r", "ratings": True}, "text has no scores"),
        ({**CHOICES, "scores": "larger"}, "choices has no scores"),
        ({"tolerance": 0.5}, "tolerance is for scores"),
        ({"missing": "last"}, "missing is for scores"),
        ({"last": ["timeout"]}, "last is for scores"),
        ({"ignore": "id"}, "ignore must be a list, got 'id'"),
        ({"gaps": "?"}, "gaps must be a list"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TableOptions(**options)


@pytest.mark.parametrize(
    ("options", "wide", "scored", "larger"),
    [
        ({}, True, False, True),
        ({"text": "r"}, False, False, True),
        ({"ratings": True}, True, True, True),
        ({"ratings": True, "scores": "larger", "tolerance": 1}, True, True, True),
        ({"long": ["u", "i", "s"], "scores": "smaller", "last": ["inf"]}, False, True, False),
        ({**CHOICES, "last": []}, False, False, True),
    ],
    ids=str,
)
def test_what_is_given_says_what_columns_mean(options, wide, scored, larger):
    found = TableOptions(**options)
    assert (found.is_wide, found.has_scores, found.larger_is_better) == (wide, scored, larger)
