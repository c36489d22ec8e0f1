"""The headline of Bones and Joints: from reading the image to complete reasoning."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report.findings import Number, chance_of_options
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.bones_joints.measures import ACCURACY, AS_PUBLISHED, SUITE
from lmms_medtasks.task_configs.bones_joints.report_figures import sketch
from lmms_medtasks.task_configs.bones_joints.report_groups import find_group, task_groups

# Those that stand on the first screen where they were asked come first.
_TITLES = {
    "t3": "reading the image (III)", "t4": "diagnosis (IV)", "t5": "diagnostic reasoning (V)", "t1": "knowledge (I)",
    "t2": "clinical notes (II)", "t6": "treatment (VI)", "t7": "treatment reasoning (VII)",
    "t8": "finding the contradiction (VIII)",
}  # fmt: skip


def _numbers(source: Source) -> Iterator[Number]:
    """The accuracy of each task as the paper asks it."""
    groups = task_groups(source)
    for key, title in _TITLES.items():
        group = find_group(groups, key, AS_PUBLISHED)
        if group and group.measured:
            chance = None if group.judging else chance_of_options(group.rows)
            printed = span(SUITE, str(group.rows.values("task")[0]), "accuracy")
            yield Number(title, f"at {title}", ACCURACY, group.where, chance=chance, published=printed)


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
