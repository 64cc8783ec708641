"""Figures as SVG texts. Colours are the page's, so that they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]
WIDTH = 480.0
SERIES = 8
_LETTER = 7.2  # width of a letter at 13.5 px, the size on phones


class Drawing:
    """Shapes on a sheet, given in its own units."""

    def __init__(self, height: float, title: str) -> None:
        self.height = height
        self._title = title
        self._parts: list[str] = []

    def line(self, a: tuple[float, float], b: tuple[float, float], kind: str) -> None:
        """A straight line of a class of the style sheet."""
        self._parts.append(
            f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" '
            f'class="{kind}"/>'
        )

    def path(self, points: Points, kind: str) -> None:
        """A line through several points."""
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polyline points="{text}" class="{kind}"/>')

    def dot(self, x: float, y: float, kind: str, tip: str, radius: float = 4) -> None:
        """A point that tells more when pointed at."""
        self._parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}">'
            f"<title>{escape(tip)}</title></circle>"
        )

    def box(self, x: float, y: float, size: tuple[float, float], style: str, tip: str) -> None:
        """A filled rectangle."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{size[0]:.1f}" height="{size[1]:.1f}" {style}>'
            f"<title>{escape(tip)}</title></rect>"
        )

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """A text whose start, middle or end is at a point."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
            f"{escape(text)}</text>"
        )

    def __str__(self) -> str:
        return (
            f'<svg viewBox="0 0 {WIDTH:.0f} {self.height:.0f}" role="img" '
            f'aria-label="{escape(self._title)}">{"".join(self._parts)}</svg>'
        )


def critical_difference(
    ranks: Mapping[str, float], groups: Sequence[Sequence[str]], title: str
) -> str:
    """A row for each method, best first, with a dot at its mean rank.

    A bar at the right joins methods that the tests do not tell apart: what such diagrams draw
    below a line of ranks, turned so that long names and near ranks never overlap.
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    row = {name: 34 + 20 * place for place, name in enumerate(order)}
    left = 10 + _LETTER * max(len(name) for name in order)
    right = WIDTH - 46 - 9 * len(groups)
    sheet = Drawing(34 + 20 * len(order), title)
    highest = max(2, len(order))
    x = _scale(1, highest, left + 8, right)
    step = math.ceil(highest / 12)
    for tick in range(1, highest + 1, step):
        sheet.line((x(tick), 20), (x(tick), 26 + 20 * len(order)), "grid")
        sheet.text(x(tick), 13, str(tick), "middle", "tick")
    for name in order:
        y = row[name]
        sheet.text(left, y + 4, name, "end")
        sheet.line((left + 8, y), (x(ranks[name]), y), "leader")
        sheet.dot(x(ranks[name]), y, "dot s0", f"{name}: {ranks[name]:.2f}")
        sheet.text(right + 36, y + 4, f"{ranks[name]:.2f}", "end", "tick")
    for place, group in enumerate(groups):
        at = right + 46 + 9 * place
        ends = [row[name] for name in group]
        sheet.line((at, min(ends) - 5), (at, max(ends) + 5), "bar")
    return str(sheet)


def scatter(points: Mapping[str, tuple[float, float]], x_title: str, y_title: str) -> str:
    """Named points; x is logarithmic."""
    sheet = Drawing(330, f"{y_title} against {x_title}")
    xs = [math.log10(max(x, 1e-6)) for x, _ in points.values()]
    ys = [y for _, y in points.values()]
    plot = _Plot(sheet, _widen(xs, 0.15), _widen(ys, 0.08))
    low, high = plot.x_range
    for power in range(math.floor(low), math.ceil(high) + 1):
        for factor in (1, 2, 5):
            at = power + math.log10(factor)
            if low <= at <= high and (factor == 1 or high - low < 1.2):
                plot.x_tick(at, f"{10**at:g}")
    plot.y_ticks()
    plot.titles(x_title, y_title)
    taken: list[tuple[float, float, float]] = []
    for number, name in enumerate(sorted(points, key=lambda n: -points[n][1])):
        x, y = plot.place(math.log10(max(points[name][0], 1e-6)), points[name][1])
        sheet.dot(x, y, f"dot s{number % SERIES}", f"{name}: {points[name][1]:.3f}")
        width = _LETTER * len(name)
        to_left = x + 8 + width > WIDTH
        start = x - 8 - width if to_left else x + 8
        label = _free(taken, start, y + 4, width)
        sheet.text(start, label, name, "start", "small")
    return str(sheet)


