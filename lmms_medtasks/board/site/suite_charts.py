"""The chart of a suite: all ranked models and the published ones, as ``chart`` in its ``board.yml`` declares it.

Its keys:
    kind: ``ranges``: a row a model, from the first series to the last, with the interval of the last and what changed.
        ``plane``: the second series against the first, which is turned round (100 less its value); its line of guessing
        is that of the plane in the benchmark's report. ``heat``: a row a model, a cell a series, tinted by its number.
    title, about: what it shows. axes: of a plane, the names of its two axes.
    series: name -> [task, measure] patterns; the first that a ranked entry has is drawn.

A suite that declares none has its headline, a row a model.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.site.board_tables import (
    MARKS,
    BoardStandings,
    PageLinks,
    TaskMeasure,
    guessing_score,
    metric_column,
    sign_legend,
)
from lmms_medtasks.board.site.suite_words import SuiteTexts
from lmms_medtasks.report.cells import NONE, label_column, scaled_cell
from lmms_medtasks.report.charts import Chart, Guide
from lmms_medtasks.report.document import Cell, Frame, FrameRow, Kind
from lmms_medtasks.report.reported_suites import report_of

if TYPE_CHECKING:
    from markupsafe import Markup

OPEN, OPEN_PUBLISHED = 12, 8
"""Models that are shown at once; the others are folded below them."""


@dataclass(frozen=True)
class SuiteChart:
    """A chart with its numbers: of measured models, then of published ones, each the best first.

    ``series``: column's name -> task and measure. ``guide``: the line of guessing of a plane. ``chance``: what guessing
    gets on the last series.
    """

    chart: Chart
    series: Mapping[str, TaskMeasure]
    frame: Frame
    guide: Guide | None
    chance: float | None

    def rows(self, kind: Kind) -> list[FrameRow]:
        """The rows of measured models ("run"), or of published ones ("reference")."""
        return [row for row in self.frame.rows if row.kind == kind]

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """The signs of its numbers with their meanings."""
        return sign_legend(cell for row in self.rows("run") for cell in row.cells)

    @property
    def drawings(self) -> list[tuple[str, Markup]]:
        """Its SVG elements with their titles; the first has none and is open, the others are folded."""
        own, printed = self.rows("run"), self.rows("reference")
        if self.chart.kind == "plane":
            return [("", self._drawn(own + printed))]
        parts = [("", self._drawn(own[:OPEN] + printed[:OPEN_PUBLISHED]))]
        for more, said in ((own[OPEN:], "measured"), (printed[OPEN_PUBLISHED:], "published")):
            parts += [(f"{len(more)} more {said} models", self._drawn(more))] if more else []
        return parts

    def _drawn(self, rows: Sequence[FrameRow]) -> Markup:
        from markupsafe import Markup

        guess = [NONE] * (len(self.series) - 1) + [Cell(self.chance)]
        guessed = [FrameRow((Cell("guessing"), *guess), "counts")] if self.chart.kind == "ranges" else []
        marks = self.chart.marks_of(replace(self.frame, rows=(*rows, *guessed)))
        return Markup(self.chart.drawn(marks, [self.guide] if self.guide else []))  # noqa: S704 - its texts are escaped


def suite_chart(
    about: SuiteTexts, standings: BoardStandings, links: PageLinks, head: TaskMeasure | None
) -> SuiteChart | None:
    """The chart of a suite; ``head``: the task and measure of its headline. None without anything to draw."""
    said = about.chart or {"kind": "ranges", "title": "How each model does", "series": {}}
    kind, entries = said["kind"], standings.board.of(suite=about.name)
    series = _ranked_series(said["series"], entries, bool(head))
    if head and head not in series.values() and (kind == "ranges" or not series):
        # The declared series lack the headline.
        series = {head[1].replace("_", " "): head}
    if not series or (kind == "plane" and len(series) < 2):
        return None
    pairs, across = list(series.values()), next(iter(series))
    measures = [standings.board.scale(*of) for of in pairs]
    best = [*standings.numbers(*head)] if head else []
    own = _measured_cells(pairs, standings, with_intervals=kind == "plane")
    rows = [
        FrameRow((Cell(standings.titles[key], href=links.model(key)), *own[key]))
        for key in sorted(own, key=lambda key: (best.index(key) if key in best else len(best), standings.titles[key]))
    ]
    # Published models by the last number of a range, else by the mean of all, those without it last.
    last, sign = slice(-1, None) if kind == "ranges" else slice(None), -1 if measures[-1].higher_is_better else 1

    def place(name: str) -> tuple[bool, float, str]:
        known = [each.value for each in printed[name][last] if isinstance(each.value, int | float)]
        return not known, sign * sum(known) / max(len(known), 1), name.lower()

    printed = _published_cells(pairs, standings)
    rows += [FrameRow((Cell(name), *printed[name]), "reference") for name in sorted(printed, key=place)]
    if not rows:
        return None
    if len(series) < min(2, len(said["series"])):  # the title is of all series
        said = {**said, "title": "How each model does"}
    columns = (label_column("model"), *(metric_column(name, each) for name, each in zip(series, measures, strict=True)))
    frame = Frame("chart", f"{said['title']}: the numbers", columns, tuple(rows), (said.get("about", ""),), marks=MARKS)
    task, metric = pairs[-1]
    first = next((entry for entry in entries if entry.ranked and entry.task == task), None)
    chance = guessing_score(first, metric) if first and metric in first.metrics else None
    chart = Chart(kind, "chart", said["title"], said.get("about", ""), "chart", list(series))
    if kind == "plane":
        rest = {across: measures[0].factor * (measures[0].low + measures[0].high)}
        chart = replace(chart, columns=list(series)[1:], x=across, names="points", rest=rest, axis=said["axes"])
    shown = None if chance is None else chance * measures[-1].factor
    return SuiteChart(chart, series, frame, _guess_guide(first), shown)


def _guess_guide(entry: LeaderboardEntry | None) -> Guide | None:
    """The guessing line of the plane in the report of the entry's benchmark."""
    suite = entry.declaration if entry else None
    views = report_of(suite).views if suite else ()
    charts = (figure for view in views for figure in view.figures if isinstance(figure, Chart))
    lines = [chart.guide for chart in charts if chart.guide]
    return lines[0](entry.samples) if entry and lines else None


