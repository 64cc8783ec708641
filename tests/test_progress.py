import io
import time
from contextlib import redirect_stderr

import pytest

from moreplr import _progress as progress
from moreplr._progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _colourful(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def dig(stream, total=10, until=""):
    """Work until a text shows, and tell all that did."""
    limit = time.monotonic() + 20
    with redirect_stderr(stream), Progress("digging", total, "holes") as bar:
        bar.advance(8, "digging on")
        while until not in stream.getvalue() and time.monotonic() < limit:
            time.sleep(0.02)
            bar.advance(0)
    return stream.getvalue()


def test_short_work_shows_nothing():
    assert dig(Terminal()) == ""


@pytest.mark.parametrize(("total", "shown"), [(10, "8/10 holes"), (None, "8 holes")])
def test_long_work_shows_a_bar_on_a_terminal(monkeypatch, total, shown):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    text = dig(Terminal(), total, until=shown)
    assert "digging on" in text
    assert shown in text


def test_no_colours_where_none_are_wanted(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    assert "\x1b[3" in dig(Terminal(), until="holes")
    monkeypatch.setenv("NO_COLOR", "1")
    text = dig(Terminal(), until="holes")
    assert "digging" in text
    assert "\x1b[3" not in text


def test_elsewhere_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert dig(io.StringIO()) == ""
    monkeypatch.setattr(progress, "LINE_EVERY", 0.1)
    line = "moreplr: digging on: 8 of 10 holes\n"
    assert dig(io.StringIO(), until="holes").startswith(line)


def test_an_error_ends_the_bar(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    stream = Terminal()

    def fail():
        with redirect_stderr(stream), Progress("digging"):
            time.sleep(0.3)
            raise ValueError("stone")

    with pytest.raises(ValueError, match="stone"):
        fail()
    shown = stream.getvalue()
    time.sleep(0.3)
    assert stream.getvalue() == shown
