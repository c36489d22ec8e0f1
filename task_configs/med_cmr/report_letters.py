"""Med-CMR: which letters a model chose, and how it did where each letter was right: a preference shows here."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.record import EMPTY, NO_ANSWER
from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, share
from lmms_medtasks.report.document import Cell, Row, Table
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Where
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, position_bias


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
        distance: see :func:`lmms_medtasks.task_configs.med_cmr.measures.position_bias`.
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
        "Total variation distance of the letters chosen from the right ones, over the readable replies: "
        f"{_text(found.distance)} (0 is alike). "
        f"Standard deviation of the accuracy over the letters: {_text(found.spread)}.",
        note,
    )
    return Table(key, title, columns, tuple(rows), notes)


def _text(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
