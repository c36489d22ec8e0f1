"""What a reader must know before any number of a SURE-VQA run: beside what all runs have, its tests and judgements."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report import flags as shared
from lmms_medtasks.report import judged
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.sure_vqa.analysis import SMALL, Analysis
from lmms_medtasks.report.sure_vqa.reading import SIDES
from lmms_medtasks.report.sure_vqa.tables import SIDE_NAMES

CREDENTIALED = ("mimic",)
_MANY = 0.2
"""Share of empty replies above which a run is suspicious. Our choice."""


def flags(analysis: Analysis) -> tuple[Flag, ...]:
    """The flags of a run's part, warnings first."""
    source = analysis.source
    run, tasks = source.run, source.tasks
    return shared.warnings_first(
        [
            *shared.data(run, tasks),
            *shared.extent(run, tasks),
            *shared.code(run, tasks),
            *_answers(analysis),
            *_sides(analysis),
            *_shared_images(analysis),
            *judged.flags(source.judging),
            *_terms(analysis),
        ]
    )


def _answers(analysis: Analysis) -> Iterator[Flag]:
    asked = [each.sides[side] for each in analysis.results.values() for side in SIDES]
    failed = sum(each.failed for each in asked)
    yield from shared.failed_requests(failed, sum(each.asked for each in asked), failed)
    replies, empty = sum(each.asked - each.failed for each in asked), sum(each.empty for each in asked)
    if empty > _MANY * replies and not analysis.source.baseline:
        yield Flag(
            "warning",
            f"{empty:,} of {replies:,} replies are empty and count as wrong. Some runners turn an error into an empty "
            "reply: look into the run's log.",
        )


def _sides(analysis: Analysis) -> Iterator[Flag]:
    small = [f"{each.shift.label}, {each.kind} {each.sides['ood'].asked}" for each in analysis.results.values()
             if each.is_small]  # fmt: skip
    if small:
        text = f"OoD tests of fewer than {SMALL} questions, whose intervals say more than their RR: "
        yield Flag("warning", text + "; ".join(small) + ".")
    for each in analysis.results.values():
        name = f"{each.shift.label}, {each.kind} questions"
        missing = [side for side in SIDES if not each.sides[side].asked]
        for side in missing:
            yield Flag("warning", f"{name}: none in the {SIDE_NAMES[side]} test of this run; there is no RR.")
        if not missing and each.robustness.iid.estimate == 0:
            yield Flag("warning", f"{name}: the i.i.d. score is 0, and what is kept of nothing is not defined: no RR.")


def _shared_images(analysis: Analysis) -> Iterator[Flag]:
    found = []
    for shift, answers in analysis.source.shifts.items():
        iid, ood = ({answer.image_id for answer in answers if answer.side == side} for side in SIDES)
        if iid & ood and not shift.strength:
            found.append(f"{shift.label} {len(iid & ood):,} of {len(iid):,} i.i.d. and {len(ood):,} OoD")
    if found:
        text = f"Images in both tests, which intervals draw together: {'; '.join(found)}."
        yield Flag("note", text)


def _terms(analysis: Analysis) -> Iterator[Flag]:
    if any(shift.dataset in CREDENTIALED for shift in analysis.source.shifts):
        yield Flag(
            "note",
            "Credentialed data (PhysioNet): this report holds aggregate numbers, no question, answer, picture or id.",
        )
