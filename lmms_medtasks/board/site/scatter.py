"""What a model can under good conditions against what it loses under bad ones: the numbers of the first page's drawing.

Which two measures these are stands in ``board.yml`` of a benchmark's folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.model_names import short_names
from lmms_medtasks.board.site import changes, suite_words
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.guessing import guessing
from lmms_medtasks.board.site.rows import published
from lmms_medtasks.board.site.suite_words import Scatter
from lmms_medtasks.report.cells import label, scaled
from lmms_medtasks.report.charts import Chart, Guide
from lmms_medtasks.report.charts.kinds import drawn as drawn_chart
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import against_guessing
from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.suite import Measure
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from markupsafe import Markup

_LONGEST, _FAR = 24, 1e9
"""Letters of a name beside a mark; beyond every axis."""


@dataclass(frozen=True)
class Point:
    """A model: ``good`` and the ``loss``, in the unit shown; ``bad``: what is left. Published: no intervals."""

    name: str
    good: Cell
    bad: Cell
    loss: Cell
    measured: bool
    key: str = ""

    @property
    def x(self) -> float:
        """Its place on the first axis."""
        return float(self.good.value or 0)

    @property
    def y(self) -> float:
        """Its place on the second axis."""
        return float(self.loss.value or 0)


@dataclass(frozen=True)
class Drawn:
    """What is drawn.

    Attributes:
        suite: whose declaration ``said`` is. shown: the scale of both numbers. bad: task and measure of the second.
        points: the models, measured ones first, each kind best first. chance: what guessing gets under bad conditions.
    """

    suite: str
    said: Scatter
    shown: Measure
    bad: tuple[str, str]
    points: tuple[Point, ...]
    chance: float | None

    @property
    def measured(self) -> tuple[Point, ...]:
        """Models that were run here, the best under bad conditions first."""
        return tuple(point for point in self.points if point.measured)

    @property
    def best(self) -> Point:
        """The best measured one under bad conditions."""
        return self.measured[0]

    def beats_guessing(self, point: Point) -> bool:
        """Whether its interval under bad conditions is above what guessing gets; without an interval its number."""
        number = point.bad
        value = float(number.value or 0)
        return self.chance is None or not against_guessing(value, number.low, number.high, self.chance)


def drawn(standings: Standings, known: KnownModels) -> Drawn | None:
    """What the first suite that declares it has to draw; None where no model has both numbers."""
    board = standings.board
    for name in suite_words.order(board.suites):
        said = suite_words.about(name).scatter
        for good_task, good, bad_task, bad in said.of if said else ():
            firsts, seconds = (
                {entry.model.key: entry for entry in board.of(task=task, ranked=True) if measure in entry.metrics}
                for task, measure in ((good_task, good), (bad_task, bad))
            )
            both = [key for key in firsts if key in seconds]
            if not said or not both:
                continue
            measured = [_measured(standings, firsts[key], good, seconds[key], bad) for key in both]
            printed = _printed((good_task, good), (bad_task, bad), firsts[both[0]], known)
            chance = guessing(seconds[both[0]], bad)
            shown = firsts[both[0]].scale(good)
            points = sorted([*measured, *printed], key=lambda each: (not each.measured, -float(each.bad.value or 0)))
            guessed = None if chance is None else shown.factor * chance
            return Drawn(name, said, shown, (bad_task, bad), tuple(points), guessed)
    return None


def _measured(standings: Standings, first: Entry, good: str, second: Entry, bad: str) -> Point:
    key, shown = first.model.key, first.scale(good)
    lost = changes.loss(first, good, second, bad)
    numbers = [standings.of(entry.task, name)[key].mean for entry, name in ((first, good), (second, bad))]
    one, other, less = (scaled(each, shown.factor, bare=not standings.resamples) for each in (*numbers, lost))
    return Point(standings.titles[key], one, other, less, measured=True, key=key)


def _printed(good: tuple[str, str], bad: tuple[str, str], entry: Entry, known: KnownModels) -> list[Point]:
    """The published models that have both numbers."""
    found = []
    ends = {each.model: each.cells.get(bad[1]) for each in published(bad[0], entry.settings)}
    for each in published(good[0], entry.settings):
        one, other = each.cells.get(good[1]), ends.get(each.model)
        first, second = (cell.value if cell else None for cell in (one, other))
        if isinstance(first, int | float) and isinstance(second, int | float):
            name = known.facts_of(each.model).name or each.model
            found.append(Point(name, Cell(first), Cell(second), Cell(first - second), measured=False))
    return found


def as_table(found: Drawn) -> Frame:
    """The numbers of the drawing."""
    said, digits, unit = found.said, found.shown.digits, found.shown.unit
    heads = ((said.x, unit), (said.bad, unit), (said.y, ""))
    numbers = (FrameColumn(name, digits=digits, unit=own) for name, own in heads)
    columns = (label("model"), label("source"), *numbers)
    rows = [
        FrameRow(
            (Cell(each.name), Cell("measured" if each.measured else "published"), each.good, each.bad, each.loss),
            "run" if each.measured else "reference",
        )
        for each in found.points
    ]
    note = f"Brackets: {LEVEL} interval over images. Published rows: on the whole benchmark, not run here."
    return Frame("scatter", said.title, columns, tuple(rows), (note,))


def picture(found: Drawn) -> Markup:
    """The drawing; the best under bad conditions have their names."""
    from markupsafe import Markup

    said, numbers = found.said, as_table(found)
    *before, loss = numbers.columns
    names = short_names(dict.fromkeys(each.name for each in found.points))
    cut = cut_apart([visible(each) for each in names.values()], _LONGEST)
    chart = Chart(
        "plane", "scatter", said.title, "", "scatter", (said.y,), x=said.x, total=said.bad, names="points",
        scale="fitted", heads={name: cut[visible(each)] for name, each in names.items()},
        axis=(f"{said.x} ({found.shown.unit})", ""),
    )  # fmt: skip
    # A change: below 0 a model is better under bad conditions.
    marks = chart.marks_of(replace(numbers, columns=(*before, replace(loss, signed=True))))
    chance = found.chance
    line = [] if chance is None else [Guide(chance, -_FAR, chance, _FAR, f"guessing {chance:.1f}")]
    return Markup(drawn_chart(chart, marks, line, legend=False))  # noqa: S704 - its texts are escaped
