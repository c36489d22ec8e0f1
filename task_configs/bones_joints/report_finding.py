"""The headline of Bones and Joints: from reading the image to complete reasoning."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report.findings import Number, chance_of_options
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.bones_joints.measures import ACCURACY, AS_PUBLISHED, SUITE
from lmms_medtasks.task_configs.bones_joints.report_tables import sketch

# Those that stand on the first screen where they were asked come first.
_TITLES = {
    "t3": "reading the image (III)", "t4": "diagnosis (IV)", "t5": "diagnostic reasoning (V)", "t1": "knowledge (I)",
    "t2": "clinical notes (II)", "t6": "treatment (VI)", "t7": "treatment reasoning (VII)",
    "t8": "finding the contradiction (VIII)",
}  # fmt: skip


def _numbers(source: Source) -> Iterator[Number]:
    """The accuracy of each task as the paper asks it."""
    for key, title in _TITLES.items():
        where = {"paper_task": key, "condition": AS_PUBLISHED}
        rows = source.rows.where(where)
        if len(rows.scored("accuracy")):
            chance = chance_of_options(rows)
            printed = span(SUITE, str(rows.values("task")[0]), "accuracy")
            yield Number(title, f"at {title}", ACCURACY, where, chance=chance, published=printed)


HEADLINE = Headline(
    _numbers,
    "orthopedic cases",
    (
        BoardColumn("bones_joints_t3_image", "accuracy", "on reading the image"),
        BoardColumn("bones_joints*", "accuracy"),
        BoardColumn("bones_joints*", "*"),
        BoardColumn("bones_joints_t1_knowledge", "accuracy", "on questions of knowledge", heads=False),
        BoardColumn("bones_joints_t2_note", "accuracy", "on clinical notes", heads=False),
    ),
    most=3,
    sketch=sketch,
)
