"""Bones and Joints: the numbers that the paper's text quotes, with the rows of these runs above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import MEANINGS
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.suite_report import extent
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.task_configs.bones_joints.forms import forms
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, REPORTS
from lmms_medtasks.task_configs.bones_joints.report_groups import find_group, task_groups

FOLDER = Path(__file__).parent
IMAGING = {"images": AS_PUBLISHED, "reports": REPORTS}
"""What stood for a case's imaging in Tasks IV to VII, and the condition under which we ask so."""


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    """A row for each source and kind of imaging that it was asked with."""
    for source in sources:
        groups = task_groups(source)
        for imaging, condition in IMAGING.items():
            with_images = [each for each in groups if each.task.images and each.condition == condition]
            if with_images or (condition == AS_PUBLISHED and not find_group(groups, "t4", REPORTS)):
                yield Row((source.name, str(own(extent(source)).value), imaging), source=source)


def _accuracy(task: str) -> CellFunction:
    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        condition = IMAGING[str(row.labels[2])] if forms()[task].images else AS_PUBLISHED
        group = find_group(task_groups(source), task, condition)
        return group.accuracy(source, bare=True) if group else NONE

    return cell


PUBLISHED_TABLE = Table(
    "main",
    "Beside the paper",
    ("model", "source", "imaging in IV to VII"),
    _rows,
    (
        *(Column(task.numeral, _accuracy(key)) for key, task in forms().items()),
        Column("in the paper", unit="text"),
    ),
    ("Without intervals; the tables of each run have them.",),
    Published(FOLDER, labels=("model", "published", "imaging")),
    MEANINGS,
)
