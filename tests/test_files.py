import os
import signal
import stat
import subprocess
import sys

import pytest

from moreplr import DummyRanker, save
from moreplr._files import remove_partial, whole_file


def test_files_get_the_usual_permissions_and_links_stay(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with whole_file(str(tmp_path / "link.txt")) as name, open(name, "w") as file:
        file.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    usual = tmp_path / "usual.txt"
    usual.write_text("")
    mode = stat.S_IMODE(usual.stat().st_mode)
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    model = DummyRanker().fit([[0], [1]], ["a > b", "b > a"])
    for mode in (0o600, 0o640, 0o666):
        path = tmp_path / f"{mode}.moreplr"
        path.touch()
        path.chmod(mode)
        save(model, path)
        with whole_file(path) as name, open(name, "w") as file:
            assert stat.S_IMODE(os.stat(name).st_mode) == 0o600  # nobody else reads it before
            file.write("new")
        assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


KILLED = """
import os, signal, sys
from moreplr._files import whole_file
with whole_file(sys.argv[1]) as name, open(name, "w") as file:
    file.write("half of it")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems have other locks")
def test_what_killed_writers_have_left_is_removed(tmp_path):
    path = tmp_path / "out.csv"
    for _ in range(3):
        killed = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
        assert killed.returncode == -signal.SIGKILL
    left = list(tmp_path.iterdir())
    assert len(left) == 1  # that of the last one
    assert left[0].name.endswith(".part.out.csv")
    for other in (".tea.part.out.csv", "01234567.part.out.csv", ".0123456.part.out.csv"):
        (tmp_path / other).touch()
    with whole_file(tmp_path / "new.csv") as name:
        assert left[0].exists()  # it is of another file
        open(name, "w").close()
    with whole_file(path) as first, whole_file(path) as second:
        assert os.path.exists(first)  # which is written to just now
        assert os.path.exists(second)
    assert not left[0].exists()
    assert len(list(tmp_path.iterdir())) == 5


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail():
        with whole_file(path) as name, open(name, "w") as file:
            file.write("half of it")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "old"


def test_what_is_half_written_can_be_given_up(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "out.csv"):
        remove_partial()
    assert list(tmp_path.iterdir()) == []
