"""The chart of a suite's page: all ranked models and the published ones, as ``board.yml`` declares it.

A chart is of one of three kinds. ``change``: a row a model, from the first series to the last, with the interval of the
last and what changed. ``plane``: the second series against the first, which is turned round (100 less its value).
``heat``: a row a model, a cell a series, tinted by its number. Its keys:

    kind, title, about: see above. axes: of a plane, the names of its two axes. Its line of guessing is that of the
        plane in the benchmark's report; without one it has none.
    series: name -> [task, measure] patterns; the first that a ranked entry has is drawn.

A suite that declares none has its headline, a row a model.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site.board_tables import Links, Standings, cell, column
from lmms_medtasks.board.site.guessing import guessing
from lmms_medtasks.board.site.number_marks import MARKS, legend, signs_of
from lmms_medtasks.board.site.rows import published
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import NONE, label
from lmms_medtasks.report.charts import Chart, Guide
from lmms_medtasks.report.charts.kinds import drawn
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.report.reported_suites import report_of
from lmms_medtasks.suites.suite import Measure

if TYPE_CHECKING:
    from markupsafe import Markup

KINDS = ("change", "plane", "heat")
OPEN, OPEN_PUBLISHED = 12, 8
"""Models that are shown at once; the others are folded below them."""
_WITH_INTERVALS = 60
"""Entries up to which a plane has intervals: those of many hide each other."""
_FEW_PRINTED = 3
"""Published models from which on it is said how they change."""

TaskMeasure = tuple[str, str]
"""A task and a measure of it."""


@dataclass(frozen=True)
class Series:
    """What is drawn of each model. ``of``: the task and measure. ``column``: how its numbers are written."""

    name: str
    of: TaskMeasure
    column: FrameColumn
    measure: Measure


@dataclass(frozen=True)
class ChartRow:
    """A model of a chart; ``cells``: a number a series, as shown, without a value where it was not asked."""

    name: str
    cells: tuple[Cell, ...]
    href: str = ""
    is_published: bool = False

    def value(self, place: int) -> float | None:
        """A series' number."""
        found = self.cells[place].value
        return found if isinstance(found, int | float) else None

    @property
    def change(self) -> float | None:
        """The last number less the first."""
        first, last = self.value(0), self.value(-1)
        return None if first is None or last is None or len(self.cells) < 2 else last - first


