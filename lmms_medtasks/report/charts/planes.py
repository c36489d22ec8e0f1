"""One number against another, in panels: points, with lines that join them, intervals, and names that do not touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from lmms_medtasks.report.charts.axes import Axis
from lmms_medtasks.report.charts.labels import LINE, Place, leader, name_places, spread
from lmms_medtasks.report.charts.svg import DISC, PHONE, Elements, Entry, Look, Svg, legend
from lmms_medtasks.short_texts import cut_apart

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
    """A plot: its title, axes, and what is in it. ``upside_down``: the least number is on top."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    title: str = ""
    guides: tuple[Guide, ...] = ()
    upside_down: bool = False


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
    top = legend(svg, _entries(panels) if entries is None else entries)
    above = 14 + 20 * any(each.title for each in panels)
    below = 24 + 18 * any(each.x.title for each in panels)
    above += 16 * any(each.y.title for each in panels)
    for number, panel in enumerate(panels):
        own = Elements()
        y = top + (above + height + below) * (number // count) + above
        room = _room(panel, count)
        width = 100 / count
        plot_width = width * (1 - room[0] - room[1])
        _Plot(panel, y, height).draw(own, [each * plot_width / 100 for each in widths])
        svg.frame(own, width * (number % count) + width * room[0], plot_width)
    return svg.written(top + (above + height + below) * -(-len(panels) // count))


def small_plane(said: str, panel: Panel) -> str:
    """One panel without a legend, for a column of a page."""
    return plane_chart(said, [panel], height=SMALL, entries=(), widths=SMALL_WIDTHS)


def _entries(panels: Sequence[Panel]) -> list[Entry]:
    found: dict[str, Look | Literal["guess"]] = {}
    for series in (each for panel in panels for each in panel.series):
        if series.name and not series.named_at_end and series.points:
            found.setdefault(series.name, series.look or "guess")
    cut = cut_apart(found, 32)
    return [(look, cut[name]) for name, look in found.items()] if len(found) > 1 else []


def _room(panel: Panel, columns: int) -> tuple[float, float]:
    """Shares of the width at the left and at the right of a plot: for ticks, and for names at lines' ends."""
    return 0.09 * columns, 0.36 if any(series.named_at_end for series in panel.series) else 0.03


@dataclass(frozen=True)
class _Plot:
    """A panel at its place: ``top`` and ``height`` of the plot in pixels."""

    panel: Panel
    top: float
    height: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Percent of the width, pixels from the chart's top."""
        share = self.panel.y.place(y) / 100
        return self.panel.x.place(x), self.top + self.height * (share if self.panel.upside_down else 1 - share)

    def draw(self, own: Elements, widths: Sequence[float]) -> None:
        """Everything; ``widths``: the plot's on a phone and on a wide page, where names must not touch."""
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
            with own.of(point.model):
                if point.low is not None and point.high is not None:
                    low, high = (self.place(point.x, each)[1] for each in (point.low, point.high))
                    own.upright(x, low, high, kind)
                if point.x_low is not None and point.x_high is not None:
                    low, high = (self.place(each, point.y)[0] for each in (point.x_low, point.x_high))
                    own.interval(low, high, y, kind)
        for point, (x, y) in zip(series.points, places, strict=True):
            if series.look:
                with own.of(point.model):
                    own.mark(x, y, series.look, point.said, point.size)

    def _names(self, own: Elements, widths: Sequence[float]) -> None:
        # Names of what was measured find their places first.
        ordered = sorted(self.panel.series, key=lambda each: each.quiet)
        points = [(each, point) for each in ordered for point in each.points]
        named = [(each, point) for each, point in points if point.label]
        marked = [self._in_plot(point.x, point.y) for series, point in points if series.look]
        bars = [each for _, point in points for each in self._bars(point)]
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
            with own.of(point.model):
                if end := leader(place):
                    kind = f"leader{' quiet' if series.quiet else ''}"
                    own.at(x, self.top + y, f'<path d="M0 0L{end[0]:g} {end[1]:g}" class="{kind}"/>')
                for number, line in enumerate(name.split("\n")):
                    kind = "soft quiet" if series.quiet else "soft" if number else "label"
                    own.text(x, self.top + y + dy + LINE * number, line, kind, anchor, dx)

    def _guide_names(self) -> list[tuple[str, float, float, Place]]:
        """Names of guides at their second ends."""
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
        """Places on a bar or a line."""
        steps = [step / 20 for step in range(21)]
        return [self._in_plot(x1 + (x2 - x1) * step, y1 + (y2 - y1) * step) for step in steps]

    def _bars(self, point: Point) -> list[tuple[float, float]]:
        """Places that the bars of a point take."""
        places = []
        if point.low is not None and point.high is not None:
            places += self._along(point.x, point.low, point.x, point.high)
        if point.x_low is not None and point.x_high is not None:
            places += self._along(point.x_low, point.y, point.x_high, point.y)
        return places

    def _end_names(self, own: Elements) -> None:
        shown = [each for each in self.panel.series if each.points and each.named_at_end]
        places = [self.place(each.points[-1].x, each.points[-1].y) for each in shown]
        moved = spread([y for _, y in places], _APART, self.top, self.top + self.height)
        edge = max((x for x, _ in places), default=0.0)
        cut = cut_apart([each.name for each in shown], 22)
        names = [cut[each.name] for each in shown]
        for series, said, (x, from_y), y in zip(shown, names, places, moved, strict=True):
            if abs(from_y - y) > _NEAR or x != edge:
                own.line(x, from_y, edge + 1, y, "leader")
            own.text(edge, y + 4, said, "soft" if series.quiet else "label", dx=10)
