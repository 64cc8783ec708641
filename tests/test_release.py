"""A version stands in several files: they agree, so that a release is whole."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

import moreplr

ROOT = Path(__file__).parents[1]


def test_the_sites_versions_hold_this_one():
    versions = json.loads((ROOT / "docs" / "_static" / "versions.json").read_text())
    assert moreplr.__version__ in [version["version"] for version in versions]
    assert [version["preferred"] for version in versions].count(True) == 1


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == moreplr.__version__


def test_model_files_of_this_version_are_kept():
    assert list((ROOT / "tests/fixtures/models" / moreplr.__version__).glob("*.moreplr"))


def test_the_recipe_needs_what_the_package_needs(tmp_path):
    (tmp_path / ".ci").mkdir()
    (tmp_path / "dist").mkdir()
    for name in (".ci/recipe.py", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "dist" / "moreplr-9.8.7.tar.gz").write_bytes(b"sdist")
    command = [sys.executable, ".ci/recipe.py", "https://example.org/moreplr.tar.gz", "somebody"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    recipe = yaml.safe_load((tmp_path / "dist" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == "9.8.7"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    run = [line.replace(" ", "") for line in recipe["requirements"]["run"]]
    assert run[1:] == needed
    assert recipe["extra"]["recipe-maintainers"] == ["somebody"]
