"""The section on questions that were asked once for each rotation of their options, the same in every benchmark."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence

from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.views import Column, Row, Source, Table, View, row_count
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.rotated_options import EVERY_ROTATION, INCOMPLETE_QUESTIONS, UNROTATED, position_bias

_ACCURACY = Mean()
_ESTIMATES = {
    "right under every rotation": EVERY_ROTATION,
    "as asked, not rotated": UNROTATED,
    "mean over all copies (the metric accuracy)": _ACCURACY,
}
_COLUMNS = ("n", "accuracy")


def rotation_view(where: Where, interval_note: str, *, groups: Mapping[str, Where] | None = None) -> View:
    """The section: what survives the rotation, beside the plain accuracy, and which letters were chosen.

    ``where``: the restriction to the rotated copies. ``groups``: titles and restrictions of more rows, each with the
    share that is right under every rotation.
    """
    rows = (
        *(Row((head,), where, estimates=dict.fromkeys(_COLUMNS, each)) for head, each in _ESTIMATES.items()),
        *(
            Row((f"every rotation, {name}",), {**where, **each}, "counts", dict.fromkeys(_COLUMNS, EVERY_ROTATION))
            for name, each in (groups or {}).items()
        ),
    )

    def notes(sources: Sequence[Source]) -> tuple[str, ...]:
        copies = sources[0].rows.where(where)
        questions, left_out = len(copies.values("pair")), INCOMPLETE_QUESTIONS.value(copies)
        text = f"{left_out:,} of {questions:,} questions lack a reply to a rotation and are left out."
        return (
            "Each question is asked once for each rotation of its options; a model that knows the answer finds it in "
            "every place. n: questions with a reply to every rotation; of the mean over all copies, replies.",
            *([text] if left_out else []),
            interval_note,
        )

    columns = (Column("n", unit="n"), Column("accuracy", digits=2))
    # Rows are made from the sources, since benchmarks without such a task have no column to restrict by.
    table = Table("circular", "Rotated options", ("accuracy",), lambda sources: rows, columns, notes)
    return View(
        "rotated",
        "Rotated options",
        (table, _letters_table(where, interval_note)),
        shown=lambda sources: len(sources[0].rows.where(where)) > 0,
    )


def _letters_table(where: Where, interval_note: str) -> Table:
    """The letters that were chosen beside those that are right: a preference for a letter shows here."""

    def asked(source: Source) -> Samples:
        return source.rows.where(where)

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        for name in string.ascii_uppercase[: max(asked(sources[0]).column("option_count"), default=0)]:
            yield Row((name,), {**where, "expected": name})

    def chosen(source: Source, row: Row, rows: Samples) -> Cell:
        return Cell(sum(trials.count(row.labels[0]) for trials in asked(source).column("trials")))

    def notes(sources: Sequence[Source]) -> tuple[str, ...]:
        distance = position_bias(asked(sources[0]))
        said = "none" if distance is None else f"{distance:.3f}"
        return (
            "Total variation distance of the letters chosen from the correct ones, over the readable replies: "
            f"{said} (0 is alike).",
            interval_note,
        )

    columns = (
        Column("right", row_count, "count"),
        Column("chosen", chosen, "count"),
        Column("accuracy where right", _ACCURACY),
    )
    return Table("rotated_letters", "Letters, rotated options", ("letter",), rows, columns, notes)
