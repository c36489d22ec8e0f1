"""Figures that a benchmark declares, drawn from the cells of its tables: a plane, points by category, lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lmms_medtasks.report.document import Cell, Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.statistics.intervals import Interval

MOST = 6
"""Sources in one figure: more could not be told apart, the tables have them all."""

_GROUP_MARKERS = ("o", "s", "^", "*")
_NAME = 42


@dataclass(frozen=True)
class Plot:
    """What all figures have in common.

    Attributes:
        columns: names of columns of ``table``. chance: the row of it that says what guessing gets, or None.
        axis: labels of the axes. size: width and height in inches.
        shown: whether these sources have the figure.
    """

    key: str
    title: str
    about: str
    table: Table
    columns: tuple[str, ...]
    chance: Row | None = None
    axis: tuple[str, ...] = ("accuracy, percent",)
    size: tuple[float, float] = (6.8, 3.5)
    shown: Callable[[Sequence[Source]], bool] = lambda sources: True

    def figure(self, sources: Sequence[Source], prefix: str) -> Figure | None:
        """The drawing; None where these sources have none."""
        if not self.shown(sources):
            return None
        first = list(sources)[:MOST]
        named = {each.name: each for each in self.table.columns_of(sources)}
        with canvas(*self.size) as figure:
            self.draw(figure, [named[name] for name in self.columns], first)
            return Figure(
                self.key, self.title, self.about, svg(figure, f"{prefix}-{self.key}", self.title), self.table.key
            )

    def draw(self, figure: Any, columns: Sequence[Column], sources: Sequence[Source]) -> None:
        """Draw into a Matplotlib figure."""
        raise NotImplementedError


@dataclass(frozen=True)
class Drawing:
    """A figure that a benchmark draws itself.

    Attributes:
        table: the key of the table that has its numbers. draw: draws the sources into a Matplotlib figure.
        size: width and height in inches, given or made from the sources. shown: whether these sources have it.
    """

    key: str
    title: str
    about: str
    table: str
    draw: Callable[[Any, Sequence[Source]], None]
    size: tuple[float, float] | Callable[[Sequence[Source]], tuple[float, float]] = (6.8, 3.5)
    shown: Callable[[Sequence[Source]], bool] = lambda sources: True

    def figure(self, sources: Sequence[Source], prefix: str) -> Figure | None:
        """The drawing; None where these sources have none."""
        if not self.shown(sources):
            return None
        with canvas(*(self.size(sources) if callable(self.size) else self.size)) as figure:
            self.draw(figure, sources)
            return Figure(self.key, self.title, self.about, svg(figure, f"{prefix}-{self.key}", self.title), self.table)


@dataclass(frozen=True)
class Chart:
    """A figure that is written as SVG directly (:mod:`lmms_medtasks.report.svg_charts`).

    ``about``: given, or made from the sources. ``table``: the key of the table that has its numbers. ``draw``: from
    the sources to the element.
    """

    key: str
    title: str
    about: str | Callable[[Sequence[Source]], str]
    table: str
    draw: Callable[[Sequence[Source]], str]
    shown: Callable[[Sequence[Source]], bool] = lambda sources: True

    def figure(self, sources: Sequence[Source], prefix: str) -> Figure | None:
        """The chart; None where these sources have none."""
        if not self.shown(sources):
            return None
        about = self.about(sources) if callable(self.about) else self.about
        return Figure(self.key, self.title, about, self.draw(sources), self.table)


@dataclass(frozen=True)
class Plane(Plot):
    """Two columns against each other: a cross a source, published rows by their column ``group``.

    ``groups``: group -> its title. labelled: published models that are named.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    labelled: tuple[str, ...] = ()

    def draw(self, figure: Any, columns: Sequence[Column], sources: Sequence[Source]) -> None:
        """Draw into a Matplotlib figure."""
        axes = figure.subplots()
        axes.plot([0, 100], [0, 100], color=FAINT, linewidth=0.8, linestyle=":")
        published = self.table.published
        named: dict[str, Sequence[Any]] = {}
        marked: list[Sequence[Any]] = []
        for (group, title), marker in zip(self.groups.items(), _GROUP_MARKERS, strict=False):
            if published is None:
                break
            rows = [row for row in published.rows() if row["group"] == group]
            points = [[published.value(row, each.name) or 0.0 for each in columns] for row in rows]
            axes.scatter(
                *zip(*points, strict=True), s=70 if marker == "*" else 26, marker=marker, facecolors="none",
                edgecolors=INK, linewidths=0.9, label=f"published, {title}",
            )  # fmt: skip
            named |= {row["model"]: point for row, point in zip(rows, points, strict=True)
                      if row["model"] in self.labelled}  # fmt: skip
            marked += points
        for number, source in enumerate(sources):
            x, y = ([each.cell(source, Row(()), with_interval=True)] for each in columns)
            style = {**_style(number), "linestyle": "none", "markersize": 8}
            axes.errorbar(
                _middle(x), _middle(y), xerr=_bars(x), yerr=_bars(y), capsize=3, label=_short(source), **style
            )
            marked += _cross(x[0], y[0])
        if self.chance:
            guess = [each.cell(sources[0], self.chance).value for each in columns]
            axes.scatter(*guess, marker="x", color=INK, s=45, linewidths=1.6, label="uniform guessing")
            marked.append(guess)
        axes.set(xlim=(0, 102), ylim=(0, 102), xlabel=self.axis[0], ylabel=self.axis[1])
        axes.grid()
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
        name_points(figure, axes, named, marked)


