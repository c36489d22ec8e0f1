"""The first page's drawing as an SVG element: measured models filled, with intervals, published ones hollow and grey.

Places are percent of the drawing, so that its text keeps its size on a phone; colours are classes of the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from lmms_medtasks.board.model_names import short_names
from lmms_medtasks.board.site.scatter import Drawn, Point
from lmms_medtasks.report.charts.svg import shorts
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from markupsafe import Markup

LABELLED, CROWD = 5, 12
"""Measured models that are named, of all others a tooltip has the name; from a crowd on, fewer are, and their intervals
are faint."""
HEIGHT = 400
"""Pixels."""
_NARROW = 300
"""Pixels of the narrowest drawing: labels that don't touch there touch nowhere."""
_LETTER, _LINE, _DOT = 6.7, 15.0, 6.0
_FAR = 28.0
"""Pixels from which on a line leads from a point to its label."""
_LONGEST = 24
_TICKS = 6


class Box(NamedTuple):
    """A rectangle in pixels of the narrowest drawing."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def chart(found: Drawn) -> Markup:
    """The drawing; its numbers stand in a table below it."""
    from markupsafe import Markup

    ends = [end for point in found.points for end in (point.good.low, point.good.high) if end is not None]
    lost = [end for point in found.points for end in (point.loss.low, point.loss.high) if end is not None]
    across = _scale([*(point.x for point in found.points), *ends, *([] if found.chance is None else [found.chance])])
    up = _scale([*(point.y for point in found.points), *lost, 0.0])

    def x(value: float) -> float:
        return 100 * (value - across[0]) / (across[-1] - across[0])

    def y(value: float) -> float:
        return 100 * (up[-1] - value) / (up[-1] - up[0])

    said = f"{found.said.title} {found.said.x} against {found.said.y}; {len(found.points)} models."
    parts = [f'<svg class="chart scatter" width="100%" height="{HEIGHT}" role="img" aria-label="{escape(said)}">']
    for tick in across:
        parts += [_line(x(tick), 0, x(tick), 100, "grid"), _text(x(tick), 100, f"{tick:g}", dy=17, anchor="middle")]
    for tick in up:
        kind = "axis" if tick == 0 else "grid"
        parts += [
            _line(0, y(tick), 100, y(tick), kind),
            _text(0, y(tick), f"{tick:g}".replace("-", "−"), dx=-7, dy=4, anchor="end"),
        ]
    taken: list[Box] = []
    if found.chance is not None:
        parts += [_line(x(found.chance), 0, x(found.chance), 100, "guess")]
        words = f"guessing {found.chance:.1f}"
        parts += [_text(x(found.chance), 0, words, dx=6, dy=11)]
        start = x(found.chance) / 100 * _NARROW + 6
        taken.append(Box(start, 0, start + _LETTER * len(words), _LINE))
    marks = [point for point in found.points if not point.measured] + list(reversed(found.measured))
    parts += [_mark(point, found, x, y) for point in marks]
    crowded = len(found.measured) >= CROWD
    dots = [box for point in found.points for box in _covered(point, x, y, with_bars=not crowded)]
    for point, lines in _named(found):
        dx, dy, anchor, box = _place(point, lines, x, y, taken, dots)
        taken.append(box)
        down = dy - 11.5 + (box.bottom - box.top) / 2
        if abs(down) > _FAR:
            leader = f'<line x2="{dx:g}" y2="{down:g}" class="leader"/>'
            parts.append(f'<svg x="{x(point.x):.2f}%" y="{y(point.y):.2f}%" overflow="visible">{leader}</svg>')
        for number, words in enumerate(lines):
            kind = "strong" if number == 0 and point.measured else ""
            parts.append(_text(x(point.x), y(point.y), words, dx, dy + _LINE * number, anchor, kind))
    parts += [_text(50, 100, f"{found.said.x} ({found.shown.unit})", dy=36, anchor="middle"), "</svg>"]
    return Markup("".join(parts))  # noqa: S704 - every text of others is escaped


def _named(found: Drawn) -> list[tuple[Point, list[str]]]:
    """The points with labels and their lines: the best measured ones, and three published extremes."""
    crowded = len(found.measured) >= CROWD
    points = list(found.measured[: LABELLED - 2 if crowded else LABELLED])
    printed = [point for point in found.points if not point.measured]
    if printed and not crowded:
        least, most = (choose(printed, key=lambda each: each.y) for choose in (min, max))
        extremes = {id(point): point for point in (printed[0], most, least)}
        points += extremes.values()
    names = short_names(point.name for point in points)
    numbers = f"{found.best.x:.{found.shown.digits}f}, loses {found.best.y:.{found.shown.digits}f}"
    return [
        (point, [name, numbers] if point is found.best else [name])
        for point, name in zip(points, shorts([visible(names[point.name]) for point in points], _LONGEST), strict=True)
    ]


def _place(
    point: Point,
    lines: Sequence[str],
    x: Callable[[float], float],
    y: Callable[[float], float],
    taken: Sequence[Box],
    dots: Sequence[Box],
) -> tuple[float, float, str, Box]:
    """Where a label stands beside its point (dx, dy, anchor), and what it covers: where it covers least."""
    width, height = _LETTER * max(map(len, lines)), _LINE * len(lines)
    across, down = x(point.x) / 100 * _NARROW, y(point.y) / 100 * HEIGHT
    best: tuple[float, tuple[float, float, str, Box]] | None = None
    for far in (0.0, 12.0, 26.0, 44.0):
        for right, lift in (
            (1, 0.0),
            (-1, 0.0),
            (1, -0.6),
            (-1, -0.6),
            (1, 0.6),
            (-1, 0.6),
            (1, -1.0),
            (-1, -1.0),
            (1, 1.0),
            (-1, 1.0),
        ):
            dx = right * (9.0 + (0.0 if lift else far))
            top = down - height / 2 + lift * (far + height / 2 + 3)
            left = across + dx - (width if right < 0 else 0)
            box = Box(left, top, left + width, top + height)
            outside = left < 0 or box.right > _NARROW + 12 or top < 0 or box.bottom > HEIGHT
            cost = 100 * outside + 40 * sum(map(box.overlaps, taken)) + sum(map(box.overlaps, dots)) + far / 40
            if best is None or cost < best[0]:
                best = cost, (dx, top - down + 11.5, "start" if right > 0 else "end", box)
    assert best is not None  # there are places to try
    return best[1]


def _covered(point: Point, x: Callable[[float], float], y: Callable[[float], float], *, with_bars: bool) -> list[Box]:
    """What a point covers: its dot, and its intervals where there is room to keep labels off them."""

    def box(left: float, top: float, right: float, bottom: float, around: float) -> Box:
        wide, high = _NARROW / 100, HEIGHT / 100
        return Box(left * wide - around, top * high - around, right * wide + around, bottom * high + around)

    across, down = x(point.x), y(point.y)
    found = [box(across, down, across, down, _DOT)]
    if with_bars and point.good.low is not None and point.good.high is not None:
        found.append(box(x(point.good.low), down, x(point.good.high), down, 2))
    if with_bars and point.loss.low is not None and point.loss.high is not None:
        found.append(box(across, y(point.loss.high), across, y(point.loss.low), 2))
    return found


def _mark(point: Point, found: Drawn, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """A point with its tooltip; of a measured one its two intervals too."""
    digits = found.shown.digits
    kind = "measured" if point.measured else "published"
    said = escape(visible(f"{point.name} ({kind}): {point.x:.{digits}f}, loses {point.y:.{digits}f}"))
    place = f'cx="{x(point.x):.2f}%" cy="{y(point.y):.2f}%"'
    if not point.measured:
        return f'<circle {place} r="3.6" class="published"><title>{said}</title></circle>'
    bars = ""
    if point.good.low is not None and point.good.high is not None:
        bars += _line(x(point.good.low), y(point.y), x(point.good.high), y(point.y), "interval")
    if point.loss.low is not None and point.loss.high is not None:
        bars += _line(x(point.x), y(point.loss.low), x(point.x), y(point.loss.high), "interval")
    crowded = len(found.measured) >= CROWD
    if crowded and point not in found.measured[: LABELLED - 2]:
        bars = f'<g class="faint">{bars}</g>'
    return f'{bars}<circle {place} r="{4 if crowded else 5.5}" class="own"><title>{said}</title></circle>'


def _scale(values: Sequence[float]) -> list[float]:
    """Round ticks that hold all values, about six."""
    low, high = min(values), max(values)
    rough = max(high - low, 1e-9) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * number, 6) for number in range(first, max(last, first + 1) + 1)]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.2f}%" y1="{y1:.2f}%" x2="{x2:.2f}%" y2="{y2:.2f}%" class="{kind}"/>'


def _text(x: float, y: float, said: str, dx: float = 0, dy: float = 0, anchor: str = "start", kind: str = "") -> str:
    """A text ``dx`` and ``dy`` pixels from a place in percent."""
    style = f' class="{kind}"' if kind else ""
    text = f'<text x="{dx:g}" y="{dy:g}" text-anchor="{anchor}"{style}>{escape(said)}</text>'
    return f'<svg x="{x:.2f}%" y="{y:.2f}%" overflow="visible">{text}</svg>'
