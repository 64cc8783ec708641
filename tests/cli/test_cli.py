import io
import subprocess
import sys
from importlib import import_module

import pytest

import moreplr
from moreplr.cli import COMMANDS, main
from moreplr.experiments import results

TOML = """
methods = ["kNN", "Dummy"]
folds = 2
repetitions = 1

[[data]]
path = "people.csv"
labels = "rank_"
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i},{i % 3 + 1},{3 - i % 3},2" for i in range(30))
    (tmp_path / "people.csv").write_text(f"x,rank_a,rank_b,rank_c\n{rows}\n")
    (tmp_path / "small.toml").write_text(TOML)
    return tmp_path


def test_benchmark_runs_a_plan_and_reports_and_goes_on(plan, capsys):
    command = ["benchmark", "--plan", "small.toml", "--jobs", "0", "--report", "out"]
    assert main(command) == 0
    assert "small.sqlite: 4 ok" in capsys.readouterr().out
    assert (plan / "out" / "report.html").is_file()
    assert main(command) == 0
    assert "nothing new" in capsys.readouterr().out
    assert main([*command, "--set", 'methods=["kNN", "Tree"]']) == 0
    assert set(results(plan / "small.sqlite")["method"]) == {"kNN", "Dummy", "Tree"}


def test_report_writes_html_latex_and_csv(plan, capsys):
    main(["benchmark", "--plan", "small.toml", "--jobs", "0", "--store", "s.sqlite"])
    assert main(["report", "s.sqlite", "-o", "r", "--title", "Tiny <people>"]) == 0
    assert "Tiny &lt;people&gt;" in (plan / "r" / "report.html").read_text("utf-8")
    files = {path.suffix for path in (plan / "r").iterdir()}
    assert files == {".html", ".tex", ".csv"}


def test_datasets_are_listed_and_described(plan, capsys):
    assert main(["datasets", "list"]) == 0
    assert "42834" in capsys.readouterr().out
    assert main(["datasets", "card", "people.csv", "--labels", "rank_*"]) == 0
    assert "instances          30" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["benchmark", "--plan", "nothing"], "no plan 'nothing'"),
        (["benchmark", "--plan", "demo", "--set", "folds"], "--set takes KEY=VALUE"),
        (["benchmark", "--plan", "demo", "--set", "fold=3"], "a plan has no fold"),
        (["report", "none.sqlite", "-o", "x"], "there is no store none.sqlite"),
        (["datasets", "card", "nonsense"], "no plr data set 'nonsense'"),
        (
            ["datasets", "card", "lr/irsi"],
            "no lr data set 'irsi' (MOREPLR_DATA names no folder); did you mean 'iris'?",
        ),
        (["datasets", "card", "blocks", "--problem", "lr"], "there is one with --problem 'plr'"),
        (["datasets", "card", "none.csv"], "error: there is no file none.csv\n"),
        (["datasets", "list", "--data", "here"], "no manifest.csv"),
    ],
)
def test_errors_are_one_line(tmp_path, monkeypatch, capsys, command, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOREPLR_DATA", "")  # so that --data is undone at the end
    monkeypatch.delenv("MOREPLR_DATA")
    assert main(command) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert (
        main([command[0], *command[1:], "--debug"] if command[0] != "datasets" else command) == 1
    )


def test_a_traceback_on_demand(capsys):
    assert main(["report", "none.sqlite", "-o", "x", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_command_line_without_sense_is_2_and_help_is_0(capsys):
    assert main(["bench"]) == 2
    assert main([]) == 2
    assert main(["report"]) == 2
    capsys.readouterr()
    assert main(["fit", "--labels", "a", "b", "people.csv", "-o", "m"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("moreplr fit: error: missing argument 'TABLE' (give it before")
    assert said.count("\n") == 1
    assert main(["predict", "m", "t", "--text=1"]) == 2
    assert capsys.readouterr().err.startswith("moreplr predict: error: option '--text' does not")
    assert main(["predict", "m", "t", "--text", "--scores"]) == 2
    assert "--text and --scores contradict each other" in capsys.readouterr().err
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        assert f"moreplr {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluat", "a.csv"],
            "no such command 'evaluat': did you mean 'evaluate'?; moreplr --help",
        ),
        (["people.csv"], "no such command 'people.csv': choose from fit, predict,"),
        (["fit", "a.csv", "-o", "m", "--lables", "a"], "--labels"),
    ],
)
def test_what_was_most_likely_meant_is_named(capsys, words, message):
    assert main(words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_without_words_it_helps(capsys):
    assert main([]) == 2
    assert "Learn to rank from a table" in capsys.readouterr().out


def test_labels_beyond_the_terminals_encoding_are_no_error(monkeypatch, plan):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    (plan / "köln.csv").write_text("x,a,b\n" + "1,1,2\n2,2,1\n" * 5, encoding="utf-8")
    words = ["--labels", "a", "b", "--ranker", "dummy", "--folds", "2"]
    assert main(["evaluate", "köln.csv", *words]) == 0
    assert out.buffer.getvalue().startswith(b"k\\xf6ln: 10 rows")


def test_only_the_named_command_costs_its_arguments(capsys):
    assert main(["--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for command in COMMANDS:
        module = import_module(f"moreplr.cli.commands.{command.replace('-', '_')}")
        assert module.__doc__.splitlines()[0] in said


def test_modules_of_commands_import_nothing_heavy():
    """Else help would take as long as a fit."""
    script = (
        "import sys, types; package = types.ModuleType('moreplr'); package.__version__ = '0';"
        f"package.__path__ = {moreplr.__path__!r}; sys.modules['moreplr'] = package;"
        "from moreplr.cli import main; main(['--help']); main(['fit', '--help']);"
        "heavy = {'numpy', 'pandas', 'sklearn', 'numba', 'rich', 'scipy'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) or 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_the_installed_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "moreplr", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("moreplr ")


@pytest.mark.parametrize("cell", ["p > > {}", "p > q > {0} > {0}", "{} >", "=HYPERLINK({})"])
def test_an_error_never_prints_more_than_a_line_of_a_cell(tmp_path, capsys, cell):
    rows = [f"{i},p > q" for i in range(9)] + [f'9,"{cell.format("x" * 3_000_000)}"']
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,order", *rows]), encoding="utf-8")
    assert main(["evaluate", str(path), "--ranking-column", "order", "--ranker", "dummy"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert "t.csv: row 10" in said[-1]
    assert max(map(len, said)) < 1500
