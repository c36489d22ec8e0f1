"""Bones and Joints: what the images are worth task by task, and what survives rotated options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmms_medtasks.report.rotated_options import rotation_view
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.task_configs.bones_joints.forms import forms
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, NO_IMAGE, ROTATED

_INTERVALS = f"In brackets: {LEVEL} interval over the images of cases."
_BENEFIT = Contrast(first={"condition": NO_IMAGE}, second={"condition": AS_PUBLISHED}, pair=("id",))


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    for key, task in forms().items():
        where = {"paper_task": key}
        asked = set(sources[0].rows.where(where).values("condition"))
        if {NO_IMAGE, AS_PUBLISHED} <= asked:
            yield Row((f"{task.numeral}: {task.name}",), where)


WITHOUT_IMAGES = Table(
    "without_images",
    "With and without the images",
    ("task",),
    _rows,
    (
        Column("questions", _BENEFIT, "n", statistic="second"),
        Column("with images", _BENEFIT, statistic="second"),
        Column("without", _BENEFIT, statistic="first"),
        Column("the images' benefit", _BENEFIT, "points"),
    ),
    (
        "Over the questions that have a score both ways. Without: the case's text alone, no report in the images' "
        "place. Tasks I and II have no images. Of Task VIII: how often a contradiction is named that can't be seen.",
        f"{_INTERVALS} Benefits are of the same questions both ways.",
    ),
)
BENEFIT = View("benefit", "Above what language alone gets", (WITHOUT_IMAGES,))
ROTATIONS = rotation_view(
    {"condition": ROTATED},
    _INTERVALS,
    groups={f"Task {task.numeral}": {"paper_task": key} for key, task in forms().items() if key in ("t1", "t2", "t3")},
)
