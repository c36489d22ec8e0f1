"""A model's headline numbers, a benchmark each: beside guessing, the other models and the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import Standings, published
from lmms_medtasks.board.site.changes import headline_change
from lmms_medtasks.board.site.number_marks import HARD_TO_READ
from lmms_medtasks.board.site.ranking import Standing
from lmms_medtasks.report.cells import NONE, label
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import Number
from lmms_medtasks.statistics.intervals import Interval

LEAST_FIELD = 4
"""Ranked models from which on a field has quartiles."""


@dataclass(frozen=True)
class ModelHeadline:
    """A model on a benchmark's headline measure.

    Attributes:
        suite, title: the benchmark's name, the same for people. task: whose number it is.
        number: with the range of the paper's models.
        standing: its place, None where it is not ranked. field: ranked models, this one among them.
        apart: why it is not ranked, "" where it may be.
        quartiles: the field's first quartile, median, third quartile; None of fewer than :data:`LEAST_FIELD` models.
        loss: of a share, what it is less than the number that the suite's headline says that it is lost from, below 0.
    """

    suite: str
    title: str
    task: str
    number: Number
    standing: Standing | None = None
    field: int = 0
    apart: str = ""
    quartiles: tuple[float, float, float] | None = None
    loss: Interval | None = None

    @property
    def rank(self) -> int | None:
        """Its rank, None without one."""
        return self.standing.rank if self.standing else None

    @property
    def place(self) -> str:
        """``rank 2 (1 to 3) of 12``: "" without a rank."""
        if self.standing is None or self.standing.rank is None:
            return ""
        if self.field == 1:
            return "the only one ranked"
        spread = f" ({self.standing.ranks})" if " to " in self.standing.ranks else ""
        return f"rank {self.rank}{spread} of {self.field}"

    @property
    def is_hard_to_read(self) -> bool:
        """Whether too few replies could be read for the number to say anything of the model."""
        return HARD_TO_READ in self.number.cell.mark

    @property
    def chart(self) -> str:
        """The bullet chart, an <svg>."""
        number, (first, middle, third) = self.number, self.quartiles or (None, None, None)
        own = Cell(number.title), Cell(number.value, number.cell.low, number.cell.high), Cell(middle, first, third)
        rows = [FrameRow(own), FrameRow((Cell("guessing"), Cell(number.chance), NONE), "counts")]
        rows += [FrameRow((Cell("published"), Cell(each), NONE), "reference") for each in number.published or ()]
        score = FrameColumn("score", digits=number.digits, unit=number.unit)
        frame = Frame("headline", self.title, (label("number"), score, FrameColumn("ranked models")), tuple(rows))
        ends = number.bottom, number.top
        chart = Chart("bullets", "headline", self.title, "", "headline", ("score",), x="ranked models", ends=ends)
        return chart.drawn(chart.marks_of(frame), small=True)


def headlines(own: Sequence[Entry], standings: Standings) -> list[ModelHeadline]:
    """The headline of each suite that a model has a number in, suites in the order of ``own``.

    The measure is the suite's headline on the board where the model has it, else the first of its own.
    """
    found = []
    for suite in dict.fromkeys(entry.suite for entry in own):
        about = suite_words.about(suite)
        entries = [entry for entry in own if entry.suite == suite]
        wanted = [
            about.headline_of(standings.board.of(suite=suite, ranked=True)),
            about.headline_of([entry for entry in entries if entry.ranked]),
            about.headline_of(entries),
            *((entry.task, metric) for entry in entries for metric in entry.main_metrics),
        ]
        for head in dict.fromkeys(filter(None, wanted)):
            own_entries = [entry for entry in entries if entry.task == head[0] and head[1] in entry.metrics]
            known = [made for entry in own_entries if (made := _headline(entry, head[1], standings))]
            if known:
                chosen = min(known, key=lambda each: bool(each.apart))
                # Of another task than the board's headline the task is said.
                elsewhere = wanted[0] is not None and head != wanted[0]
                title = f"{chosen.number.title} ({chosen.task})" if elsewhere else chosen.number.title
                found.append(replace(chosen, number=replace(chosen.number, title=title)))
                break
    return found


def _headline(entry: Entry, metric: str, standings: Standings) -> ModelHeadline | None:
    number, about = standings.number(entry, metric), suite_words.about(entry.suite)
    if number is None:
        return None
    field = standings.numbers(entry.task, metric)
    models = [row for row in published(entry.task, entry.settings) if row.kind == "model"]
    printed = [row.cells[metric].value for row in models if metric in row.cells]
    values = [float(each) for each in printed if isinstance(each, int | float)]
    return ModelHeadline(
        suite=entry.suite,
        title=about.title,
        task=entry.task,
        number=replace(number, published=(min(values), max(values)) if values else None),
        standing=standings.of(entry.task, metric).get(entry.model.key) if entry.ranked else None,
        field=len(field),
        apart=next((each.reason for each in entry.problems if each.level == "unranked"), ""),
        quartiles=_quartiles([each.value for each in field.values()]),
        loss=headline_change(standings, about, entry.model.key, (entry.task, metric)) if entry.ranked else None,
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    if len(values) < LEAST_FIELD:
        return None
    first, middle, third = np.percentile(values, (25, 50, 75)).tolist()
    return first, middle, third
