"""One number against another, in panels: points, with lines that join them, intervals, and names that do not touch.

Names touch neither marks nor each other, on a wide page and on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from lmms_medtasks.report.charts.svg import DISC, PHONE, Axis, Elements, Entry, Look, Svg, draw_legend, text_width
from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.statistics import confidence

Box = tuple[float, float, float, float]
Place = tuple[float, float, str]
"""dx, dy and anchor of a name, from its mark."""
_PLACES = (
    (8, 4, "start"), (-8, 4, "end"), (6, -6, "start"), (-6, -6, "end"), (6, 14, "start"), (-6, 14, "end"),
    (0, -9, "middle"), (0, 18, "middle"), (14, -16, "start"), (-14, -16, "end"), (14, 24, "start"), (-14, 24, "end"),
    (0, -22, "middle"), (0, 31, "middle"), (24, -28, "start"), (-24, -28, "end"), (24, 36, "start"), (-24, 36, "end"),
    (10, -40, "start"), (-10, -40, "end"), (10, 48, "start"), (-10, 48, "end"), (0, -55, "middle"), (0, 62, "middle"),
    (30, -70, "start"), (-30, -70, "end"), (30, 78, "start"), (-30, 78, "end"),
)  # fmt: skip
"""Where a name may stand from its mark, in pixels, down is positive: to its right, to its left, and so on."""
_BESIDE = 8
_LED = 16.0
"""Pixels below or above its mark from which on a name has a line that leads to it."""
_PASSES = 7.0
"""Pixels from a mark within which a leading line seems to lead to it."""
_CLOSE = 9.0
"""Pixels from another mark within which a name with a leading line seems to be that one's."""
_MARK = 5.0
"""Pixels from its middle that a mark takes."""
_ABOVE, _BELOW, _MARGIN = 11.0, 4.0, 6.0
"""Pixels above and below its first baseline that a name takes, and around it that no mark should be in."""
_WEIGHT, _REFUSED = 20, 1e6
"""How many places of bars a name would rather hide than a mark; the cost of a place that no name has."""
LINE = 15.0
"""Pixels from one line of a name to the next."""


def name_places(
    named: Sequence[tuple[str, float, float]],
    points: Sequence[tuple[float, float]],
    bars: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    kept: Sequence[tuple[str, float, float, Place]] = (),
) -> list[Place | None]:
    """For each name its dx, dy and anchor, where it touches the fewest marks and names, in plots of all ``widths``.

    None for one that would lie on another name, on a mark, outside, or nearer to another mark than to its own: a reader
    would take it for that one's.

    ``named``: names, of one line or several, with their places; ``points``: those of all marks; ``bars``: places on
    intervals and lines, which a name rather hides. x in percent of the width, y in pixels from the top.
    ``height``: the plot's. ``kept``: names that have their place already.
    """
    taken = [[box_of(name, width * x / 100, y, place) for name, x, y, place in kept] for width in widths]
    found: list[Place | None] = []
    for name, x, y in named:
        more = LINE * name.count("\n")

        def cost(place: Place, name: str = name, x: float = x, y: float = y) -> float:
            total = 0.0
            for width, others in zip(widths, taken, strict=True):
                box = box_of(name, width * x / 100, y, place)
                total += _WEIGHT * _count_covered(box, width, points, _MARGIN) + _count_covered(
                    box, width, bars, _MARGIN
                )
                outside = box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > height
                hides = outside or any(boxes_touch(box, each) for each in others)
                hides = (
                    hides
                    or _count_covered(box, width, points, _MARK) > 0
                    or _label_misleads(box, (x, y), find_leader_end(place) is None, width, points)
                )
                total += _REFUSED * (hides or _leader_misleads((width * x / 100, y), place, width, points))
            return total

        best = min((_lift_label(place, more) for place in _PLACES), key=cost)
        fits = cost(best) < _REFUSED
        found.append(best if fits else None)
        for own, width in zip(taken, widths, strict=True):
            own += [box_of(name, width * x / 100, y, best)] if fits else []
    return found


def find_leader_end(place: Place) -> tuple[float, float] | None:
    """Where the line ends that leads from a mark to its name, in pixels from the mark; None where the name is near."""
    dx, dy, _ = place
    return None if abs(dy) <= _LED else (dx, dy - 4 if dy > 0 else dy + 3)


