"""What commands print for people, and the scores that they write."""

from __future__ import annotations

import os
import sys
from typing import Any

import pandas as pd
from rich.cells import cell_len

from moreplr.cli.declaring import Options
from moreplr.cli.writing import open_writer


def say(options: Options, text: str = "") -> None:
    """Print for people: on standard output, unless -o sends the scores there."""
    print(text, file=_out(options))


def say_table(options: Options, frame: pd.DataFrame) -> None:
    """Print a table where :func:`say` prints."""
    print_table(frame, _out(options))


def _out(options: Options) -> Any:
    return sys.stderr if options.output == "-" else sys.stdout


def write_scores(options: Options, scores: pd.DataFrame) -> None:
    """Write the table of scores if -o is given."""
    if options.output is not None:
        with open_writer(options.output) as writer:
            writer.write(scores)


def print_table(frame: pd.DataFrame, file: Any = None) -> None:
    """Print a frame with its columns aligned, numbers to the right; lines are never cut off.

    Examples
    --------
    >>> print_table(pd.DataFrame({"ranker": ["forest", "dummy"], "tau_x": [0.8125, 0.25]}))
    ranker  tau_x
    forest  0.812
    dummy   0.250
    """
    out = sys.stdout if file is None else file
    columns = [
        _align([str(name), *map(show, values)], pd.api.types.is_numeric_dtype(values.dtype))
        for name, values in frame.items()
    ]
    heading, *lines = ("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))
    dull = os.environ.get("TERM") == "dumb" or "NO_COLOR" in os.environ
    print(f"\x1b[1m{heading}\x1b[0m" if out.isatty() and not dull else heading, file=out)
    for line in lines:
        print(line, file=out)


def show(cell: Any) -> str:
    """A cell as text: numbers with three digits, missing values empty."""
    if isinstance(cell, float):
        if cell != cell:
            return ""
        return f"{cell:.3f}" if abs(cell) >= 0.001 or cell == 0 else f"{cell:.1e}"
    return str(cell)


def _align(cells: list[str], right: bool) -> list[str]:
    width = max(map(cell_len, cells))
    padded = ((" " * (width - cell_len(cell)), cell) for cell in cells)
    return [space + cell if right else cell + space for space, cell in padded]
