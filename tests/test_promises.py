"""What the pages on security and saving promise names the tests that keep it: they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@pytest.mark.parametrize("page", ["security.md", "saving.md"])
def test_the_tests_that_a_page_names_are_there(page):
    named = NAME.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(named) > 2
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), (path, name)
