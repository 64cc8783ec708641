import io

import pandas as pd
import pytest

from moreplr.cli.tables import print_table, show


class Terminal(io.StringIO):
    def isatty(self):
        return True


FRAME = pd.DataFrame({"name": ["a" * 150, "[b]"], "n": [1, 20]})


def test_in_a_pipe_nothing_is_cut_or_coloured():
    out = io.StringIO()
    print_table(FRAME, out)
    cells = [("name", "n"), ("a" * 150, "1"), ("[b]", "20")]
    assert out.getvalue() == "".join(f"{first:<150}  {last:>2}\n" for first, last in cells)


def test_on_a_terminal_headings_are_bold(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    print_table(FRAME, out)
    assert out.getvalue().startswith("\x1b[1mname")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    print_table(FRAME, out)
    assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize(
    ("cell", "text"),
    [(0.12345, "0.123"), (0.0, "0.000"), (0.00001, "1.0e-05"), (float("nan"), ""), (3, "3")],
)
def test_cells(cell, text):
    assert show(cell) == text