def curves(series: Mapping[str, Points], x_title: str, y_title: str, percent: bool = False) -> str:
    """Lines over a common x, with a legend below."""
    across = 3 if max(map(len, series)) <= 18 else 2
    rows = math.ceil(len(series) / across)
    sheet = Drawing(312 + 18 * rows, f"{y_title} over {x_title}")
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points]
    plot = _Plot(sheet, _widen(xs, 0.03), _widen(ys, 0.06), bottom=48 + 18 * rows)
    step = math.ceil(len(xs) / 8)
    for x in xs[::step]:
        plot.x_tick(x, f"{x:.0%}" if percent else f"{x:g}")
    plot.y_ticks()
    plot.titles(x_title, y_title)
    for number, (name, points) in enumerate(series.items()):
        kind = f"s{number % SERIES}" + (" dashed" if number >= SERIES else "")
        placed = [plot.place(x, y) for x, y in sorted(points)]
        sheet.path(placed, f"curve {kind}")
        for (x, y), (px, py) in zip(sorted(points), placed, strict=True):
            sheet.dot(px, py, f"dot {kind}", f"{name}, {x:g}: {y:.3f}", 3)
        at_x = 14 + (number % across) * 468 / across
        at_y = 322 + 18 * (number // across)
        sheet.line((at_x, at_y - 4), (at_x + 16, at_y - 4), f"curve {kind}")
        sheet.text(at_x + 21, at_y, name, "start", "small")
    return str(sheet)


def heat_map(values: Mapping[tuple[str, str], float], title: str) -> str:
    """Numbers in a grid of rows and columns, each row shaded from its worst to its best."""
    rows = list(dict.fromkeys(row for row, _ in values))
    columns = list(dict.fromkeys(column for _, column in values))
    left = 16 + _LETTER * max(len(row) for row in rows)
    width = (WIDTH - left - 4) / len(columns)
    sheet = Drawing(30 + 26 * len(rows), title)
    for place, column in enumerate(columns):
        sheet.text(left + width * (place + 0.5), 18, column, "middle", "small")
    for number, row in enumerate(rows):
        y = 26 + 26 * number
        sheet.text(left - 8, y + 17, row, "end", "small")
        own = [values[row, column] for column in columns if (row, column) in values]
        share = _scale(min(own), max(own), 0.0, 1.0)
        for place, column in enumerate(columns):
            if (row, column) in values:
                value = values[row, column]
                shade = f'class="heat" fill-opacity="{0.1 + 0.9 * share(value):.2f}"'
                x = left + width * place
                sheet.box(x, y, (width - 2, 24), shade, f"{row}, {column}: {value:.3f}")
                best = "small best" if value == max(own) else "small"
                sheet.text(x + width / 2, y + 16, f"{value:.3f}", "middle", best)
    return str(sheet)


class _Plot:
    """Axes of a chart."""

    def __init__(
        self,
        sheet: Drawing,
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        bottom: float = 46,
    ) -> None:
        self.sheet, self.x_range, self.y_range = sheet, x_range, y_range
        self._left, self._right, self._top = 52.0, WIDTH - 14, 26.0
        self._bottom = sheet.height - bottom
        self._x = _scale(*x_range, self._left, self._right)
        self._y = _scale(*y_range, self._bottom, self._top)

    def place(self, x: float, y: float) -> tuple[float, float]:
        return self._x(x), self._y(y)

    def x_tick(self, x: float, text: str) -> None:
        at = self._x(x)
        self.sheet.line((at, self._top), (at, self._bottom), "grid")
        self.sheet.text(at, self._bottom + 15, text, "middle", "tick")

    def y_ticks(self) -> None:
        low, high = self.y_range
        step = _nice((high - low) / 5)
        for count in range(math.ceil(low / step), math.floor(high / step) + 1):
            at = self._y(count * step)
            self.sheet.line((self._left, at), (self._right, at), "grid")
            digits = max(1, -math.floor(math.log10(step)))
            self.sheet.text(self._left - 6, at + 4, f"{count * step:.{digits}f}", "end", "tick")

    def titles(self, x: str, y: str) -> None:
        self.sheet.line((self._left, self._bottom), (self._right, self._bottom), "axis")
        self.sheet.text(self._right, self._bottom + 32, x, "end", "tick")
        self.sheet.text(2, 12, y, "start", "tick")


def _scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (stop - start)


def _widen(values: Sequence[float], share: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * share or 0.05
    return low - room, high + room


def _nice(step: float) -> float:
    power = 10 ** math.floor(math.log10(step))
    return min((m * power for m in (1, 2, 5, 10) if m * power >= step), default=power)


def _free(taken: list[tuple[float, float, float]], start: float, y: float, width: float) -> float:
    """The height nearest to y where a label does not lie over another."""
    for shift in (0, 12, -12, 24, -24, 36, -36, 48, -48):
        at = y + shift
        clash = any(
            abs(at - other) < 12 and start < stop and first < start + width
            for first, stop, other in taken
        )
        if not clash:
            break
    taken.append((start, start + width, at))
    return at