def _lift_label(place: Place, more: float) -> Place:
    """Where a name with ``more`` pixels of further lines begins: above its mark it ends there, beside it is halved."""
    dx, dy, anchor = place
    return dx, dy - (more if dy < 0 else more / 2 if abs(dx) == _BESIDE else 0.0), anchor


def box_of(name: str, x: float, y: float, place: Place) -> Box:
    """Left, top, right and bottom of a name at a place from its mark."""
    dx, dy, anchor = place
    lines = name.split("\n")
    width = max(map(text_width, lines))
    left = x + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
    return left, y + dy - _ABOVE, left + width, y + dy + _BELOW + LINE * (len(lines) - 1)


def boxes_touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _count_covered(box: Box, width: float, places: Sequence[tuple[float, float]], margin: float) -> int:
    """How many places a name lies on, or within so many pixels of."""
    left, top, right, bottom = box
    return sum(
        left - margin < width * x / 100 < right + margin and top - margin < y < bottom + margin for x, y in places
    )


def _label_misleads(
    box: Box, own: tuple[float, float], near: bool, width: float, marked: Sequence[tuple[float, float]]
) -> bool:
    """Whether a name seems to be another mark's: nearer than to its own, or close where it has a line to its own."""

    def distance(x: float, y: float) -> float:
        x *= width / 100
        return math.hypot(max(box[0] - x, x - box[2], 0.0), max(box[1] - y, y - box[3], 0.0))

    nearest = distance(*own) if near else _CLOSE
    return any(distance(*each) < nearest for each in marked if each != own)


def _leader_misleads(
    start: tuple[float, float], place: Place, width: float, marked: Sequence[tuple[float, float]]
) -> bool:
    """Whether the name's leading line seems to lead to another mark."""
    end = find_leader_end(place)
    if end is None:
        return False
    length = math.hypot(*end)
    for x, y in marked:
        right, down = width * x / 100 - start[0], y - start[1]
        along = (right * end[0] + down * end[1]) / length
        aside = abs(right * end[1] - down * end[0]) / length
        if math.hypot(right, down) > _PASSES and 0 < along < length and aside < _PASSES:
            return True
    return False


