"""Charts of a report as SVG elements that are written directly: rows with ranges, points by category, a heat map.

Colours are classes of the page's style sheet, so a chart is right on a dark page and in print; each mark has its number
as a tooltip. Measured marks are filled, published ones are small, grey and hollow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from lmms_medtasks.report.document import Cell

WIDTH = 760
_ROW, _SMALL_ROW = 26, 18
_NAME = 190
_TEXT_WIDTH = 6.3
"""Mean width of a letter at 12 pixels; names are cut by it."""


class Svg:
    """An SVG element that is being written, in pixels."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self._size = width, height
        self._parts = [f"<title>{escape(title)}</title>"]

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A line of the style ``kind``."""
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self._parts.append(f'<line {ends} class="{kind}"/>')

    def circle(self, x: float, y: float, radius: float, kind: str, said: str = "") -> None:
        """A disc or ring of the style ``kind``; ``said`` is its tooltip."""
        self._parts.append(
            self._said(f'circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}"', "circle", said)
        )

    def diamond(self, x: float, y: float, radius: float, kind: str, said: str = "") -> None:
        """A square on its tip."""
        points = f"{x:.1f},{y - radius:.1f} {x + radius:.1f},{y:.1f} {x:.1f},{y + radius:.1f} {x - radius:.1f},{y:.1f}"
        self._parts.append(self._said(f'polygon points="{points}" class="{kind}"', "polygon", said))

    def box(self, x: float, y: float, width: float, height: float, kind: str, opacity: float, said: str = "") -> None:
        """A filled rectangle, 0 to 1 opaque."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self._parts.append(self._said(f'rect {place} class="{kind}" fill-opacity="{opacity:.2f}"', "rect", said))

    def text(self, x: float, y: float, said: str, kind: str = "", anchor: str = "start", width: float = 0) -> None:
        """A text whose baseline is at ``y``; cut to ``width`` pixels, its whole then is a tooltip."""
        most = int(width / _TEXT_WIDTH) if width else len(said)
        cut = said if len(said) <= most else f"{said[: most - 1]}…"
        whole = "" if cut == said else f"<title>{escape(said)}</title>"
        style = f' class="{kind}"' if kind else ""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        self._parts.append(f"<text {place}{style}>{escape(cut)}{whole}</text>")

    def written(self) -> str:
        """The element."""
        width, height = self._size
        head = f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img"'
        return f"{head}>{''.join(self._parts)}</svg>"

    @staticmethod
    def _said(start: str, tag: str, said: str) -> str:
        return f"<{start}><title>{escape(said)}</title></{tag}>" if said else f"<{start}/>"


@dataclass(frozen=True)
class RangeRow:
    """A row of :func:`range_chart`: a model, its numbers from the first condition to the last, and the last's interval.

    ``values``: percent, None where it was not asked. ``published``: a row of the paper's.
    """

    name: str
    values: tuple[float | None, ...]
    low: float | None = None
    high: float | None = None
    published: bool = False


