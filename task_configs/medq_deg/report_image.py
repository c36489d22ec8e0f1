"""MedQ-Deg's chapters on the image and the options: what language alone gets, and what survives rotated options."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.document import Frame
from lmms_medtasks.report.image_benefit import Comparison, benefit_table, rows_without_image
from lmms_medtasks.report.rotated_options import rotation_view
from lmms_medtasks.report.views import Source, View
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.task_configs.medq_deg.measures import NO_IMAGE, ROTATED
from lmms_medtasks.task_configs.medq_deg.report_groups import INTERVALS
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, asks_otherwise, degraded_levels

_CLEAN = {"severity": 0}


def lost_benefit(sources: Sequence[Source]) -> Frame | None:
    """The drop to each level beside what the clean image was worth; None without ``medq_deg_noimage`` or without L0."""
    source = sources[0]
    floor = {} if asks_otherwise(source) else _floor(source)
    if not floor:
        return None
    comparisons = [
        Comparison(
            (f"L{level}, {SEVERITY[level]}",),
            LostBenefit(floor=floor, first=_CLEAN, second={"severity": level}, pair=("pair",)),
            {},
        )
        for level in degraded_levels(source)
    ]
    return benefit_table(
        "benefit_lost",
        "What is lost of the image's benefit",
        ("level",),
        ("L0", "the level"),
        source,
        comparisons,
        "image",
        (
            "Each degraded question beside its clean form and the same question without an image (medq_deg_noimage): "
            "levels differ in the image alone, so there is one floor for all. Questions that lack one are left out.",
        ),
    )


def _floor(source: Source) -> dict[tuple[str], float]:
    """The scores without images by the ``pair`` of the source's clean questions, which have the same ids there."""
    by_id = floor_of(rows_without_image(source, {"condition": NO_IMAGE}), "accuracy")
    clean = source.rows.where(_CLEAN)
    ids = zip(clean.column("id"), clean.column("pair"), strict=True)
    return {(pair,): by_id[name,] for name, pair in ids if (name,) in by_id}


BENEFIT = View("benefit", "Above what language alone gets", (lost_benefit,))
ROTATIONS = rotation_view({"condition": ROTATED}, INTERVALS)
