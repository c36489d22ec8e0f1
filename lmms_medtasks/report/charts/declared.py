"""Figures that a benchmark declares: a chart that it draws itself, and charts of the cells of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lmms_medtasks.report.charts.axes import Axis, percent_axis
from lmms_medtasks.report.charts.planes import Guide, Panel, Point, Series, plane_chart, small_plane
from lmms_medtasks.report.charts.points import PointRow, point_chart
from lmms_medtasks.report.charts.svg import GUESS, MODELS, OTHER, PUBLISHED_GROUPS
from lmms_medtasks.report.document import Cell, Figure
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.short_texts import first_listed

MOST = len(MODELS)
"""Sources with a look of their own in a chart of points; the tables have all."""
_MOST_LINES = 6
"""Sources with a line each: more could not be told apart."""


@dataclass(frozen=True)
class Chart:
    """A figure that a benchmark draws itself.

    ``about``: given, or made from the sources. ``table``: the key of the table that has its numbers. ``draw``: from
    the sources to the element.
    """

    key: str
    title: str
    about: str | Callable[[Sequence[Source]], str]
    table: str
    draw: Callable[[Sequence[Source]], str]
    shown: Callable[[Sequence[Source]], bool] = lambda sources: True

    def figure(self, sources: Sequence[Source]) -> Figure | None:
        """The chart; None where these sources have none."""
        if not self.shown(sources):
            return None
        about = self.about(sources) if callable(self.about) else self.about
        return Figure(self.key, self.title, about, self.draw(sources), self.table)


@dataclass(frozen=True)
class TableChart:
    """A figure of the cells of a table.

    Attributes:
        columns: names of columns of ``table``. chance: the row of it that says what guessing gets, or None.
        axis: titles of the axes. shown: whether these sources have the figure.
    """

    key: str
    title: str
    about: str
    table: Table
    columns: tuple[str, ...]
    chance: Row | None = None
    axis: tuple[str, ...] = ("percent correct",)
    shown: Callable[[Sequence[Source]], bool] = lambda sources: True

    def figure(self, sources: Sequence[Source]) -> Figure | None:
        """The chart; None where these sources have none."""
        if not self.shown(sources):
            return None
        named = {each.name: each for each in self.table.columns_of(sources)}
        svg = self.draw([named[name] for name in self.columns], sources)
        return Figure(self.key, self.title, self.about, svg, self.table.key)

    def draw(self, columns: Sequence[Column], sources: Sequence[Source]) -> str:
        """The element."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plane(TableChart):
    """Two columns against each other: a cross a source, published rows by their column ``group``.

    ``groups``: group -> its title. labelled: published models that are named. alarms: whether 100 less the second
        column stands across, and the first one up: what was found against wrong where there is none. claimed: from the
        rows asked to the percent that is found by who always says that there is something, at a random place.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    labelled: tuple[str, ...] = ()
    alarms: bool = False
    claimed: Callable[[Samples], float] = lambda rows: 100.0

    def draw(self, columns: Sequence[Column], sources: Sequence[Source]) -> str:
        """Panels with one plot."""
        panel = self._panel(columns, sources)
        own = [each for each in panel.series if each.look and each.look.kind.startswith("own")]
        gist = first_listed([f"{each.name} {each.points[0].x:.1f}, {each.points[0].y:.1f}" for each in own])
        return plane_chart(f"{self.title}. {self.axis[0]}, {self.axis[1]}: {gist}.", [panel], height=320)

    def small(self, source: Source) -> str:
        """The chart of one source in a column of a page: without titles of axes and names."""
        named = {each.name: each for each in self.table.columns_of([source])}
        panel = replace(self, labelled=())._panel([named[name] for name in self.columns], [source])
        guides = tuple(replace(each, label="") for each in panel.guides)
        bare = replace(panel, x=replace(panel.x, title=""), y=replace(panel.y, title=""), guides=guides)
        return small_plane(f"{self.title}. {self.axis[0]}, {self.axis[1]}.", bare)

    def guessing(self, rows: Samples) -> Guide:
        """What guesses get that claim something more or less often, from never to always."""
        return Guide(0, 0, 100, self.claimed(rows), "guessing" if self.alarms else "")

    def _panel(self, columns: Sequence[Column], sources: Sequence[Source]) -> Panel:
        series = [*self._published(columns), *self._sources(columns, sources)]
        guides = [self.guessing(sources[0].rows)]
        if self.chance:
            x, y = self._cells(columns, sources[0], self.chance)
            if x.value is not None and y.value is not None:
                said = f"uniform guessing: {x.value:.1f}, {y.value:.1f}"
                series.append(Series("uniform guessing", (Point(x.value, y.value, said, size=4),), GUESS))  # type: ignore[arg-type]
        axes = [percent_axis(title) for title in self.axis]
        return Panel(axes[0], axes[1], tuple(series), guides=tuple(guides))

    def _cells(self, columns: Sequence[Column], source: Source, row: Row) -> tuple[Cell, Cell]:
        """Across and up."""
        one, other = (column.cell(source, row, with_interval=True) for column in columns)
        return (_rest(other), one) if self.alarms else (one, other)

    def _published(self, columns: Sequence[Column]) -> list[Series]:
        published = self.table.published
        found = []
        for (group, title), look in zip(self.groups.items(), PUBLISHED_GROUPS, strict=False):
            points = []
            for row in published.rows() if published else ():
                values = [row.cell(column.name).value for column in columns]
                if row.texts["group"] != group or None in values:
                    continue
                one, other = (float(value) for value in values if isinstance(value, int | float))
                x, y = (100 - other, one) if self.alarms else (one, other)
                model = row.texts["model"]
                label = model if model in self.labelled else ""
                points.append(Point(x, y, f"{model}, published: {x:.1f}, {y:.1f}", size=4, label=label))
            found.append(Series(title, tuple(points), look, quiet=True))
        return found

    def _sources(self, columns: Sequence[Column], sources: Sequence[Source]) -> list[Series]:
        found = []
        for number, source in enumerate(sources):
            x, y = self._cells(columns, source, Row(()))
            if not isinstance(x.value, int | float) or not isinstance(y.value, int | float):
                continue
            said = f"{source.name}: {x.value:.1f}{_between(x)}, {y.value:.1f}{_between(y)}"
            shown = number < MOST
            point = (
                Point(x.value, y.value, said, y.low, y.high, x.low, x.high)
                if shown
                else Point(x.value, y.value, said, size=3.5)
            )
            found.append(Series(source.name if shown else "other models", (point,), MODELS[number] if shown else OTHER))
        return found


@dataclass(frozen=True)
class Points(TableChart):
    """A row for each column: a point a source, published models hollow, guessing dashed.

    ``heads``: names of the rows. ``left_out``: groups of published rows that are not drawn.
    """

    heads: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def draw(self, columns: Sequence[Column], sources: Sequence[Source]) -> str:
        """Rows of points."""
        published = self.table.published
        printed = [row for row in published.rows() if row.texts["group"] not in self.left_out] if published else []
        rows = []
        for head, column in zip(self.heads, columns, strict=True):
            values = [(row.texts["model"], row.cell(column.name).value) for row in printed]
            guess = column.cell(sources[0], self.chance).value if self.chance else None
            rows.append(
                PointRow(
                    head,
                    tuple(column.cell(source, Row(()), with_interval=True) for source in sources),
                    tuple((model, value) for model, value in values if isinstance(value, int | float)),
                    guess if isinstance(guess, int | float) else None,
                )
            )
        return point_chart(self.title, [each.name for each in sources], rows, self.axis[0])


@dataclass(frozen=True)
class Lines(TableChart):
    """A panel for each column, over the number in the column ``x``: a line a source, dashed what guessing gets.

    The table's rows of kind "run" are the sources' points, those of kind "counts" guessing's. heads: titles of panels.
    """

    x: str = ""
    heads: tuple[str, ...] = ()

    def draw(self, columns: Sequence[Column], sources: Sequence[Source]) -> str:
        """A panel a column."""
        place = next(each for each in self.table.columns_of(sources) if each.name == self.x)
        shown = list(sources)[:_MOST_LINES]
        rows = {id(source): self.table.rows_of([source]) for source in shown}
        ticks = sorted({_place(place, source, row) for source in shown for row in rows[id(source)]})
        x = Axis(ticks[0] - (room := (ticks[-1] - ticks[0]) / 10 or 1), ticks[-1] + room, tuple(ticks), place.head)
        panels, gist = [], []
        for column, head in zip(columns, self.heads, strict=True):
            series = []
            for number, source in enumerate(shown):
                own = [row for row in rows[id(source)] if row.kind == "run"]
                points = self._points(column, place, source, own, f"{source.name}, {head}", room * 0.12 * number)
                series.append(Series(source.name, points, MODELS[number], "joined-thin"))
                gist += [f"{source.name}, {head} {', '.join(f'{each.y:.1f}' for each in points)}"]
            guessed = [row for row in rows[id(shown[0])] if row.kind == "counts"]
            guess = self._points(column, place, shown[0], guessed, f"uniform guessing, {head}", 0)
            series.append(Series("uniform guessing", guess, None, "guess"))
            panels.append(Panel(x, percent_axis(), tuple(series), head))
        said = (
            f"{self.title}. Percent by {place.head} {', '.join(f'{tick:g}' for tick in ticks)}: {first_listed(gist)}."
        )
        return plane_chart(said, panels, height=200)

    @staticmethod
    def _points(
        column: Column, place: Column, source: Source, rows: Sequence[Row], said: str, beside: float
    ) -> tuple[Point, ...]:
        """``beside``: how far to the right they stand, so that intervals of several sources do not hide each other."""
        found = []
        for row in rows:
            cell, x = column.cell(source, row, with_interval=row.kind == "run"), _place(place, source, row)
            if isinstance(cell.value, int | float):
                text = f"{said}, {x:g}: {cell.value:.1f} %{_between(cell)}"
                found.append(Point(x + beside, cell.value, text, cell.low, cell.high, size=4.5))
        return tuple(found)


def _place(column: Column, source: Source, row: Row) -> float:
    """Where a row stands on the axis. Raises TypeError for a column that is no number in it."""
    value: Any = column.cell(source, row).value
    if not isinstance(value, int | float):
        raise TypeError(f"{column.name!r} is {value!r} in a row of a figure, expected a number.")
    return value


def _rest(cell: Cell) -> Cell:
    """What is left to 100, with its interval turned."""
    value, low, high = cell.value, cell.low, cell.high
    if not isinstance(value, int | float):
        return Cell(None)
    return Cell(100 - value, None if high is None else 100 - high, None if low is None else 100 - low)


def _between(cell: Cell) -> str:
    return "" if cell.low is None or cell.high is None else f" [{cell.low:.1f}, {cell.high:.1f}]"
