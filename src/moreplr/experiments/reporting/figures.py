"""Figures by matplotlib as SVG. Colours are the page's, so that they follow light and dark."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import product
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullLocator
from matplotlib.transforms import Bbox, ScaledTranslation

from moreplr._pages.pictures import to_svg

Points = Sequence[tuple[float, float]]
SERIES = 8
_WIDTH = 480
_DPI = 72
_LETTER = 8  # width of a letter at the size on phones
# What stands for the colours of the style sheet until the picture is drawn.
_COLOURS = {
    name: f"#0000{place + 16:02x}"
    for place, name in enumerate(
        ["ink", "soft", "rule", "page", "heat", *(f"s{i}" for i in range(SERIES))]
    )
}
_INK, _SOFT, _RULE = (_COLOURS[name] for name in ("ink", "soft", "rule"))
_STYLE: Any = {
    "text.parse_math": False,
    "font.size": 13.5,  # on phones; the style sheet makes it less elsewhere
    "text.color": _INK,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "grid.color": _RULE,
    "grid.linewidth": 0.7,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "lines.linewidth": 2,
    "lines.markersize": 8,
    "lines.markeredgecolor": _COLOURS["page"],
}


@matplotlib.rc_context(_STYLE)
def critical_difference(
    ranks: Mapping[str, float], groups: Sequence[Sequence[str]], title: str
) -> str:
    """A row for each method, best first, with a dot at its mean rank.

    A bar at the right joins methods that the tests do not tell apart: what such diagrams draw
    below a line of ranks, turned so that long names and near ranks never overlap.
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    ax = _axes(34 + 20 * len(order))
    highest = max(2, len(order))
    ax.set(xlim=(0.7, highest), ylim=(len(order) - 0.4, -0.6))
    ax.set_yticks(range(len(order)), order, color=_INK)
    ax.set_xticks(range(1, highest + 1, math.ceil(highest / 12)))
    ax.xaxis.tick_top()
    ax.spines["bottom"].set_visible(False)
    ax.grid(axis="x")
    for y, name in enumerate(order):
        ax.plot([0.7, ranks[name]], [y, y], color=_SOFT, linewidth=0.9)
        _dot(ax, ranks[name], y, 0, f"{name}: {ranks[name]:.2f}")
        mean = f"{ranks[name]:.2f}"
        ax.text(1, y, mean, transform=_right_of(ax, 8), color=_SOFT, va="center")
    for place, group in enumerate(groups):
        rows = [order.index(name) for name in group]
        ends = [min(rows) - 0.25, max(rows) + 0.25]
        ax.plot([1, 1], ends, color=_INK, linewidth=3.5, transform=_right_of(ax, 48 + 9 * place))
    return _svg(ax, title)


