"""Med-CMR's chapter on open answers: the judge's scores, and the two parts of an answer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from lmms_medtasks.report import document
from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, share
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import judged_columns
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count
from lmms_medtasks.suites.judged_measures import bound_of
from lmms_medtasks.task_configs.med_cmr.judging import PROTOCOL, WEIGHTS
from lmms_medtasks.task_configs.med_cmr.measures import (
    BREAKDOWNS,
    BY_DIMENSION,
    EXACT,
    SCORES,
    SIDE_TOTAL,
    TOTAL,
    parts,
)
from lmms_medtasks.task_configs.med_cmr.report_dimensions import (
    IMAGE,
    INTERVALS,
    KEY,
    SIDE_NOTE,
    breakdown,
    rows_by_side,
)
from lmms_medtasks.task_configs.med_cmr.report_models import asked, judging, was_asked

_MISSING = (
    "Means are over the judgements that were obtained: n judged of n. A missing one is no zero: the last two "
    "columns are "
    "the mean over all answers, had each missing one been the scale's worst, or its best."
)


def _scale_note() -> str:
    weights = ", ".join(f"{name.replace('_', ' ')} {weight}" for name, weight in WEIGHTS.items())
    return (
        f"Total: the scores weighted ({weights}) and brought to 0 to 100, as in the paper. The scale of the single "
        "scores and the judge's prompt are ours: the paper does not print its own."
    )


def _open_notes(shown: bool, *notes: str) -> Callable[[Sequence[Source]], tuple[str, ...]]:
    def made(sources: Sequence[Source]) -> tuple[str, ...]:
        found = judging(sources[0], shown)
        return (f"Judge: {found.shown if found else 'none'}.", *notes, INTERVALS)

    return made


def _open_scores(shown: bool) -> Table:
    """The judge's scores overall: a row a measure, the total last."""
    rows = []
    for name, estimate in (*SCORES.items(), ("total", TOTAL)):
        title = "Total (0 to 100)"
        if name in WEIGHTS:
            scale = PROTOCOL.dimension(name)
            title = f"{name.replace('_', ' ').capitalize()} ({scale.worst:g} to {scale.best:g})"
        estimates = {each.name: each.of for each in judged_columns("mean", estimate, name)}
        rows.append(Row((title,), asked("open", shown), estimates=estimates))
    return Table(
        f"open{KEY[shown]}",
        f"Open answers{IMAGE[shown]}: scores",
        ("score",),
        tuple(rows),
        judged_columns("mean", TOTAL, "total"),
        _open_notes(shown, _scale_note(), _MISSING),
    )


def _side_bound(rows: Samples, which: str) -> float | None:
    """The mean over the dimensions of their bounds; those without a judgement requested are left out."""
    known = [found for each in rows.by(["dimension"]).values() if (found := bound_of(each, "total", which)) is not None]
    return sum(known) / len(known) if known else None


_SIDE_BOUNDS = {
    f"missing as {name}": Count(function=functools.partial(_side_bound, which=which))
    for name, which in (("worst", "low"), ("best", "high"))
}


def _open_dimensions(shown: bool) -> Table:
    """The total by dimension of the questions."""
    where = asked("open", shown)
    return Table(
        f"open_dimensions{KEY[shown]}",
        f"Open answers{IMAGE[shown]}: total by dimension",
        ("dimension",),
        lambda sources: list(
            rows_by_side(sources, where, "total", lambda side: {"total": SIDE_TOTAL[side], **_SIDE_BOUNDS})
        ),
        judged_columns("total", TOTAL, "total"),
        _open_notes(shown, _scale_note(), _MISSING, SIDE_NOTE),
    )


def _open_dimension_scores(shown: bool) -> Table:
    """The single scores by dimension of the questions, with how many were judged."""
    counts = judged_columns("total", TOTAL, "total")[1:3]
    return Table(
        f"open_scores{KEY[shown]}",
        f"Open answers{IMAGE[shown]}: single scores by dimension",
        ("dimension",),
        tuple(Row((name,), {**asked("open", shown), **each}) for name, each in BY_DIMENSION.items()),
        (*(Column(name.replace("_", " "), each, "", 2) for name, each in SCORES.items()), *counts),
        _open_notes(shown, _scale_note(), "Over the judgements that were obtained."),
    )


def _parts_table(shown: bool) -> Callable[[Sequence[Source]], document.Frame]:
    """Which of its two parts an answer had, and how many are the reference word for word."""

    def made(sources: Sequence[Source]) -> document.Frame:
        found = parts(sources[0].rows.where(asked("open", shown)))
        rows = [
            document.FrameRow((Cell(name.replace("_", " ")), Cell(number), percent_of(number / found.total())))
            for name, number in found.most_common()
        ]
        exact = percent(sources[0].interval(EXACT, asked("open", shown)), bare=True)
        rows.append(document.FrameRow((Cell("final answer is the reference's words"), NONE, exact), "counts"))
        columns = (label("parts read"), count("answers"), share("share"))
        notes = (
            "The prompt asks for two lines, Reasoning: and Answer:. An answer without one is judged as it is; a reply "
            "without any text is the scale's worst, by a rule.",
        )
        title = f"Open answers{IMAGE[shown]}: their parts"
        return document.Frame(f"parts{KEY[shown]}", title, columns, tuple(rows), notes)

    return made


def open_view(shown: bool) -> View:
    """The chapter, with or without the image."""
    columns, notes = judged_columns("total", TOTAL, "total", 1), _open_notes(shown, _MISSING)
    by_tag = (breakdown("open", tag, "Open answers: total", columns, notes) for tag in (BREAKDOWNS if shown else ()))
    first = (_open_scores(shown), _open_dimensions(shown), _open_dimension_scores(shown))
    return View(
        f"open{KEY[shown]}",
        f"Open answers{IMAGE[shown]}",
        (*first, *by_tag, _parts_table(shown)),
        shown=lambda sources: was_asked(sources[0], "open", shown),
    )
