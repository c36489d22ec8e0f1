"""SURE-VQA: the loss out of distribution relative to what the image is worth, by shift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmms_medtasks.report.document import Frame
from lmms_medtasks.report.image_benefit import Comparison, benefit_table, rows_without_image
from lmms_medtasks.report.views import Source, View
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.task_configs.sure_vqa.measures import RANGES, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SCALE, groups, image_shown

_NO_IMAGE = {"condition": "no image"}


def lost_benefit(sources: Sequence[Source]) -> Frame | None:
    """The drop from the i.i.d. to the OoD test beside the image's benefit; None without a ``_noimage`` task."""
    source = sources[0]
    if not image_shown(source):
        return None
    return benefit_table(
        "benefit_lost",
        "What is lost of the image's benefit",
        ("shift", "questions"),
        ("i.i.d.", "OoD"),
        source,
        list(_comparisons(source)),
        "image",
        (
            f"Scores: {SCALE}. The two tests have other questions, so each has a floor of its own: a test whose words "
            "tell less drops without any loss of what the image gives. Corrupted tests ask the i.i.d. questions again "
            "and share their floor.",
        ),
    )


def _comparisons(source: Source) -> Iterator[Comparison]:
    blind = rows_without_image(source, _NO_IMAGE)
    for shift, kind in groups(source):
        # A question's answer without its image is the same in every shift of its dataset.
        shifts = tuple(each for each in blind.values("shift") if each.partition("_")[0] == shift.dataset)
        floor = floor_of(blind.where({"shift": shifts}), kind) if shifts else {}
        if floor:
            lost = LostBenefit(measure=kind, bounds=RANGES[kind], floor=floor, first=SIDES["iid"], second=SIDES["ood"])
            yield Comparison((shift.label, kind), lost, shift.where(kind), "")


BENEFIT = View("benefit", "Above what language alone gets", (lost_benefit,))
