"""A model's headline numbers, a benchmark each: beside guessing, the other models and the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.changes import headline_change
from lmms_medtasks.board.site.guessing import guessing
from lmms_medtasks.board.site.number_marks import HARD_TO_READ
from lmms_medtasks.board.site.rows import published
from lmms_medtasks.report.cells import NONE, label
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import against_guessing
from lmms_medtasks.short_texts import interval_text
from lmms_medtasks.statistics.intervals import Interval

LEAST_FIELD = 4
"""Ranked models from which on a field has quartiles."""

Span = tuple[float, float]


@dataclass(frozen=True)
class ModelHeadline:
    """A model on a benchmark's headline measure; numbers are in the measure's unit.

    Attributes:
        suite: its name. title: for people. task, metric: whose number it is. words: what that says. unit: "%" or a
            word.
        value, low, high: the score and its interval. ends: of the scale.
        rank, best, worst: the rank, and the first and last rank that chance leaves open; None without one.
        field: ranked models, this one among them. apart: why it is not ranked, "" where it may be.
        quartiles: the field's first quartile, median, third quartile; None of fewer than :data:`LEAST_FIELD` models.
        chance: what guessing gets, None where that is not known. published: least and most of the paper's models.
        higher_is_better: of two numbers. signs: what limits the number (:mod:`lmms_medtasks.board.site.number_marks`).
        loss: of a share, what it is less than the number that the suite's headline says that it is lost from, below 0.
    """

    suite: str
    title: str
    task: str
    metric: str
    words: str
    unit: str
    digits: int
    value: float
    low: float | None
    high: float | None
    ends: Span
    rank: int | None
    best: int | None
    worst: int | None
    field: int
    apart: str
    quartiles: tuple[float, float, float] | None
    chance: float | None
    published: Span | None
    higher_is_better: bool = True
    signs: str = ""
    loss: Interval | None = None

    @property
    def number(self) -> str:
        """``69.1 %``."""
        return f"{self.value:.{self.digits}f} {self.unit}".rstrip() + self.signs

    @property
    def interval(self) -> str:
        """``[66.4, 71.9]``, "" without one."""
        return interval_text(self.low, self.high, self.digits).strip()

    @property
    def place(self) -> str:
        """``rank 2 of 12, 1 to 3 beyond chance``: "" without a rank."""
        if self.rank is None:
            return ""
        if self.field == 1:
            return "the only one ranked"
        spread = f" ({self.best} to {self.worst})" if self.best != self.worst else ""
        return f"rank {self.rank}{spread} of {self.field}"

    @property
    def beats_chance(self) -> bool | None:
        """Whether it is better than guessing, None where that is not known."""
        return None if self.chance is None or self.is_hard_to_read else not self.guessing

    @property
    def is_hard_to_read(self) -> bool:
        """Whether too few replies could be read for the number to say anything of the model."""
        return HARD_TO_READ in self.signs

    @property
    def guessing(self) -> str:
        """How it stands to guessing where it is not better, in words; else "", also where its replies were not read."""
        if self.chance is None or self.is_hard_to_read:
            return ""
        return against_guessing(self.value, self.low, self.high, self.chance, self.higher_is_better)

    @property
    def chart(self) -> str:
        """The bullet chart, an <svg>."""
        first, middle, third = self.quartiles or (None, None, None)
        own = Cell(self.words), Cell(self.value, self.low, self.high), Cell(middle, first, third)
        rows = [FrameRow(own), FrameRow((Cell("guessing"), Cell(self.chance), NONE), "counts")]
        rows += [FrameRow((Cell("published"), Cell(each), NONE), "reference") for each in self.published or ()]
        score = FrameColumn("score", digits=self.digits, unit=self.unit)
        frame = Frame("headline", self.title, (label("number"), score, FrameColumn("ranked models")), tuple(rows))
        chart = Chart("bullets", "headline", self.title, "", "headline", ("score",), x="ranked models", ends=self.ends)
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
            made = [_headline(entry, head[1], standings) for entry in entries if _has(entry, head)]
            known = [each for each in made if each is not None]
            if known:
                chosen = min(known, key=lambda each: bool(each.apart))
                # Of another task than the board's headline the task is said.
                elsewhere = wanted[0] is not None and head != wanted[0]
                found.append(replace(chosen, words=f"{chosen.words} ({chosen.task})") if elsewhere else chosen)
                break
    return found


def _has(entry: Entry, head: tuple[str, str]) -> bool:
    return entry.task == head[0] and head[1] in entry.metrics


def _headline(entry: Entry, metric: str, standings: Standings) -> ModelHeadline | None:
    about, shown = suite_words.about(entry.suite), entry.scale(metric)
    field = standings.of(entry.task, metric)
    standing = field.get(entry.model.key) if entry.ranked else None
    mean = standing.mean if standing else entry.interval(metric, standings.resamples > 0)
    if mean.estimate is None:
        return None
    values = [each.mean.estimate for each in field.values() if each.mean.estimate is not None]
    models = [row for row in published(entry.task, entry.settings) if row.kind == "model"]
    printed = [row.cells[metric].value for row in models if metric in row.cells]
    numbers = [float(each) for each in printed if isinstance(each, int | float)]
    chance = guessing(entry, metric)
    # A ratio may be beyond the scale.
    top = max(shown.high, math.ceil(10 * (mean.high or mean.estimate) - 1e-6) / 10)
    return ModelHeadline(
        suite=entry.suite,
        title=about.title,
        task=entry.task,
        metric=metric,
        words=about.heading_of(entry.task, metric),
        unit=shown.unit,
        digits=shown.digits,
        value=shown.factor * mean.estimate,
        low=None if mean.low is None else shown.factor * mean.low,
        high=None if mean.high is None else shown.factor * mean.high,
        ends=(shown.factor * shown.low, shown.factor * top),
        rank=standing.rank if standing else None,
        best=standing.low if standing else None,
        worst=standing.high if standing else None,
        field=len(values),
        apart=next((each.reason for each in entry.problems if each.level == "unranked"), ""),
        quartiles=_quartiles([shown.factor * each for each in values]),
        chance=None if chance is None else shown.factor * chance,
        published=(min(numbers), max(numbers)) if numbers else None,
        higher_is_better=shown.higher_is_better,
        signs=standings.marked(Cell(mean.estimate), entry, metric).mark,
        loss=headline_change(standings, about, entry.model.key, (entry.task, metric)) if entry.ranked else None,
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    if len(values) < LEAST_FIELD:
        return None
    first, middle, third = np.percentile(values, (25, 50, 75)).tolist()
    return first, middle, third
