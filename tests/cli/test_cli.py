import subprocess
import sys

import pytest

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
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        assert f"moreplr {command}" in capsys.readouterr().out


def test_the_installed_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "moreplr", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("moreplr ")
