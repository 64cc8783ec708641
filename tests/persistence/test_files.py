"""Where models are written to and read from: paths, streams, and what is left after a failure."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import moreplr
from moreplr import load, save
from moreplr.persistence import ModelFileError


@pytest.fixture
def model(fitted):
    return fitted("dummy")[0]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_may_be_a_text_or_a_path(kind, model, tmp_path):
    save(model, kind(tmp_path / "a.moreplr"))
    assert repr(load(kind(tmp_path / "a.moreplr"))) == repr(model)
    assert names(tmp_path) == ["a.moreplr"]


def test_a_file_object_gets_the_same_bytes(model, saved, tmp_path):
    save(model, tmp_path / "a")
    with open(tmp_path / "b", "wb") as stream:
        save(model, stream)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == saved(model)
    with open(tmp_path / "b", "rb") as stream:
        load(stream)


def test_a_stream_that_cannot_seek_will_do(model, saved):
    data = saved(model)
    read, write = os.pipe()
    with os.fdopen(read, "rb") as source:
        thread = threading.Thread(target=lambda: _write_all(write, data))
        thread.start()
        assert repr(load(source)) == repr(model)
        thread.join()


def _write_all(handle: int, data: bytes) -> None:
    with os.fdopen(handle, "wb") as sink:
        sink.write(data)


def test_a_stream_without_end_is_refused():
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            return len(buffer)

    with pytest.raises(ModelFileError, match="more than 2,000,000 bytes"):
        load(io.BufferedReader(Endless()), max_bytes=2_000_000)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_written_to_not_replaced(model, saved, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    thread = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    thread.start()
    save(model, tmp_path / "pipe")
    thread.join()
    assert got == [saved(model)]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_file_is_replaced_at_once(model, saved, tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    save(model, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == saved(model)


def test_a_failure_leaves_the_old_file_and_nothing_else(fitted, tmp_path):
    broken = fitted("dummy")[0]
    (tmp_path / "a").write_bytes(b"old")
    broken.odd_ = object()
    try:
        with pytest.raises(TypeError, match="odd_"):
            save(broken, tmp_path / "a")
    finally:
        del broken.odd_
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_a_failing_disk_leaves_the_old_file_and_nothing_else(model, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(model, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_any_new_file(model, tmp_path):
    save(model, tmp_path / "a")
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_a_link_stays_a_link(model, tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    load(tmp_path / "target")


def test_folders_are_refused(model, tmp_path):
    with pytest.raises(OSError, match=r"directory|denied"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "none" / "a")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


def test_a_file_under_another_name_is_known_by_its_content(model, tmp_path):
    save(model, tmp_path / "a.csv")
    load(tmp_path / "a.csv")
    (tmp_path / "b.moreplr").write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError):
        load(tmp_path / "b.moreplr")


def test_another_process_reads_the_same_model(fitted, tmp_path):
    model, X = fitted("ranking_forest")
    save(model, tmp_path / "a")
    X.to_csv(tmp_path / "X.csv", index=False)
    code = (
        "import sys, pandas as pd, moreplr; "
        "print(moreplr.load(sys.argv[1]).predict_text(pd.read_csv(sys.argv[2])))"
    )
    source = Path(moreplr.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a", tmp_path / "X.csv"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(source)},
    )
    assert done.stdout.strip() == str(model.predict_text(X))


def test_a_file_object_is_read_from_its_beginning(model, saved):
    stream = io.BytesIO(saved(model))
    stream.seek(100)
    load(stream)


def test_the_name_of_a_data_set_is_no_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no model file 'iris'.*moreplr\.datasets\.load"):
        load("iris")
    with pytest.raises(IsADirectoryError, match="is a folder, and no model file"):
        load(tmp_path)