@dataclass(frozen=True)
class SuiteChart:
    """A chart with all its rows, best first; ``chance``: what guessing gets on the last series.

    ``guess``: the line of guessing of a ``plane``.
    """

    kind: str
    title: str
    about: str
    guess: Guide | None
    axes: tuple[str, ...]
    series: tuple[Series, ...]
    rows: tuple[ChartRow, ...]
    printed: tuple[ChartRow, ...]
    chance: float | None

    def text(self, row: ChartRow, place: int) -> str:
        """A series' number of a model, without its interval."""
        found = row.cells[place]
        mark = found.mark if row.is_published else signs_of(found)
        return self.series[place].column.text(Cell(found.value, mark=mark))

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """The signs of its numbers with their meanings."""
        return legend(cell for row in self.rows for cell in row.cells)

    def said(self, row: ChartRow) -> str:
        """A model's numbers in words, for a screen reader and as a tooltip."""
        numbers = (
            f"{each.name} {each.column.text(found)} {each.measure.unit}".rstrip()
            for each, found in zip(self.series, row.cells, strict=True)
        )
        return f"{row.name}{', published' if row.is_published else ''}: {', '.join(numbers)}"

    @property
    def open_rows(self) -> int:
        """Measured models that are shown at once."""
        return OPEN

    @property
    def open_printed(self) -> int:
        """Published models that are shown at once."""
        return OPEN_PUBLISHED

    @property
    def printed_changes(self) -> str:
        """How the published models change, a sentence; "" where they have one number or are few."""
        changes = [row.change for row in self.printed if row.change is not None]
        if len(changes) < _FEW_PRINTED:
            return ""
        falls = [-each for each in changes if each < 0]
        if len(falls) < len(changes):
            return f"Of {len(changes)} published models {len(falls)} fall."
        return f"All {len(changes)} published models fall, by {min(falls):.1f} to {max(falls):.1f} points."

    @property
    def drawings(self) -> list[tuple[str, Markup]]:
        """SVG elements of ``change`` and ``plane``; the first is open, the others are folded below their titles."""
        if self.kind == "plane":
            first, second = (each.name for each in self.series[:2])
            rest = {first: sum(_ends(self.series[0].measure))}
            chart = Chart(
                "plane", "chart", self.title, "", "chart", (second,), x=first, rest=rest, names="points", axis=self.axes
            )
            return [("", self._drawn(chart, self.rows, self.printed))]
        chart = Chart("ranges", "chart", self.title, "", "chart", [each.name for each in self.series])
        parts = [("", self._drawn(chart, self.rows[:OPEN], self.printed[:OPEN_PUBLISHED]))]
        if others := self.rows[OPEN:]:
            parts.append((f"{len(others)} more measured models", self._drawn(chart, others, ())))
        if more := self.printed[OPEN_PUBLISHED:]:
            parts.append((f"{len(more)} more published models", self._drawn(chart, (), more)))
        return parts

    def _drawn(self, chart: Chart, rows: Sequence[ChartRow], printed: Sequence[ChartRow]) -> Markup:
        from markupsafe import Markup

        table = replace(self, rows=tuple(rows), printed=tuple(printed)).table
        if self.chance is not None:
            guess = (*[NONE] * (len(self.series) - 1), Cell(self.chance)) if self.kind == "change" else ()
            table = replace(
                table, rows=(*table.rows, *([FrameRow((Cell("guessing"), *guess), "counts")] if guess else []))
            )
        guides = [self.guess] if self.guess else []
        return Markup(drawn(chart, chart.marks_of(table), guides))  # noqa: S704 - its texts are escaped

    def strength(self, row: ChartRow, place: int) -> float:
        """How strong a heat map's cell is, from 0 to 1; of a number that is no score 0."""
        value, series = row.value(place), self.series[place]
        if value is None or LEXICAL in row.cells[place].mark:
            return 0.0
        low, high = _ends(series.measure)
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(share if series.measure.higher_is_better else 1 - share, 2)

    @property
    def table(self) -> Frame:
        """Its numbers."""
        rows = [FrameRow((Cell(row.name, href=row.href), *row.cells)) for row in self.rows]
        rows += [FrameRow((Cell(row.name), *row.cells), "reference") for row in self.printed]
        columns = (label("model"), *(replace(each.column, name=each.name) for each in self.series))
        return Frame("chart", f"{self.title}: the numbers", columns, tuple(rows), (self.about,), marks=MARKS)


def chart(
    about: About, board: Board, standings: Standings, links: Links, head: TaskMeasure | None
) -> SuiteChart | None:
    """The chart of a suite; ``head``: the task and measure of its headline. None with nothing to draw."""
    said = about.chart or {"kind": "change", "title": "How each model does", "series": {}}
    if said.get("kind") not in KINDS or not isinstance(said.get("series"), Mapping):
        raise UserError(f"board.yml of {about.name}: chart has kind ({', '.join(KINDS)}) and series: name -> patterns.")
    entries = board.of(suite=about.name)
    series = _series(said["series"], entries, bool(head))
    if head and not any(each.of == head for each in series) and (said["kind"] == "change" or not series):
        # The headline is of another task than what is declared, or nothing is.
        entry = next(each for each in entries if each.ranked and each.task == head[0])
        series = [_one(head[1].replace("_", " "), head, entry)]
    if not series or (said["kind"] == "plane" and len(series) < 2):
        return None
    rows = _measured(series, standings, links, said["kind"] == "plane" and len(entries) <= _WITH_INTERVALS)
    own = {each.of[0]: each for each in series}
    printed = _printed(series, {task: _settings(entries, task) for task in own})
    key, measure = _sorting(said["kind"], series)
    rows.sort(key=lambda row: (_order(row, key, measure), row.name.lower()))
    printed.sort(key=lambda row: (_order(row, key, measure), row.name.lower()))
    if not rows and not printed:
        return None
    first = next((each for each in entries if each.ranked and each.task == series[-1].of[0]), None)
    chance = guessing(first, series[-1].of[1]) if first and series[-1].of[1] in first.metrics else None
    shown = None if chance is None else chance * series[-1].measure.factor
    return SuiteChart(
        said["kind"], said["title"], said.get("about", ""), _guess(first), tuple(said.get("axes", ())),
        tuple(series), tuple(rows), tuple(printed), shown,
    )  # fmt: skip


