"""Parts of an HTML page: sortable tables, figures, and the page that holds them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

import pandas as pd
from markupsafe import Markup

from moreplr._pages import render


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it shows, as HTML, and the value that it is sorted by."""

    html: str
    value: float | str = ""
    kind: str = ""
    style: str = ""


def text(value: object, kind: str = "text") -> Cell:
    """A cell of plain text."""
    return Cell(escape(str(value)), str(value), kind)


def number(value: float, digits: int = 3, *, best: bool = False) -> Cell:
    """A cell of a number; empty where it is NaN."""
    if isnan(value):
        return Cell("")
    return Cell(f"{value:.{digits}f}", value, "best" if best else "")


def p_value(value: float, level: float = 0.05) -> Cell:
    """A p-value; in bold if it shows no difference, as in the paper."""
    if isnan(value):
        return Cell("")
    shown = f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"
    return Cell(shown, value, "best" if value >= level else "")


def score(cell: pd.Series) -> Cell:
    """Mean ± deviation, and the paper's mean with the difference shaded where there is one."""
    mean = f"{cell['tau_x']:.3f}"
    own = f"<span class='best'>{mean}</span>" if cell["best"] else mean
    if not isnan(cell["std"]):  # one fold has none
        own += f" <span class='std'>±{cell['std']:.3f}</span>"
    paper, difference = cell["paper"], cell["difference"]
    if isnan(paper):
        return Cell(own, cell["tau_x"])
    own += f"<span class='paper'>paper {paper:.3f} ({signed(difference)})</span>"
    # Full shade from a difference of 0.05 on, none for what may be rounding.
    shade = min(abs(difference) / 0.05, 1) * 0.5 if abs(difference) > 0.002 else 0
    kind = "better" if difference > 0 else "worse"
    return Cell(own, cell["tau_x"], kind, f"--shade: {shade:.2f}")


def signed(value: float) -> str:
    """A difference with its sign, a true minus.

    Examples
    --------
    >>> signed(-0.01), signed(0.0)
    ('−0.010', '0.000')
    """
    return f"{value:+.3f}".replace("-", "−") if value else "0.000"


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Cell]], caption: str) -> str:
    """A table whose columns sort at a click.

    Parameters
    ----------
    columns : pairs of a head and the direction of its first click, "ascending" or "descending"
    rows : cells
    caption : str
    """
    head = "".join(
        f'<th scope="col" data-first="{first}"><button type="button">{escape(name)}</button></th>'
        for name, first in columns
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    caption = _sentence(caption)
    # The caption is outside the table, since it would scroll away with a wide one.
    return (
        f'<p class="soft">{escape(caption)}</p>'
        f'<div class="scroll"><table aria-label="{escape(caption)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: Cell) -> str:
    value = escape(str(cell.value))
    kind = f' class="{cell.kind}"' if cell.kind else ""
    style = f' style="{cell.style}"' if cell.style else ""
    return f'<td data-value="{value}"{kind}{style}>{cell.html}</td>'


def figure(svg: str, caption: str) -> str:
    """A figure with its caption."""
    return f"<figure>{svg}<figcaption>{escape(_sentence(caption))}</figcaption></figure>"


def figures(parts: Sequence[str]) -> str:
    """Figures side by side where there is room."""
    return f'<div class="figures">{"".join(parts)}</div>' if parts else ""


def _sentence(text: str) -> str:
    """A text with a capital letter, except for signs such as τ, whose capital differs."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def page(title: str, lead: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """The whole page in one file, with its style and script.

    Parameters
    ----------
    title : str
    lead : HTML that comes first
    sections : triples of an anchor, a title and HTML
    """
    parts = [(anchor, name, Markup(body)) for anchor, name, body in sections]
    return render("page.html", title=title, lead=Markup(lead), sections=parts)