@matplotlib.rc_context(_STYLE)
def scatter(points: Mapping[str, tuple[float, float]], x_title: str, y_title: str) -> str:
    """Named points; x is logarithmic."""
    ax = _axes(330)
    ax.set_xscale("log")
    ax.margins(0.15, 0.08)
    ax.grid()
    order = sorted(points, key=lambda name: -points[name][1])
    places = {name: (max(points[name][0], 1e-6), points[name][1]) for name in order}
    for number, (name, (x, y)) in enumerate(places.items()):
        _dot(ax, x, y, number, f"{name}: {y:.3f}")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 20 * low else (1,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    _titles(ax, x_title, y_title)
    ax.figure.draw_without_rendering()
    dots = ax.transData.transform(list(places.values()))
    taken = [Bbox([dot - 4, dot + 4]) for dot in dots]
    for name, place in places.items():
        _label(ax, name, *place, taken)
    return _svg(ax, f"{y_title} against {x_title}")


@matplotlib.rc_context(_STYLE)
def curves(series: Mapping[str, Points], x_title: str, y_title: str, percent: bool = False) -> str:
    """Lines over a common x, with a legend below."""
    across = max(1, min(3, int(_WIDTH / (40 + _LETTER * max(map(len, series))))))
    ax = _axes(312 + 18 * math.ceil(len(series) / across))
    for number, (name, points) in enumerate(series.items()):
        colour, style = _COLOURS[f"s{number % SERIES}"], "--" if number >= SERIES else "-"
        ax.plot(*zip(*sorted(points), strict=True), style, color=colour, label=name)
        for x, y in points:
            _dot(ax, x, y, number, f"{name}, {x:g}: {y:.3f}", 6)
    xs = sorted({x for points in series.values() for x, _ in points})
    xs = xs[:: math.ceil(len(xs) / 8)]
    ax.set_xticks(xs, [f"{x:.0%}" if percent else f"{x:g}" for x in xs])
    ax.grid()
    _titles(ax, x_title, y_title)
    ax.figure.legend(loc="outside lower left", ncols=across, frameon=False)
    return _svg(ax, f"{y_title} over {x_title}")


@matplotlib.rc_context(_STYLE)
def heat_map(values: Mapping[tuple[str, str], float], title: str) -> str:
    """Numbers in a grid of rows and columns, each row shaded from its worst to its best."""
    rows = list(dict.fromkeys(row for row, _ in values))
    columns = list(dict.fromkeys(column for _, column in values))
    ax = _axes(30 + 26 * len(rows))
    ax.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    ax.set_xticks([x + 0.5 for x in range(len(columns))], columns, color=_INK)
    ax.set_yticks([y + 0.5 for y in range(len(rows))], rows, color=_INK)
    ax.xaxis.tick_top()
    ax.spines["bottom"].set_visible(False)
    for (row, column), value in values.items():
        own = [values[row, name] for name in columns if (row, name) in values]
        share = (value - min(own)) / ((max(own) - min(own)) or 1)
        x, y = columns.index(column), rows.index(row)
        shade: Any = {"facecolor": _COLOURS["heat"], "alpha": 0.1 + 0.9 * share}
        tip = f"{row}, {column}: {value:.3f}"
        ax.add_patch(Rectangle((x + 0.01, y + 0.03), 0.98, 0.94, gid=_gid(tip), **shade))
        weight = "bold" if value == max(own) else "normal"
        ax.text(x + 0.5, y + 0.5, f"{value:.3f}", ha="center", va="center", weight=weight)
    return _svg(ax, title)


def _axes(height: float) -> Any:
    return Figure((_WIDTH / _DPI, height / _DPI), _DPI, layout="constrained").subplots()


def _right_of(ax: Any, points: float) -> Any:
    """Where 1 is so many points right of the axes, and heights are those of the data."""
    shift = ScaledTranslation(points / _DPI, 0, ax.figure.dpi_scale_trans)
    return ax.get_yaxis_transform() + shift


def _dot(ax: Any, x: float, y: float, number: int, tip: str, size: float = 8) -> None:
    """A point that tells more when pointed at."""
    colour = _COLOURS[f"s{number % SERIES}"]
    ax.plot(x, y, "o", color=colour, markersize=size, gid=_gid(tip))


def _titles(ax: Any, x: str, y: str) -> None:
    ax.set_xlabel(x, loc="right")
    ax.set_title(y, loc="left", color=_SOFT, fontsize="medium")


def _label(ax: Any, name: str, x: float, y: float, taken: list[Any]) -> None:
    """A name beside a point, at the nearest place where it lies over no other."""
    figure = ax.figure
    text = ax.annotate(name, (x, y), (0, 0), textcoords="offset points", va="center")
    for up, right in product((0, 12, -12, 24, -24, 36, -36), (True, False)):
        text.set(ha="left" if right else "right", position=(8 if right else -8, up))
        place = text.get_window_extent()
        inside = figure.bbox.x0 <= place.x0 and place.x1 <= figure.bbox.x1
        if inside and not place.count_overlaps(taken):
            break
    text.set_in_layout(False)
    taken.append(place)


def _gid(tip: str) -> str:
    return f"tip {tip}"


def _svg(ax: Any, title: str) -> str:
    """The picture with tips, and with the colours of the page."""
    for part in ax.findobj():
        part.set_clip_on(False)  # nothing lies outside, and clips take room in the file
    svg = re.sub(r'<g id="\w+-tip (.*?)">', r"<g><title>\1</title>", to_svg(ax.figure))
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    for name, colour in _COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    named = f'role="img" aria-label="{escape(title)}"'
    return re.sub(r'width="[^"]*" height="[^"]*"', named, svg, count=1)