@dataclass(frozen=True)
class Points(Plot):
    """A place for each column: a point a source, a thin line a published model.

    ``heads``: labels of the places. ``left_out``: groups of published rows that get no line.
    """

    heads: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def draw(self, figure: Any, columns: Sequence[Column], sources: Sequence[Source]) -> None:
        """Draw into a Matplotlib figure."""
        axes, places = figure.subplots(), np.arange(len(columns))
        published = self.table.published
        rows = [row for row in published.rows() if row.get("group") not in self.left_out] if published else []
        for row in rows:
            numbers = [published.value(row, each.name) for each in columns]  # type: ignore[union-attr]
            axes.plot(places, _numbers(numbers), color=FAINT, linewidth=0.6, alpha=0.6, zorder=1)
        if published:
            axes.plot([], [], color=FAINT, linewidth=0.9, label="published models")
        if self.chance:
            guess = [each.cell(sources[0], self.chance) for each in columns]
            style = {"linestyle": "none", "marker": "_", "markersize": 22}
            axes.plot(places, _middle(guess), color=INK, label="uniform guessing", **style)
        step = 0.5 / max(1, len(sources))
        for number, source in enumerate(sources):
            cells = [each.cell(source, Row(()), with_interval=True) for each in columns]
            beside = places + step * (number - (len(sources) - 1) / 2)
            style = {**_style(number), "linestyle": "none", "markersize": 5}
            axes.errorbar(beside, _middle(cells), yerr=_bars(cells), capsize=3, label=_short(source), **style)
        axes.set_xticks(places, self.heads)
        axes.set(ylim=(0, 103), ylabel=self.axis[0])
        axes.grid(axis="y")
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)


@dataclass(frozen=True)
class Lines(Plot):
    """A panel for each column, over the number in the column ``x``: a line a source, dotted what guessing gets.

    The table's rows of kind "run" are the sources' points, those of kind "counts" guessing's. heads: titles of panels.
    """

    x: str = ""
    heads: tuple[str, ...] = ()

    def draw(self, figure: Any, columns: Sequence[Column], sources: Sequence[Source]) -> None:
        """Draw into a Matplotlib figure."""
        place = next(each for each in self.table.columns_of(sources) if each.name == self.x)
        panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        rows = {id(source): self.table.rows_of([source]) for source in sources}
        ticks = sorted({_place(place, source, row) for source in sources for row in rows[id(source)]})
        for axes, column, head in zip(panels, columns, self.heads, strict=True):
            for number, source in enumerate(sources):
                own = [row for row in rows[id(source)] if row.kind == "run"]
                cells = [column.cell(source, row, with_interval=True) for row in own]
                xs = [_place(place, source, row) for row in own]
                axes.errorbar(xs, _middle(cells), yerr=_bars(cells), capsize=3, markersize=5, label=_short(source),
                              **_style(number))  # fmt: skip
            guesses = [row for row in rows[id(sources[0])] if row.kind == "counts"]
            xs = [_place(place, sources[0], row) for row in guesses]
            known = _middle([column.cell(sources[0], row) for row in guesses])
            axes.plot(xs, known, color=INK, linestyle=":", linewidth=1.2, label="uniform guessing")
            axes.set(title=head, xlabel=place.head, xlim=(0, max(ticks) + min(ticks)))
            axes.set_xticks(ticks, [f"{each:g}" for each in ticks])
            axes.grid()
        panels[0].set(ylim=(0, 103), ylabel=self.axis[0])
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=8)


