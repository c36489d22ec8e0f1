"""What a model can under good conditions against what it loses under bad ones: the first page's drawing.

Which two measures these are stands in ``board.yml`` of a benchmark's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import changes, suite_words
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.guessing import guessing
from lmms_medtasks.board.site.number_marks import MARKS
from lmms_medtasks.board.site.suite_chart import TaskMeasure, measured_cells, published_cells
from lmms_medtasks.report.cells import NONE, label, scaled
from lmms_medtasks.report.charts import Chart, Guide
from lmms_medtasks.report.charts.svg import lines_of
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from markupsafe import Markup

_FIRST, _SECOND, _FAR = 14, 22, 1e9
"""Letters of the two lines of a name beside a mark; beyond every axis."""


@dataclass(frozen=True)
class Drawn:
    """What is drawn as ``said``: ``frame`` has model, source, good number, bad number and the loss.

    Measured models come first, each kind the best under bad conditions first; published ones have no intervals.
    ``chance``: what guessing gets under bad conditions.
    """

    said: Mapping[str, str]
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
        names = [str(row.cells[0].value) for row in self.frame.rows]
        cut = cut_apart(map(visible, names), _FIRST + _SECOND)
        chart = Chart(
            "plane", "scatter", said["title"], "", "scatter", (said["y"],), x=said["x"], total=said["bad"],
            names="points", scale="fitted", axis=(self.frame.columns[2].head, ""),
            heads={name: "\n".join(lines_of(cut[visible(name)], _FIRST, _SECOND)) for name in names},
        )  # fmt: skip
        line = Guide(self.chance or 0, -_FAR, self.chance or 0, _FAR, f"guessing {self.chance or 0:.1f}")
        guides = [] if self.chance is None else [line]
        # A change: below 0 a model is better under bad conditions.
        marks = [replace(each, signed=True) for each in chart.marks_of(self.frame)]
        return Markup(chart.drawn(marks, guides, legend=False))  # noqa: S704 - its texts are escaped


def drawn(standings: Standings, known: KnownModels) -> Drawn | None:
    """What the first suite that declares it has to draw; None where no model has both numbers."""
    board = standings.board
    for suite in suite_words.order(board.suites):
        about = suite_words.about(suite)
        for column in about.columns if about.scatter else ():
            if column.before is None:
                continue
            good, bad = (column.before[0] or column.task, column.before[1]), (column.task, column.metric)
            own = {key: row for key, row in measured_cells([good, bad], standings).items() if NONE not in row}
            if own and about.scatter:
                return _drawn(about.scatter, own, good, bad, standings, known)
    return None


def _drawn(
    said: Mapping[str, str],
    own: Mapping[str, Sequence[Cell]],
    good: TaskMeasure,
    bad: TaskMeasure,
    standings: Standings,
    known: KnownModels,
) -> Drawn:
    board, shown = standings.board, standings.board.scale(*good)
    entries = {(each.model.key, each.task): each for each in board.entries if each.ranked}
    rows = []
    for key, cells in own.items():
        loss = changes.loss(entries[key, good[0]], good[1], entries[key, bad[0]], bad[1])
        lost = scaled(loss, shown.factor, bare=not standings.resamples)
        rows.append(FrameRow((Cell(standings.titles[key]), Cell("measured"), *cells, lost)))
    for name, cells in published_cells([good, bad], board).items():
        first, second = (cell.value for cell in cells)
        if isinstance(first, int | float) and isinstance(second, int | float):
            title = Cell(known.facts_of(name).name or name)
            rows.append(FrameRow((title, Cell("published"), *cells, Cell(first - second)), "reference"))
    rows.sort(key=lambda row: (row.kind != "run", -float(row.cells[3].value or 0)))
    heads = ((said["x"], shown.unit), (said["bad"], shown.unit), (said["y"], ""))
    numbers = (FrameColumn(name, digits=shown.digits, unit=unit) for name, unit in heads)
    note = f"Brackets: {LEVEL} interval over images. Published rows: on the whole benchmark, not run here."
    columns = (label("model"), label("source"), *numbers)
    frame = Frame("scatter", said["title"], columns, tuple(rows), (note,), marks=MARKS)
    chance = guessing(entries[next(iter(own)), bad[0]], bad[1])
    return Drawn(said, frame, None if chance is None else shown.factor * chance)
