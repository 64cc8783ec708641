import pytest

from moreplr.cli.values import parse_changes


def test_values_as_in_toml_or_bare_words():
    texts = ["a=1", "b = 0.5", "c=[1, 2]", "d=word", 'e="a=b"', "f=true", "g=False", "h=None"]
    assert parse_changes(texts) == {
        "a": 1,
        "b": 0.5,
        "c": [1, 2],
        "d": "word",
        "e": "a=b",
        "f": True,
        "g": False,
        "h": None,
    }


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["a"], "KEY=VALUE, got 'a'"), (["=1"], "KEY=VALUE"), (["a=1", "a=2"], "'a' two values")],
)
def test_what_makes_no_sense(texts, message):
    with pytest.raises(ValueError, match=message):
        parse_changes(texts)