def interval_points(
    axes: Any, places: np.ndarray, intervals: Sequence[Interval | None], factor: float, number: int
) -> None:
    """Estimates times ``factor`` as points with their intervals as bars, in the colour and marker of this number."""
    middle, low, high = (
        np.array([np.nan if each is None or getattr(each, name) is None else getattr(each, name) for each in intervals])
        for name in ("estimate", "low", "high")
    )
    bars = factor * np.clip([middle - low, high - middle], 0, None)
    axes.errorbar(places, factor * middle, yerr=bars, color=SERIES[number], marker=MARKERS[number], linestyle="none",
                  capsize=3, markersize=5)  # fmt: skip


def _place(column: Column, source: Source, row: Row) -> float:
    """Where a row stands on the axis. Raises TypeError for a column that is no number in it."""
    value = column.cell(source, row).value
    if not isinstance(value, int | float):
        raise TypeError(f"{column.name!r} is {value!r} in a row of a figure, wanted a number.")
    return value


def _style(number: int) -> dict[str, Any]:
    """Three colours, and the next three in another dash and marker."""
    group = number + number // len(SERIES)
    return {
        "color": SERIES[number % len(SERIES)],
        "linestyle": DASHES[group % len(DASHES)],
        "marker": MARKERS[group % len(MARKERS)],
    }


def _cross(x: Cell, y: Cell) -> list[tuple[Any, Any]]:
    """Points along a cross's bars, two units apart at most."""
    if x.value is None or y.value is None:
        return []
    ends: list[tuple[Any, Any]] = [
        (each.value if each.low is None else each.low, each.value if each.high is None else each.high)
        for each in (x, y)
    ]
    across, up = (np.linspace(*end, 51).tolist() for end in ends)
    return [*((value, y.value) for value in across), *((x.value, value) for value in up)]


_LABEL_PLACES = (
    (7, -3, "left"), (-7, -3, "right"), (5, 5, "left"), (-5, 5, "right"), (5, -11, "left"), (-5, -11, "right"),
    (0, 8, "center"), (0, -14, "center"), (16, 12, "left"), (-16, 12, "right"), (16, -18, "left"), (-16, -18, "right"),
)  # fmt: skip
"""Where a name may stand from its point, in points: to its right, to its left, and so on."""
_LABEL_SIZE = 7.5


def name_points(figure: Any, axes: Any, named: Mapping[str, Sequence[Any]], marked: Sequence[Sequence[Any]]) -> None:
    """Write names beside their points, each where it touches the fewest of the ``marked`` points and other names."""
    figure.draw_without_rendering()  # places the axes, so that data have their places in the drawing
    points_per_pixel = 72 / figure.dpi
    window = axes.get_window_extent()
    left, bottom, right, top = (points_per_pixel * each for each in (window.x0, window.y0, window.x1, window.y1))
    taken = points_per_pixel * axes.transData.transform(np.array(marked, dtype=float).reshape(-1, 2))
    boxes: list[tuple[float, float, float, float]] = []

    def touched(box: tuple[float, float, float, float]) -> float:
        x0, y0, x1, y1 = box
        margin = 5  # half of a marker
        inside = (taken > [x0 - margin, y0 - margin]) & (taken < [x1 + margin, y1 + margin])
        others = sum(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in boxes)
        outside = x0 < left or y0 < bottom or x1 > right or y1 > top
        return float(inside.all(axis=1).sum()) + 100 * others + 1000 * outside

    for name, point in named.items():
        x, y = points_per_pixel * axes.transData.transform(point)
        width, height = 0.58 * _LABEL_SIZE * len(name), _LABEL_SIZE
        starts = {"left": 0.0, "right": -width, "center": -width / 2}
        candidates = []
        for place in _LABEL_PLACES:
            x0, y0 = x + place[0] + starts[place[2]], y + place[1]
            candidates.append((x0, y0, x0 + width, y0 + height))
        best = min(range(len(candidates)), key=lambda number: (touched(candidates[number]), number))
        boxes.append(candidates[best])
        dx, dy, side = _LABEL_PLACES[best]
        axes.annotate(name, point, xytext=(dx, dy), textcoords="offset points", fontsize=_LABEL_SIZE, ha=side)


def _numbers(values: Sequence[Any]) -> np.ndarray:
    return np.array([np.nan if each is None else each for each in values], dtype=float)


def _middle(cells: Sequence[Cell]) -> np.ndarray:
    return _numbers([each.value for each in cells])


def _bars(cells: Sequence[Cell]) -> np.ndarray:
    """(2, n) lengths of the bars below and above; 0 without an interval."""
    middle, low, high = _middle(cells), _numbers([each.low for each in cells]), _numbers([each.high for each in cells])
    # Rounding can put an end beyond its estimate; a bar can't have a negative length.
    return np.nan_to_num(np.clip([middle - low, high - middle], 0, None))


def _short(source: Source) -> str:
    return source.name if len(source.name) <= _NAME else f"{source.name[: _NAME - 1]}…"
