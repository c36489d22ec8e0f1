"""The section on questions that were asked once for each rotation of their options, the same in every benchmark."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lmms_medtasks.record import EMPTY, NO_ANSWER
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.rotated_options import (
    EVERY_ROTATION,
    INCOMPLETE_QUESTIONS,
    OVER_ROTATIONS,
    UNROTATED,
    position_bias,
)

_ESTIMATES = {
    "right under every rotation": EVERY_ROTATION,
    "as asked, not rotated": UNROTATED,
    "mean over rotations, by question": OVER_ROTATIONS,
    "mean over all copies (the metric accuracy)": Mean(),
}
_COLUMNS = ("n", "accuracy")
_ACCURACY = Mean()
_WHERE_RIGHT = "accuracy where right"
_NO_LETTER = {"empty": (EMPTY,), "unreadable": tuple(each for each in NO_ANSWER if each != EMPTY)}
"""Rows of the table of letters -> the readings that are counted there."""


def rotation_table(
    key: str, title: str, where: Where, interval_note: str, groups: Mapping[str, Where] | None = None
) -> Table:
    """Accuracy that survives the rotation of the options, beside the plain one.

    ``where``: the restriction to the rotated copies. ``groups``: titles and restrictions of more rows, each with the
    share that is right under every rotation.
    """

    def notes(sources: Sequence[Source]) -> tuple[str, ...]:
        rows = sources[0].rows.where(where)
        questions, left_out = len(rows.values("pair")), INCOMPLETE_QUESTIONS.value(rows)
        text = f"{left_out:,} of {questions:,} questions lack a reply to a rotation and are left out."
        return (
            "Each question is asked once for each rotation of its options; a model that knows the answer finds it in "
            "every place.",
            "n: questions with a reply to every rotation; of the mean over all copies, replies. Two means differ where "
            "numbers of options differ or replies lack: by question, each question weighs alike; over all copies, "
            "which the harness's table calls accuracy, each reply does.",
            *([text] if left_out else []),
            interval_note,
        )

    rows_of_table = (
        *(Row((head,), where, estimates=dict.fromkeys(_COLUMNS, each)) for head, each in _ESTIMATES.items()),
        *(
            Row((f"every rotation, {name}",), {**where, **each}, "counts", dict.fromkeys(_COLUMNS, EVERY_ROTATION))
            for name, each in (groups or {}).items()
        ),
    )
    return Table(
        key,
        title,
        ("accuracy",),
        # Made from the sources, since benchmarks without such a task have no column to restrict by.
        lambda sources: rows_of_table,
        (Column("n", unit="n"), Column("accuracy", digits=2)),
        notes,
    )


def _letters_table(key: str, title: str, where: Where, interval_note: str) -> Table:
    """The letters that were chosen beside those that are right: a preference for a letter shows here."""

    def asked(source: Source) -> Samples:
        return source.rows.where(where)

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        for name in string.ascii_uppercase[: max(asked(sources[0]).column("option_count"), default=0)]:
            yield Row((name,), {**where, "expected": name})
        for name in _NO_LETTER:
            yield Row((name,), where, "counts", dict.fromkeys(("right", "share of right", _WHERE_RIGHT)))

    def chosen(source: Source, row: Row) -> tuple[int, int]:
        """Replies that chose the row's letter, or none; and all replies."""
        counted = Counter(trial for trials in asked(source).column("trials") for trial in trials)
        letters = {name: number for name, number in counted.items() if len(name) == 1}
        readings = _NO_LETTER.get(str(row.labels[0]), row.labels)
        every = sum(letters.values()) + sum(counted[each] for each in NO_ANSWER)
        return sum(counted[str(each)] for each in readings), every

    def notes(sources: Sequence[Source]) -> tuple[str, ...]:
        (distance, found) = (
            position_bias(asked(sources[0])),
            [sources[0].interval(_ACCURACY, row.where).estimate for row in rows(sources) if row.kind == "run"],
        )
        known = [each for each in found if each is not None]
        spread = float(np.std(known)) if known and len(known) == len(found) else None
        said = ("none" if each is None else f"{each:.3f}" for each in (distance, spread))
        return (
            "Total variation distance of the letters chosen from the correct ones, over the readable replies: "
            f"{next(said)} (0 is alike). Standard deviation of the accuracy over the letters: {next(said)}.",
            interval_note,
        )

    columns = (
        Column("right", lambda source, row, rows: Cell(len(rows)), "count"),
        Column("share of right", lambda source, row, rows: _part(len(rows), len(asked(source)))),
        Column("chosen", lambda source, row, rows: Cell(chosen(source, row)[0]), "count"),
        Column("share of chosen", lambda source, row, rows: _part(*chosen(source, row))),
        Column(_WHERE_RIGHT, _ACCURACY),
    )
    return Table(key, title, ("letter",), rows, columns, notes)


def _part(number: int, whole: int) -> Cell:
    return Cell(100 * number / whole if whole else None)


def rotation_view(
    where: Where,
    interval_note: str,
    *,
    groups: Mapping[str, Where] | None = None,
    ending: str = "",
    title_ending: str = "",
) -> View:
    """The section: what survives the rotation, and which letters were chosen.

    ``ending`` and ``title_ending`` stand behind the keys and the titles.
    """
    table = rotation_table(f"circular{ending}", f"Rotated options{title_ending}", where, interval_note, groups)

    key, title = f"rotated_letters{ending}", f"Letters, rotated options{title_ending}"
    return View(
        f"rotated{ending}",
        f"Rotated options{title_ending}",
        (table, _letters_table(key, title, where, interval_note)),
        shown=lambda sources: len(sources[0].rows.where(where)) > 0,
    )
