import re
import shutil
import subprocess
import sys

import pytest

from moreplr.cli import COMMANDS, main


@pytest.fixture
def command(tmp_path):
    """The command by its name, as a shell finds it."""
    path = tmp_path / "moreplr"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m moreplr "$@"\n')
    path.chmod(0o755)
    return path


# What a script asks for, as the three shells say it.
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [("", COMMANDS), ("fit --ti", ["--tie", "--tie-within"]), ("datasets ", ["list", "fetch"])],
)
def test_commands_and_their_options_are_completed(monkeypatch, capsys, shell, line, expected):
    assert main(["completion", shell]) == 0
    assert "_MOREPLR_COMPLETE" in capsys.readouterr().out
    words = ["moreplr", *line.split(" ")]
    monkeypatch.setenv("_MOREPLR_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
    assert main([]) == 0
    said = re.split(r"[\s,]", capsys.readouterr().out)
    assert set(expected) <= set(said)


def test_bash_understands_the_script(capsys, tmp_path, command):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    main(["completion", "bash"])
    path = tmp_path / "moreplr.bash"
    path.write_text(capsys.readouterr().out)
    line = (
        "COMP_WORDS=(moreplr fit --tie); COMP_CWORD=2;"
        f"_moreplr_completion {command}; echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(
        [bash, "-c", f"source {path}; {line}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["--tie-within", "--tie"]