def range_chart(title: str, series: Sequence[str], rows: Sequence[RangeRow], chance: float | None = None) -> str:
    """A row a model: a ring for the first of ``series``, diamonds between, a disc for the last, a line that joins them.

    At the right the last number and its change from the first. ``chance``: what guessing gets, a dashed line.
    """
    own, printed = ([row for row in rows if row.published is kind] for kind in (False, True))
    every = [*(value for row in rows for value in (*row.values, row.low)), chance]
    # Where everything is right the axis is still 10 points long.
    start = min(10 * (min((value for value in every if value is not None), default=0) // 10), 90)
    left, right, top = _NAME, WIDTH - 136, 62

    def x(value: float) -> float:
        return left + (value - start) / (100 - start) * (right - left)

    height = top + _ROW * len(own) + (_SMALL_ROW * (len(printed) + 1) if printed else 0) + 8
    svg = Svg(WIDTH, height, title)
    for tick in range(int(start), 101, 10 if start >= 50 else 20):
        svg.line(x(tick), top - 6, x(tick), height - 6, "grid")
        svg.text(x(tick), top - 12, str(tick), anchor="middle")
    entries = [("ring", series[0]), *(("between", name) for name in series[1:-1]), ("disc", series[-1])]
    entries += [("interval", f"95 % interval of {series[-1]}")] if any(row.low is not None for row in own) else []
    entries += [("published", "published")] if printed else []
    entries += [("guess", f"guessing, {chance:.1f}")] if chance is not None else []
    _legend(svg, entries)
    if chance is not None:
        svg.line(x(chance), top - 6, x(chance), height - 6, "guess")
    svg.text(WIDTH - 56, top - 12, series[-1], anchor="end")
    svg.text(WIDTH, top - 12, "change", anchor="end")
    y = float(top)
    for row in own:
        _range_row(svg, row, series, x, y + _ROW / 2, _ROW / 2)
        y += _ROW
    if printed:
        svg.text(0, y + _SMALL_ROW - 5, "published in the paper, on its own data", "soft")
        y += _SMALL_ROW
        for row in printed:
            _range_row(svg, row, series, x, y + _SMALL_ROW / 2, _SMALL_ROW / 2)
            y += _SMALL_ROW
    return svg.written()


def _range_row(
    svg: Svg, row: RangeRow, series: Sequence[str], x: Callable[[float], float], y: float, half: float
) -> None:
    known = [(number, value) for number, value in enumerate(row.values) if value is not None]
    own = not row.published
    svg.text(0, y + 4, row.name, "strong" if own else "soft", width=_NAME - 12)
    if not known:
        return
    values = [value for _, value in known]
    svg.line(x(min(values)), y, x(max(values)), y, "joined" if own else "joined-published")
    if row.low is not None and row.high is not None:
        svg.line(x(row.low), y, x(row.high), y, "interval")
        for end in (row.low, row.high):
            svg.line(x(end), y - half / 3, x(end), y + half / 3, "interval")
    last = len(series) - 1
    for number, value in known:
        said = f"{row.name}, {series[number]}: {value:.1f} %"
        if not own:
            svg.circle(x(value), y, 3, "published", said)
        elif number == 0:
            svg.circle(x(value), y, 5, "ring", said)
        elif number < last:
            svg.diamond(x(value), y, 5, "between", said)
        else:
            svg.circle(x(value), y, 5.5, "disc", said)
    first, final = row.values[0], row.values[-1]
    if final is not None:
        svg.text(WIDTH - 56, y + 4, f"{final:.1f}", "strong" if own else "soft", "end")
    if final is not None and first is not None:
        svg.text(WIDTH, y + 4, f"{final - first:+.1f}".replace("-", "−"), "" if own else "soft", "end")


@dataclass(frozen=True)
class PointRow:
    """A category of :func:`point_chart`: its name, each source's number, published numbers, and what guessing gets."""

    name: str
    cells: tuple[Cell, ...]
    published: tuple[tuple[str, float], ...] = ()
    chance: float | None = None


def point_chart(title: str, sources: Sequence[str], rows: Sequence[PointRow], axis: str) -> str:
    """A row a category, in the order given: a point and interval a source, published models hollow, guessing a tick.

    The first row stands on top. ``axis`` says what the scale from 0 to 100 is.
    """
    left, right, top = _NAME + 20, WIDTH - 60, 52
    shown = min(len(sources), len(_POINTS))
    each = max(_ROW, 9 * shown + 8)
    height = top + each * len(rows) + 26

    def x(value: float) -> float:
        return left + value / 100 * (right - left)

    svg = Svg(WIDTH, height, title)
    for tick in range(0, 101, 25):
        svg.line(x(tick), top - 6, x(tick), top + each * len(rows), "grid")
        svg.text(x(tick), top - 12, str(tick), anchor="middle")
    svg.text((left + right) / 2, height - 6, axis, "soft", "middle")
    entries = list(zip(_POINTS, sources, strict=False))
    entries += [("published", "published")] if any(row.published for row in rows) else []
    entries += [("guess", "guessing")] if any(row.chance is not None for row in rows) else []
    _legend(svg, [(kind, _short(name, 28)) for kind, name in entries])
    for number, row in enumerate(rows):
        y = top + each * (number + 0.5)
        svg.text(0, y + 4, row.name, "strong", width=_NAME + 8)
        for name, value in row.published:
            svg.circle(x(value), y, 3, "published", f"{name}, published: {value:.1f} %")
        if row.chance is not None:
            svg.line(x(row.chance), y - each / 2 + 3, x(row.chance), y + each / 2 - 3, "guess")
        for place, cell in enumerate(row.cells[:shown]):
            _point(svg, cell, sources[place], _POINTS[place], x, y + 9 * (place - (shown - 1) / 2))
        if shown == 1 and isinstance(row.cells[0].value, int | float):
            svg.text(WIDTH, y + 4, f"{row.cells[0].value:.1f}{row.cells[0].mark}", "strong", "end")
        elif shown == 1:
            svg.text(WIDTH, y + 4, "–", "soft", "end")
    return svg.written()


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


_POINTS = ("disc", "ring", "between", "disc-2", "ring-2", "between-2")


def _point(svg: Svg, cell: Cell, name: str, kind: str, x: Callable[[float], float], y: float) -> None:
    if not isinstance(cell.value, int | float):
        return
    interval = ""
    if cell.low is not None and cell.high is not None:
        svg.line(x(cell.low), y, x(cell.high), y, "interval")
        interval = f" [{cell.low:.1f}, {cell.high:.1f}]"
    said = f"{name}: {cell.value:.1f} %{interval}"
    if kind.startswith("between"):
        svg.diamond(x(cell.value), y, 4.5, kind, said)
    else:
        svg.circle(x(cell.value), y, 4.5, kind, said)


@dataclass(frozen=True)
class HeatCell:
    """A cell of :func:`heat_chart`: a number, over how many questions, and how strong its colour is, from 0 to 1."""

    value: float | None
    count: int
    strength: float
    said: str = ""


@dataclass(frozen=True)
class HeatRow:
    """A row of :func:`heat_chart`; ``total`` stands behind the cells."""

    name: str
    cells: tuple[HeatCell, ...]
    total: str = ""


FEW = 5
"""Questions below which a cell's number is shown as uncertain."""


def heat_chart(title: str, heads: Sequence[str], rows: Sequence[HeatRow], total: str = "", kind: str = "harm") -> str:
    """Numbers on coloured cells; those over fewer than :data:`FEW` questions in italics, on half the colour."""
    left, right, row_height, top = _NAME, WIDTH - (90 if total else 0), 24, 34
    width = (right - left) / max(len(heads), 1)
    svg = Svg(WIDTH, top + row_height * len(rows) + 4, title)
    for number, head in enumerate(heads):
        svg.text(left + width * (number + 0.5), top - 10, head, anchor="middle", width=width - 4)
    if total:
        svg.text(WIDTH, top - 10, total, anchor="end")
    for line, row in enumerate(rows):
        y = top + row_height * line
        svg.text(0, y + 16, row.name, width=_NAME - 10)
        for number, cell in enumerate(row.cells):
            x = left + width * number
            if cell.value is None:
                svg.text(x + width / 2, y + 16, "·", "soft", "middle")
                continue
            few = cell.count < FEW
            svg.box(
                x + 1, y + 1, width - 2, row_height - 2, kind, 0.72 * cell.strength * (0.5 if few else 1), cell.said
            )
            said = f"{cell.value:+.0f}".replace("-", "−") if kind == "harm" else f"{cell.value:.0f}"
            svg.text(x + width / 2, y + 16, "0" if said in ("+0", "−0") else said, "few" if few else "value", "middle")
        if row.total:
            svg.text(WIDTH, y + 16, row.total, "strong", "end")
    return svg.written()


def _legend(svg: Svg, entries: Sequence[tuple[str, str]]) -> None:
    """What marks mean, on a chart's first line: (kind, text) each; kinds as in the charts."""
    x = 6.0
    for kind, said in entries:
        if kind == "interval":
            svg.line(x - 4, 10, x + 10, 10, kind)
        elif kind == "guess":
            svg.line(x + 3, 3, x + 3, 17, kind)
        elif kind.startswith("between"):
            svg.diamond(x + 3, 10, 5, kind)
        else:
            svg.circle(x + 3, 10, 3 if kind == "published" else 5, kind)
        svg.text(x + 15, 14, said)
        x += 40 + 1.06 * _TEXT_WIDTH * len(said)
