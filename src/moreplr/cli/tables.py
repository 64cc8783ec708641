"""Result tables for people: aligned columns, in bold only on a terminal."""

from __future__ import annotations

import io
import sys
from typing import Any

import pandas as pd


def print_table(frame: pd.DataFrame, file: Any = None, bold_first: bool = False) -> None:
    """Print a frame with its columns aligned, numbers to the right; never cut off in a pipe.

    Examples
    --------
    >>> print_table(pd.DataFrame({"ranker": ["forest", "dummy"], "tau_x": [0.8125, 0.25]}))
    ranker  tau_x
    forest  0.812
    dummy   0.250
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = sys.stdout if file is None else file
    table = Table(box=None, pad_edge=False, header_style="bold" if out.isatty() else "")
    for name, values in frame.items():
        number = pd.api.types.is_numeric_dtype(values.dtype)
        table.add_column(Text(str(name)), justify="right" if number else "left", no_wrap=True)
    for row, cells in enumerate(frame.itertuples(index=False)):
        style = "bold" if bold_first and row == 0 else ""
        table.add_row(*(Text(show(cell)) for cell in cells), style=style)
    if out.isatty():
        Console(file=out, highlight=False, soft_wrap=True).print(table)
        return
    text = io.StringIO()
    Console(file=text, width=10_000, color_system=None).print(table)
    print("\n".join(line.rstrip() for line in text.getvalue().splitlines()), file=out)


def show(cell: Any) -> str:
    """A cell for people: three digits, nothing where there is no value."""
    if isinstance(cell, float):
        if cell != cell:
            return ""
        return f"{cell:.3f}" if abs(cell) >= 0.001 or cell == 0 else f"{cell:.1e}"
    return str(cell)
