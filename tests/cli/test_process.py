"""The command as a process: pipes, signals and exit codes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from moreplr import DummyRanker, save
from moreplr.experiments import results

COMMAND = [sys.executable, "-m", "moreplr"]
ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def model(tmp_path):
    """The fastest model: what matters here is how tables flow."""
    path = tmp_path / "m.moreplr"
    save(DummyRanker().fit([[0.0] * 10] * 2, ["ä > b", "b ~ ä"]), path)
    return path


def start(*words, **options):
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def words(said):
    """Errors and notes, but for what is said when kernels are not compiled yet."""
    return [line for line in said.decode().splitlines() if "compiling the kernels" not in line]


def rows(n):
    """CSV of n rows of ten features."""
    header = ",".join(f"x{i}" for i in range(10))
    return f"{header}\n".encode() + (b",".join([b"1.25"] * 10) + b"\n") * n


def test_a_pipe_from_end_to_end(tmp_path):
    table = "x,ä,b\n" + "1,1,2\n2,2,1\n" * 20
    fit = start("fit", "-", "--labels", "ä", "b", "--ranker", "neighbors", "-o", "-")
    model, said = fit.communicate(table.encode())
    assert fit.returncode == 0, said
    (tmp_path / "m").write_bytes(model)
    predict = start("predict", tmp_path / "m", "-", "--text", "--keep", "x")
    out, said = predict.communicate(b"x\n1\n2\n")
    assert (predict.returncode, words(said)) == (0, [])
    assert out.decode() == "x,ranking\n1,ä > b\n2,b > ä\n"


def test_when_nobody_reads_on_it_ends_quietly(model, tmp_path):
    table = tmp_path / "many.csv"
    table.write_bytes(rows(60_000))
    process = start("predict", model, table)
    assert process.stdout.readline() == "b,ä\n".encode()
    process.stdout.close()
    assert process.wait(300) == 1
    assert words(process.stderr.read()) == []
    process.stderr.close()
    process.stdin.close()


def test_an_interrupt_leaves_no_file(model, tmp_path):
    process = start("predict", model, "-", "-o", "out.csv", cwd=tmp_path)
    process.stdin.write(rows(0))  # and it waits for more
    process.stdin.flush()
    limit = time.monotonic() + 300
    while not list(tmp_path.glob(".*.part.out.csv")):
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert (process.returncode, words(said)) == (1, ["moreplr: stopped"])
    assert os.listdir(tmp_path) == ["m.moreplr"]


STRAY = "import pathlib; pathlib.Path(__file__ + '.was_run').touch()\nraise SystemExit(3)\n"


@pytest.mark.parametrize("name", ["random", "queue", "skrub", "typing"])
def test_no_file_beside_the_data_is_run(name, table, tmp_path):
    """Twelve text columns and two jobs: with processes, these would import from here."""
    lines = table.read_text(encoding="utf-8").splitlines()
    more = [f"c{i}" for i in range(12)]
    wide = [f"{','.join(more)},{lines[0]}"]
    wide += [
        f"{','.join('xyz'[(i + j) % 3] for j in range(12))},{s}" for i, s in enumerate(lines[1:])
    ]
    table.write_text("\n".join(wide), encoding="utf-8")
    (tmp_path / f"{name}.py").write_text(STRAY)
    fit = ["fit", table.name, "--labels", "rank_*", "--ranker", "tree", "--jobs", "2", "-o", "m"]
    for words in (fit, ["predict", "m", table.name, "--jobs", "2", "-o", "out.csv"]):
        command = [sys.executable, "-m", "moreplr", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / "out.csv").exists()
    assert not list(tmp_path.glob("*.was_run"))


def test_no_file_of_the_working_folder_is_run_by_workers(tmp_path):
    (tmp_path / "random.py").write_text(STRAY)
    limits = ["--set", "data=['plr/iris']", "--set", "repetitions=1", "--set", "folds=2"]
    command = [sys.executable, "-m", "moreplr", "benchmark", "--plan", "demo", *limits]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["demo.sqlite", "random.py"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_file(model, tmp_path, number, code):
    process = start("predict", model, "-", "-o", "out.csv", cwd=tmp_path)
    process.stdin.write(rows(0))  # and it waits for more
    process.stdin.flush()
    limit = time.monotonic() + 300
    while not list(tmp_path.glob(".*.part.out.csv")):
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=300)
    assert (process.returncode, words(said)) == (code, ["moreplr: stopped"])
    assert os.listdir(tmp_path) == ["m.moreplr"]


STUCK = """
import hashlib, sys
from moreplr import cli
from moreplr._files import whole_file

def stuck(words):
    with whole_file("out.txt"):
        print("ready", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"tea", b"salt", 2**31 - 1)  # for half an hour

cli._run = stuck
sys.exit(cli.main([]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_compiled_code_of_others_does_not_keep_a_command_alive(tmp_path, number, code):
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, words(said)) == (code, ["moreplr: stopped"])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_an_experiment_ends_with_its_workers(tmp_path, number, code):
    process = start("benchmark", "--plan", "demo", "--jobs", "2", cwd=tmp_path)
    limit = time.monotonic() + 300
    while not (tmp_path / "demo.sqlite").exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert words(said)[-1] == "moreplr: stopped"


FULL = """
import resource, signal, sys
from moreplr.cli import main

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as on a full disk: writing fails
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
sys.exit(main(sys.argv[2:]))
"""


def on_a_full_disk(size, *command, cwd):
    return subprocess.run(
        [sys.executable, "-c", FULL, str(size), *map(str, command)],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )


def test_a_full_disk_is_one_line_and_the_old_file_stays(model, tmp_path):
    (tmp_path / "t.csv").write_text("x,a,b\n" + "1,1,2\n2,2,1\n" * 20)
    (tmp_path / "many.csv").write_bytes(rows(20_000))
    (tmp_path / "old").write_text("the old file")
    commands = [
        ("predict", model, "many.csv", "-o", "old"),
        ("fit", "t.csv", "--labels", "a", "b", "--ranker", "neighbors", "-o", "old"),
    ]
    for command in commands:
        done = on_a_full_disk(1000, *command, cwd=tmp_path)
        assert done.returncode == 1
        line = words(done.stderr)[-1]  # before it, perhaps, that kernels are not kept
        assert line.startswith("moreplr: error: ")
        assert "File too large" in line
        assert (tmp_path / "old").read_text() == "the old file"
    assert len(os.listdir(tmp_path)) == 4


def test_an_experiment_on_a_full_disk_goes_on_when_there_is_room(tmp_path):
    changes = ['data=["plr/iris"]', 'methods=["Dummy"]', "missing=[0.0]"]
    changes += ["folds=10", "repetitions=50"]
    command = ["benchmark", "--plan", "demo", "--jobs", "0"]
    command += [word for change in changes for word in ("--set", change)]
    done = on_a_full_disk(90_000, *command, cwd=tmp_path)
    assert done.returncode == 1
    line = words(done.stderr)[-1]  # before it, perhaps, that kernels are not kept
    assert line.startswith("moreplr: error: ")
    before = results(tmp_path / "demo.sqlite")
    assert 0 < len(before) < 500
    process = start(*command, cwd=tmp_path)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    after = results(tmp_path / "demo.sqlite")
    assert len(after) == 500
    assert len(after.merge(before)) == len(before)
