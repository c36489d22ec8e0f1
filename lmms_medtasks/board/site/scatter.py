"""What a model can under good conditions against what it loses under bad ones: the first page's drawing.

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
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from markupsafe import Markup

_LONGEST, _FAR = 24, 1e9
"""Letters of a name beside a mark; beyond every axis."""


@dataclass(frozen=True)
class Drawn:
    """What is drawn as ``said``: ``frame`` has model, source, good number, bad number and the loss.

    Measured models come first, each kind the best under bad conditions first; published ones have no intervals.
    ``chance``: what guessing gets under bad conditions.
    """

    said: Scatter
    frame: Frame
    chance: float | None

    @property
    def printed_losses(self) -> list[float]:
        """What published models lose."""
        return [float(row.cells[-1].value or 0) for row in self.frame.rows if row.kind == "reference"]

    @property
    def picture(self) -> Markup:
        """The drawing; the best under bad conditions have their names."""
        from markupsafe import Markup

        said = self.said
        names = short_names(dict.fromkeys(str(row.cells[0].value) for row in self.frame.rows))
        cut = cut_apart([visible(each) for each in names.values()], _LONGEST)
        chart = Chart(
            "plane", "scatter", said.title, "", "scatter", (said.y,), x=said.x, total=said.bad, names="points",
            scale="fitted", heads={name: cut[visible(each)] for name, each in names.items()},
            axis=(self.frame.columns[2].head, ""),
        )  # fmt: skip
        line = Guide(self.chance or 0, -_FAR, self.chance or 0, _FAR, f"guessing {self.chance or 0:.1f}")
        guides = [] if self.chance is None else [line]
        # A change: below 0 a model is better under bad conditions.
        marks = [replace(each, signed=True) for each in chart.marks_of(self.frame)]
        return Markup(chart.drawn(marks, guides, legend=False))  # noqa: S704 - its texts are escaped


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
            shown, chance = firsts[both[0]].scale(good), guessing(seconds[both[0]], bad)
            rows = [
                *(_measured(standings, firsts[key], good, seconds[key], bad) for key in both),
                *_printed((good_task, good), (bad_task, bad), firsts[both[0]], known),
            ]
            rows.sort(key=lambda row: (row.kind != "run", -float(row.cells[3].value or 0)))
            heads = ((said.x, shown.unit), (said.bad, shown.unit), (said.y, ""))
            numbers = (FrameColumn(name, digits=shown.digits, unit=unit) for name, unit in heads)
            note = f"Brackets: {LEVEL} interval over images. Published rows: on the whole benchmark, not run here."
            columns = (label("model"), label("source"), *numbers)
            frame = Frame("scatter", said.title, columns, tuple(rows), (note,))
            return Drawn(said, frame, None if chance is None else shown.factor * chance)
    return None


def _measured(standings: Standings, first: Entry, good: str, second: Entry, bad: str) -> FrameRow:
    key, factor, bare = first.model.key, first.scale(good).factor, not standings.resamples
    numbers = [standings.of(entry.task, name)[key].mean for entry, name in ((first, good), (second, bad))]
    numbers.append(changes.loss(first, good, second, bad))
    cells = (scaled(each, factor, bare=bare) for each in numbers)
    return FrameRow((Cell(standings.titles[key]), Cell("measured"), *cells))


def _printed(good: tuple[str, str], bad: tuple[str, str], entry: Entry, known: KnownModels) -> list[FrameRow]:
    """The published models that have both numbers."""
    found = []
    ends = {each.model: each.cells.get(bad[1]) for each in published(bad[0], entry.settings)}
    for each in published(good[0], entry.settings):
        one, other = each.cells.get(good[1]), ends.get(each.model)
        first, second = (cell.value if cell else None for cell in (one, other))
        if isinstance(first, int | float) and isinstance(second, int | float):
            name = known.facts_of(each.model).name or each.model
            cells = (Cell(name), Cell("published"), Cell(first), Cell(second), Cell(first - second))
            found.append(FrameRow(cells, "reference"))
    return found
