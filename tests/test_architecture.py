"""The page on the architecture speaks of modules and names that are there."""

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import moreplr

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
PUBLIC = {module.name for module in pkgutil.iter_modules(moreplr.__path__)}
NAMED = sorted(
    {name for name in re.findall(r"`([a-z_]+(?:\.\w+)*)`", TEXT) if name.split(".")[0] in PUBLIC}
)


def is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def test_the_page_names_every_public_part():
    table = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE))
    assert table == {name for name in PUBLIC if not name.startswith("_")} - {"checks"}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_is_there(name):
    module, rest = f"moreplr.{name}", []
    while not is_module(module):
        module, _, last = module.rpartition(".")
        rest.insert(0, last)
        if module == "moreplr":
            pytest.fail(f"there is no {name}")
    found = importlib.import_module(module)
    for part in rest:
        found = getattr(found, part)