def spread_labels(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """The places moved apart, in their order, between ``low`` and ``high``; closer where there is no room."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    room = min(apart, (high - low) / max(1, len(places) - 1)) if len(places) > 1 else apart
    moved = [min(max(places[number], low), high) for number in order]
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + room)
    beyond = moved[-1] - high if moved else 0.0
    if beyond > 0:
        moved[-1] = high
        for number in range(len(moved) - 2, -1, -1):
            moved[number] = min(moved[number], moved[number + 1] - room)
    found = [0.0] * len(places)
    for place, number in zip(moved, order, strict=True):
        found[number] = place
    return found


_WIDE = 700
SMALL, SMALL_WIDTHS = 100.0, (230.0, PHONE)
"""Height of a panel, and widths of the chart, in a column of a page."""
_APART = 14.0
"""Pixels between names at the ends of lines."""
_MIDDLE = 50.0
_AT_ENDS = 3
"""Twentieths of a line at each end that a name may touch."""
_NEAR = 3.0
"""Pixels that a name may stand from its line's end without a thin line that leads to it."""


@dataclass(frozen=True)
class Point:
    """A place on a panel and its intervals; ``said``: a tooltip, ``label``: a name (lines of it), ``size``: pixels.

    ``model``: whose it is, where a page hides some.
    """

    x: float
    y: float
    said: str = ""
    low: float | None = None
    high: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    label: str = ""
    size: float = 5
    model: str = ""


@dataclass(frozen=True)
class Series:
    """Points with one look.

    ``line``: the style of the lines that join them, "" for none. ``named_at_end``: whether its name stands at its last
    point; else it is in the legend. ``quiet``: its names are grey, as of published numbers. ``faint``: so are its
    intervals, as of many.
    """

    name: str
    points: tuple[Point, ...]
    look: Look | None = DISC
    line: str = ""
    named_at_end: bool = False
    quiet: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Guide:
    """A line that is no measurement, such as what guessing gets; ``label`` stands at its second end."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str = ""
    kind: str = "guess"


@dataclass(frozen=True)
class Panel:
    """A plot: its title, axes, and what is in it."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    title: str = ""
    guides: tuple[Guide, ...] = ()


def plane_chart(
    said: str,
    panels: Sequence[Panel],
    *,
    height: float = 240,
    entries: Sequence[Entry] | None = None,
    widths: Sequence[float] = (PHONE, _WIDE),
) -> str:
    """The panels, two in a row.

    ``said``: what they show. ``entries``: of the legend; made of the series if None. ``height``: a panel's, in pixels.
    ``widths``: the chart's, in pixels, at which names must not touch.
    """
    count = min(2, len(panels))
    kind = "planes" if count > 1 else "planes alone"
    svg = Svg(said, kind)
    top = draw_legend(svg, _legend_entries(panels) if entries is None else entries)
    above = 14 + 20 * any(each.title for each in panels)
    below = 24 + 18 * any(each.x.title for each in panels)
    above += 16 * any(each.y.title for each in panels)
    for number, panel in enumerate(panels):
        own = Elements()
        y = top + (above + height + below) * (number // count) + above
        width = 100 / count
        # Shares of the width at the left and at the right of a plot: for ticks, and for names at lines' ends.
        left, right = 0.09 * count, 0.36 if any(series.named_at_end for series in panel.series) else 0.03
        plot_width = width * (1 - left - right)
        _Plot(panel, y, height).draw(own, [each * plot_width / 100 for each in widths])
        svg.frame(own, width * (number % count) + width * left, plot_width)
    return svg.written(top + (above + height + below) * -(-len(panels) // count))


def _legend_entries(panels: Sequence[Panel]) -> list[Entry]:
    found: dict[str, Look | Literal["guess"]] = {}
    for series in (each for panel in panels for each in panel.series):
        if series.name and not series.named_at_end and series.points:
            found.setdefault(series.name, series.look or "guess")
    cut = cut_apart(found, 32)
    entries: list[Entry] = [(look, cut[name]) for name, look in found.items()] if len(found) > 1 else []
    points = (point for panel in panels for each in panel.series for point in each.points)
    has_bars = any(point.low is not None or point.x_low is not None for point in points)
    return [*entries, ("interval", f"{confidence.format_current_level()} interval")] if has_bars else entries


@dataclass(frozen=True)
class _Plot:
    """A panel at its place: ``top`` and ``height`` of the plot in pixels."""

    panel: Panel
    top: float
    height: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Percent of the width, pixels from the chart's top."""
        return self.panel.x.place(x), self.top + self.height * (1 - self.panel.y.place(y) / 100)

    def draw(self, own: Elements, widths: Sequence[float]) -> None:
        """``widths``: the plot's on a phone and on a wide page; names must not touch on either."""
        self._axes(own)
        for guide in self.panel.guides:
            one, other = self.place(guide.x1, guide.y1), self.place(guide.x2, guide.y2)
            own.line(*one, *other, guide.kind)
        for said, x, y, (dx, dy, anchor) in self._guide_names():
            own.text(x, self.top + y + dy, said, "soft", anchor, dx)
        for each in self.panel.series:
            self._series(own, each)
        self._names(own, widths)
        self._end_names(own)

    def _axes(self, own: Elements) -> None:
        panel, bottom = self.panel, self.top + self.height
        if panel.title:
            own.text(0, self.top - (28 if panel.y.title else 8), panel.title, "strong")
        if panel.y.title:
            own.text(0, self.top - 12, panel.y.title, "soft", dx=-26)
        for tick, said in panel.y.texts:
            _, y = self.place(panel.x.low, tick)
            own.line(0, y, 100, y, "grid")
            own.text(0, y + 4, said, anchor="end", dx=-6)
        for tick, said in panel.x.texts:
            x, _ = self.place(tick, panel.y.low)
            own.line(x, self.top, x, bottom, "grid")
            own.text(x, bottom + 16, said, anchor="middle")
        if panel.x.title:
            own.text(50, bottom + 34, panel.x.title, "soft", "middle")

    def _series(self, own: Elements, series: Series) -> None:
        places = [self.place(each.x, each.y) for each in series.points]
        if series.line:
            for one, other in pairwise(places):
                own.line(*one, *other, series.line, series.name)
        kind = "interval-harm" if series.look and series.look.kind == "harm" else "interval"
        kind += " faint" if series.faint else ""
        for point, (x, y) in zip(series.points, places, strict=True):
            with own.within("g data-model", point.model):
                if point.low is not None and point.high is not None:
                    low, high = (self.place(point.x, each)[1] for each in (point.low, point.high))
                    own.upright(x, low, high, kind)
                if point.x_low is not None and point.x_high is not None:
                    low, high = (self.place(each, point.y)[0] for each in (point.x_low, point.x_high))
                    own.interval(low, high, y, kind)
        for point, (x, y) in zip(series.points, places, strict=True):
            if series.look:
                with own.within("g data-model", point.model):
                    own.mark(x, y, series.look, point.said, point.size)

    def _names(self, own: Elements, widths: Sequence[float]) -> None:
        # Names of what was measured find their places first.
        ordered = sorted(self.panel.series, key=lambda each: each.quiet)
        points = [(each, point) for each in ordered for point in each.points]
        named = [(each, point) for each, point in points if point.label]
        marked = [self._in_plot(point.x, point.y) for series, point in points if series.look]
        bars = [bar for _, point in points for bar in self._bars(point)]
        bars += [each for guide in self.panel.guides for each in self._along(guide.x1, guide.y1, guide.x2, guide.y2)]
        for series in self.panel.series:
            for one, other in pairwise(series.points if series.line else ()):
                # A name stands at one end of its line: what counts is the rest of it.
                bars += self._along(one.x, one.y, other.x, other.y)[_AT_ENDS:-_AT_ENDS]
        labels = [(point.label, *self._in_plot(point.x, point.y)) for _, point in named]
        places = name_places(labels, marked, bars, widths, self.height, self._guide_names())
        for (name, x, y), place, (series, point) in zip(labels, places, named, strict=True):
            if place is None:
                continue  # Its tooltip has it, and so has the table.
            dx, dy, anchor = place
            with own.within("g data-model", point.model):
                if end := find_leader_end(place):
                    kind = f"leader{' quiet' if series.quiet else ''}"
                    own.at(x, self.top + y, f'<path d="M0 0L{end[0]:g} {end[1]:g}" class="{kind}"/>')
                for number, line in enumerate(name.split("\n")):
                    kind = "soft quiet" if series.quiet else "soft" if number else "label"
                    own.text(x, self.top + y + dy + LINE * number, line, kind, anchor, dx)

    def _guide_names(self) -> list[tuple[str, float, float, Place]]:
        found = []
        for guide in (each for each in self.panel.guides if each.label):
            x, y = self._in_plot(guide.x2, guide.y2)
            above = 4.0 if self._in_plot(guide.x1, guide.y1)[0] == x else 6.0
            found.append((guide.label, x, y, (0.0, -above, "end" if x > _MIDDLE else "start")))
        return found

    def _in_plot(self, x: float, y: float) -> tuple[float, float]:
        """As :meth:`place`, y from the plot's top."""
        across, down = self.place(x, y)
        return across, down - self.top

    def _along(self, x1: float, y1: float, x2: float, y2: float) -> list[tuple[float, float]]:
        steps = [step / 20 for step in range(21)]
        return [self._in_plot(x1 + (x2 - x1) * step, y1 + (y2 - y1) * step) for step in steps]

    def _bars(self, point: Point) -> list[tuple[float, float]]:
        places = []
        if point.low is not None and point.high is not None:
            places += self._along(point.x, point.low, point.x, point.high)
        if point.x_low is not None and point.x_high is not None:
            places += self._along(point.x_low, point.y, point.x_high, point.y)
        return places

    def _end_names(self, own: Elements) -> None:
        shown = [each for each in self.panel.series if each.points and each.named_at_end]
        places = [self.place(each.points[-1].x, each.points[-1].y) for each in shown]
        moved = spread_labels([y for _, y in places], _APART, self.top, self.top + self.height)
        edge = max((x for x, _ in places), default=0.0)
        cut = cut_apart([each.name for each in shown], 22)
        names = [cut[each.name] for each in shown]
        for series, said, (x, from_y), y in zip(shown, names, places, moved, strict=True):
            if abs(from_y - y) > _NEAR or x != edge:
                own.line(x, from_y, edge + 1, y, "leader")
            own.text(edge, y + 4, said, "soft" if series.quiet else "label", dx=10)