def _guess(entry: Entry | None) -> Guide | None:
    """The line that the report of the entry's benchmark draws in its plane."""
    suite = entry.declaration if entry else None
    views = report_of(suite).views if suite else ()
    charts = (each for view in views for each in view.figures if isinstance(each, Chart))
    lines = [each.guide for each in charts if each.guide]
    return lines[0](entry.samples) if entry and lines else None


def _series(said: Mapping[str, Sequence[Sequence[str]]], entries: Sequence[Entry], ranked: bool) -> list[Series]:
    """The declared series that a ranked entry has; where none is ranked, that any entry has."""
    found = []
    for name, patterns in said.items():
        have = {
            (entry.task, metric): entry for entry in entries if entry.ranked or not ranked for metric in entry.metrics
        }
        for task, metric in patterns:
            fitting = [
                each for each in sorted(have) if fnmatch.fnmatchcase(each[0], task) and each[1] == metric
            ]  # fmt: skip
            if fitting:
                found.append(_one(name, fitting[0], have[fitting[0]]))
                break
    return found


def _one(name: str, head: TaskMeasure, entry: Entry) -> Series:
    shown = entry.scale(head[1])
    return Series(name, head, column("", shown), shown)


def _measured(series: Sequence[Series], standings: Standings, links: Links, with_intervals: bool) -> list[ChartRow]:
    """``with_intervals``: also of metrics that are not ranked by."""
    cells: dict[str, list[Cell]] = {}
    for place, each in enumerate(series):
        task, metric = each.of
        for entry in standings.board.of(task=task, ranked=True):
            if metric not in entry.metrics:
                continue
            if metric in entry.main_metrics:
                mean = standings.of(task, metric)[entry.model.key].mean
            else:
                mean = entry.interval(metric, with_interval=with_intervals and standings.resamples > 0)
            shown = standings.marked(cell(mean, each.measure), entry, metric)
            cells.setdefault(entry.model.key, [NONE] * len(series))[place] = shown
    return [ChartRow(standings.titles[key], tuple(own), links.model(key)) for key, own in cells.items()]


def _printed(series: Sequence[Series], told: Mapping[str, Mapping[str, str]]) -> list[ChartRow]:
    cells: dict[str, list[Cell]] = {}
    for place, each in enumerate(series):
        task, metric = each.of
        for row in published(task, told[task]):
            if isinstance(row.cells.get(metric, NONE).value, int | float):
                cells.setdefault(row.model, [NONE] * len(series))[place] = row.cells[metric]
    return [ChartRow(name, tuple(own), is_published=True) for name, own in cells.items()]


def _settings(entries: Sequence[Entry], task: str) -> Mapping[str, str]:
    return next((entry.settings for entry in entries if entry.task == task), {})


def _sorting(kind: str, series: Sequence[Series]) -> tuple[int | None, Measure]:
    """Which series the rows are sorted by; None: the mean of all."""
    if kind == "change":
        return len(series) - 1, series[-1].measure
    return None, series[0].measure


def _order(row: ChartRow, place: int | None, measure: Measure) -> float:
    """The best is least; a model without the number comes last. What is no score counts where there is no other."""
    places = range(len(row.cells)) if place is None else [place]
    scores = [each for each in places if LEXICAL not in row.cells[each].mark]
    known = [value for each in scores or places if (value := row.value(each)) is not None]
    if not known:
        return float("inf")
    mean = sum(known) / len(known)
    return -mean if measure.higher_is_better else mean


def _ends(measure: Measure) -> tuple[float, float]:
    """The ends of a measure's scale, as shown."""
    return measure.factor * measure.low, measure.factor * measure.high
