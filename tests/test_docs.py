"""Every code block in README and docs runs and prints what it says; public names are listed.

Blocks of a page share their names and a folder, and run in order. What is done with a block
depends on its language:

- ``python``: run; one with prompts must print what follows them, ``...`` stands for anything;
- ``console``: lines after ``$ moreplr`` are run, and print what follows them, but for numbers:
  seconds and scores differ from machine to machine and from version to version;
- ``sh``: commands for the reader's machine; those of `moreplr` must at least be understood;
- ``toml``: a plan, which must load;
- ``text``: shown only.
"""

import doctest
import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from click import Context

from moreplr.cli import main, moreplr
from moreplr.experiments import Plan
from moreplr.layers import LAYERS
from moreplr.regressors import REGRESSORS

ROOT = Path(__file__).parents[1]
GENERATED = {"_build", "gallery", "generated", "measured"}
PAGES = [ROOT / "README.md"] + [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not GENERATED & set(page.relative_to(ROOT).parts)
]
NUMBER = r"-?\d[\d.,]*(e-\d+)?"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str


def blocks(page):
    """The fenced blocks of a page, but for the directives of the site."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```([^\n`]*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if not match[1].startswith("{"):
            line = text.count("\n", 0, match.start()) + 1
            yield Block(page, line, match[1].strip(), match[2])


def run_python(block, names):
    if not block.text.lstrip().startswith(">>>"):
        code = "\n" * block.line + block.text
        exec(compile(code, str(block.page), "exec"), names)
        return
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    test = parser.get_doctest(block.text, names, block.page.name, str(block.page), block.line)
    said = []
    runner.run(test, out=said.append, clear_globs=False)
    assert not runner.failures, "".join(said)
    names.update(test.globs)


def run_console(block, capsys):
    commands = re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    assert commands, "a console block shows commands after $"
    for command in commands:
        line, _, expected = command.partition("\n")
        assert line.startswith("moreplr "), f"a console block runs moreplr, not {line!r}"
        capsys.readouterr()
        code = main(shlex.split(line)[1:])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        if expected.strip():
            pair = [re.sub(NUMBER, "0", text) for text in (expected, printed.out)]
            right = doctest.OutputChecker().check_output(*pair, FLAGS)
            assert right, f"{line} printed\n{printed.out}"


def read_sh(block):
    for part in re.split(r"[\n|>]", block.text.replace("\\\n", " ")):
        words = shlex.split(part, comments=True)
        if words[:1] == ["moreplr"]:
            command = moreplr.get_command(Context(moreplr), words[1])
            command.make_context(words[1], words[2:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    names = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python":
            run_python(block, names)
        elif block.language == "console":
            run_console(block, capsys)
        elif block.language == "sh":
            read_sh(block)
        elif block.language == "toml":
            Plan.from_dict(tomllib.loads(block.text))
        else:
            where = f"{page.name}, line {block.line}"
            assert block.language == "text", f"{where}: no such language: {block.language!r}"


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_blocks_that_print_something_else_fail(tmp_path):
    block = Block(tmp_path / "page.md", 1, "python", ">>> 1 + 1\n3\n")
    with pytest.raises(AssertionError, match="Expected"):
        run_python(block, {})


@pytest.mark.parametrize(
    "module",
    [
        "moreplr",
        "moreplr.aggregation",
        "moreplr.datasets",
        "moreplr.evaluation",
        "moreplr.experiments",
        "moreplr.explaining",
        "moreplr.forest",
        "moreplr.plotting",
        "moreplr.rankings",
        "moreplr.regressors",
    ],
)
def test_public_names_are_in_the_reference(module):
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    found = importlib.import_module(module)
    names = [name for name in found.__all__ if not name.isupper()]
    assert not [name for name in names if not re.search(rf"^   {name}$", listed, re.MULTILINE)]


def test_modules_of_the_reference_need_no_import_of_their_own():
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    modules = sorted(set(re.findall(r"^\.\. currentmodule:: (moreplr\..+)", listed, re.MULTILINE)))
    assert "moreplr.evaluation" in modules
    code = f"import moreplr; {'; '.join(modules)}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pages_that_programs_are_sent_to_are_there():
    text = (ROOT / "docs" / "_extra" / "llms.txt").read_text(encoding="utf-8")
    pages = re.findall(r"\]\(([\w/]+)\.html\)", text)
    assert "guide/index" in pages
    sources = [ROOT / "docs", ROOT / "examples"]
    for page in pages:
        assert any(
            (at / f"{page}{kind}").exists() for at in sources for kind in (".md", ".rst", ".py")
        )


def test_all_layers_and_regressors_are_in_the_reference():
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    kinds = [*LAYERS.values(), *REGRESSORS.values()]
    assert not [kind for kind in kinds if f"   {kind.__name__}\n" not in listed]
