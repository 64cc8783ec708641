import shutil
import subprocess

import pytest

from moreplr.cli import COMMANDS, main


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_all_commands_and_their_options_are_completed(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in (*COMMANDS, "tie-within", "random-state"):
        assert word in script


def test_bash_understands_the_script(capsys, tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    main(["completion", "bash"])
    path = tmp_path / "moreplr.bash"
    path.write_text(capsys.readouterr().out)
    line = "COMP_WORDS=(moreplr fit --tie); COMP_CWORD=2; _shtab_moreplr; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        [bash, "-c", f"source {path}; {line}"], capture_output=True, text=True, check=True
    )
    assert "--tie-within" in done.stdout
