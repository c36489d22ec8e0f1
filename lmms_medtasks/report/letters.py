"""Which letters a model chose, and how it did where each letter was right: a preference for a letter shows here."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.record import EMPTY, NO_ANSWER
from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, scaled, share
from lmms_medtasks.report.charts import (
    DISC,
    RING,
    Panel,
    Point,
    Series,
    axis_of,
    percent_axis,
    places_axis,
    plane_chart,
)
from lmms_medtasks.report.document import Cell, Figure, Row, Table
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Where
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.rotated_options import position_bias

ACCURACY = Mean()


@dataclass(frozen=True)
class Letter:
    """``right``: questions whose right option has this letter. ``chosen``: replies that chose it.

    ``accuracy``: of the questions where it is right.
    """

    right: int
    chosen: int
    accuracy: Interval


@dataclass(frozen=True)
class Letters:
    """By letter, and over all of them.

    Attributes:
        each: letter to its numbers. empty: replies that say nothing. unreadable: other replies that chose none.
        distance: see :func:`lmms_medtasks.suites.rotated_options.position_bias`.
        spread: standard deviation of the letters' accuracies, from 0 (RStd of Zheng et al., ICLR 2024, with accuracy
            where a letter is right, which they call recall); None where a letter has no accuracy.
    """

    each: Mapping[str, Letter]
    empty: int
    unreadable: int
    distance: float | None
    spread: float | None

    @property
    def right(self) -> int:
        """Number of questions."""
        return sum(each.right for each in self.each.values())

    @property
    def replies(self) -> int:
        """Number of replies."""
        return sum(each.chosen for each in self.each.values()) + self.empty + self.unreadable


def letters(source: Source, where: Where) -> Letters:
    """The letters of the multiple-choice questions that ``where`` restricts to."""
    rows = source.rows.where(where)
    names = string.ascii_uppercase[: max(rows.column("option_count"), default=0)]
    right = Counter(rows.column("expected"))
    chosen = Counter(trial for trials in rows.column("trials") for trial in trials)
    accuracies = {name: source.interval(ACCURACY, {**where, "expected": name}) for name in names}
    known = [each.estimate for each in accuracies.values() if each.estimate is not None]
    return Letters(
        each={name: Letter(right[name], chosen[name], accuracies[name]) for name in names},
        empty=chosen[EMPTY],
        unreadable=sum(chosen[outcome] for outcome in NO_ANSWER if outcome != EMPTY),
        distance=position_bias(rows),
        spread=float(np.std(known)) if known and len(known) == len(accuracies) else None,
    )


def letters_table(key: str, title: str, where: Where, note: str) -> Callable[[Sequence[Source]], Table]:
    """The letters that were chosen beside those that are right."""
    return lambda sources: _table(letters(sources[0], where), key, title, note)


def _table(found: Letters, key: str, title: str, note: str) -> Table:
    right, replies = found.right, found.replies
    rows = [
        Row(
            (
                Cell(name),
                Cell(each.right),
                percent_of(each.right / right if right else None),
                Cell(each.chosen),
                percent_of(each.chosen / replies if replies else None),
                percent(each.accuracy),
            )
        )
        for name, each in found.each.items()
    ]
    for name, number in (("empty", found.empty), ("unreadable", found.unreadable)):
        share_of = percent_of(number / replies if replies else None)
        rows.append(Row((Cell(name), NONE, NONE, Cell(number), share_of, NONE), "counts"))
    columns = (
        label("letter"),
        count("right"),
        share("share of right"),
        count("chosen"),
        share("share of chosen"),
        share("accuracy where right"),
    )
    notes = (
        "Total variation distance of the letters chosen from the correct ones, over the readable replies: "
        f"{_text(found.distance)} (0 is alike). "
        f"Standard deviation of the accuracy over the letters: {_text(found.spread)}.",
        note,
    )
    return Table(key, title, columns, tuple(rows), notes)


def _text(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


# --- Figure --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LetterChart:
    """Letters chosen and letters right, and the accuracy where each is right."""

    key: str
    title: str
    where: Where

    def figure(self, sources: Sequence[Source]) -> Figure:
        """The drawing."""
        found = letters(sources[0], self.where)
        about = (
            "A model without a preference chooses each letter about as often as it is correct, and has the same "
            "accuracy whichever letter is correct."
        )
        svg = _draw(self.title, found)
        return Figure(self.key, self.title, f"{about} Bars are {LEVEL} intervals over images.", svg, self.key)


def _draw(title: str, found: Letters) -> str:
    right, chosen = found.right or 1, found.replies or 1
    names = list(found.each)
    shares = {
        "right": [100 * each.right / right for each in found.each.values()],
        "chosen": [100 * each.chosen / chosen for each in found.each.values()],
    }
    letter_axis = places_axis(names)
    series = tuple(
        Series(
            {"right": "of correct answers", "chosen": "of replies"}[kind],
            tuple(
                Point(place, value, f"{name} {kind}: {value:.1f} %")
                for place, (name, value) in enumerate(zip(names, shares[kind], strict=True))
            ),
            look,
        )
        for kind, look in (("right", RING), ("chosen", DISC))
    )
    accuracies = [scaled(each.accuracy, 100) for each in found.each.values()]
    points = tuple(
        Point(place, cell.value, f"where {name} is correct: {_percent(cell)}", cell.low, cell.high)
        for place, (name, cell) in enumerate(zip(names, accuracies, strict=True))
        if isinstance(cell.value, int | float)
    )
    share_axis = axis_of((0.0, *shares["right"], *shares["chosen"]), unit=" %")
    panels = (
        Panel(letter_axis, share_axis, series, "Letters, percent"),
        Panel(letter_axis, percent_axis(), (Series("", points, DISC),), "Accuracy by letter, %"),
    )
    gist = first_listed([
        f"{name} chosen {own:.0f}, right {due:.0f}"
        for name, own, due in zip(names, shares["chosen"], shares["right"], strict=True)
    ])  # fmt: skip
    return plane_chart(f"{title}. Percent: {gist}.", panels, height=180)


def _percent(cell: Cell) -> str:
    interval = "" if cell.low is None or cell.high is None else f" [{cell.low:.1f}, {cell.high:.1f}]"
    return f"{cell.value:.1f} %{interval}"