def _ranked_series(
    said: Mapping[str, Sequence[Sequence[str]]], entries: Sequence[LeaderboardEntry], ranked: bool
) -> dict[str, TaskMeasure]:
    """The declared series that a ranked entry has; without ranked entries, that any entry has."""
    have = sorted({(entry.task, metric) for entry in entries if entry.ranked or not ranked for metric in entry.metrics})
    series = {}
    for name, patterns in said.items():
        fitting = (each for task, metric in patterns for each in have
                   if fnmatch.fnmatchcase(each[0], task) and each[1] == metric)  # fmt: skip
        if (of := next(fitting, None)) is not None:
            series[name] = of
    return series


def _measured_cells(
    measures: Sequence[TaskMeasure], standings: BoardStandings, with_intervals: bool
) -> dict[str, list[Cell]]:
    """Key of each ranked model with a number -> a cell a measure.

    ``with_intervals``: also of metrics without a ranking.
    """
    cells: dict[str, list[Cell]] = {}
    for place, (task, metric) in enumerate(measures):
        for entry in standings.board.of(task=task, ranked=True):
            if metric not in entry.metrics:
                continue
            if metric in entry.main_metrics:
                mean = standings.of(task, metric)[entry.model.key].mean
            else:
                mean = entry.interval(metric, with_interval=with_intervals and standings.resamples > 0)
            shown = standings.marked(scaled_cell(mean, entry.scale(metric).factor), entry, metric)
            cells.setdefault(entry.model.key, [NONE] * len(measures))[place] = shown
    return cells


def _published_cells(measures: Sequence[TaskMeasure], standings: BoardStandings) -> dict[str, list[Cell]]:
    """Name of each published model -> a cell a measure."""
    cells: dict[str, list[Cell]] = {}
    for place, (task, metric) in enumerate(measures):
        for name, row in standings.published(task):
            if isinstance(row.cells.get(metric, NONE).value, int | float):
                cells.setdefault(name, [NONE] * len(measures))[place] = row.cells[metric]
    return cells
