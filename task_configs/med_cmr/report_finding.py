"""Med-CMR on the first screen of a report: choice questions, and open answers as a judge scored them."""

from __future__ import annotations

from dataclasses import replace

from lmms_medtasks.report.findings import (
    BY_WORDS,
    Finding,
    chance_of_options,
    score_bar,
    share_bar,
    shown,
    there,
    whole,
)
from lmms_medtasks.report.judged_tables import marks
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, SUITE, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_figures import sketch
from lmms_medtasks.task_configs.med_cmr.report_models import asked, judging


def finding(source: Source) -> Finding | None:
    """The finding over the questions with their image; None where none was asked."""
    where = asked("mcq")
    printed = {name: span(SUITE, f"med_cmr_{name}", of) for name, of in (("mcq", "accuracy"), ("open", "total"))}
    chance = chance_of_options(source.rows.where(where))
    choice = share_bar(source, "choice questions", ACCURACY, where, chance=chance, published=printed["mcq"])
    total = score_bar(source, "open answers, points", TOTAL, "points", 100.0, printed["open"], where=asked("open"))
    judged = judging(source)
    if total:
        total = replace(total, cell=replace(total.cell, mark=marks(judged) + total.cell.mark))
    bars = there(choice, total)
    if not bars:
        return None
    said = [
        *([f"{shown(choice)} of the choice questions correct"] if choice else []),
        *([f"open answers get {shown(total)} of 100"] if total else []),
    ]
    judge = f", {BY_WORDS if total.by_words else f'scored by {judged.short}'}" if total and judged else ""
    sentence = f"{'; '.join(said)}{judge}."
    clause = (
        f"correct on {whole(choice)} of choice questions" if choice else f"{whole(bars[0])} of 100 for open answers"
    )
    return Finding(
        "Med-CMR", bars, sentence[0].upper() + sentence[1:], clause, "reasoning over fine detail",
        sketch=lambda: sketch(source),
    )  # fmt: skip
