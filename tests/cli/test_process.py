"""The command as a process: pipes, signals and exit codes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from moreplr import DummyRanker, save

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


@pytest.mark.parametrize("name", ["random", "queue", "skrub"])
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
