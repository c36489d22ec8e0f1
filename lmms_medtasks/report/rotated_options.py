"""The section on questions that were asked once for each rotation of their options, the same in every benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.report import document
from lmms_medtasks.report.letters import LetterChart, letters_table
from lmms_medtasks.report.variance_tables import components_table, scores_of_trials
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.samples.table import Where
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.rotated_options import EVERY_ROTATION, INCOMPLETE_QUESTIONS, OVER_ROTATIONS, UNROTATED

_ESTIMATES = {
    "right under every rotation": EVERY_ROTATION,
    "as asked, not rotated": UNROTATED,
    "mean over rotations, by question": OVER_ROTATIONS,
    "mean over all copies (the metric accuracy)": Mean(),
}
_COLUMNS = ("n", "accuracy")


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


def rotation_view(
    where: Where,
    interval_note: str,
    *,
    groups: Mapping[str, Where] | None = None,
    ending: str = "",
    title_ending: str = "",
    cluster: str = "image",
) -> View:
    """The section: what survives the rotation, and which letters were chosen.

    ``ending`` and ``title_ending`` stand behind the keys and the titles. ``cluster``: what a cluster is.
    """
    table = rotation_table(f"circular{ending}", f"Rotated options{title_ending}", where, interval_note, groups)

    def variance(sources: Sequence[Source]) -> document.Table | None:
        scores = scores_of_trials(sources[0].rows.where(where), form="option order", cluster=cluster)
        head = f"{cluster.capitalize()}s, questions and the order of options{title_ending}"
        return components_table(f"order_variance{ending}", head, "answers", {"all": scores}, "points")

    key, title = f"rotated_letters{ending}", f"Letters, rotated options{title_ending}"
    return View(
        f"rotated{ending}",
        f"Rotated options{title_ending}",
        (table, letters_table(key, title, where, interval_note), variance),
        (LetterChart(key, title, where),),
        lambda sources: len(sources[0].rows.where(where)) > 0,
    )
