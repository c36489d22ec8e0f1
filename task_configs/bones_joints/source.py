"""Bones and Joints: exam questions and 203 cases of orthopedics and sports medicine, in eight tasks.

The release was not seen: columns are found by the names that they may have (``forms.yml``), and a message about missing
columns lists those found (:mod:`.source_layout`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.data import any_tables
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.release_images import ImageCells
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import RejectedRow, RowReader
from lmms_medtasks.data.sources import REVISION_NOT_KNOWN, DataSource, SourceSplit
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.bones_joints.source_forms import task_forms
from lmms_medtasks.task_configs.bones_joints.source_layout import survey_release
from lmms_medtasks.task_configs.bones_joints.source_rows import CaseQuestion


class BonesJointsReader(RowReader):
    """Reads the rows of one split out of all tables of a release."""

    def __init__(self, release: Release, split: SourceSplit) -> None:
        """Read all tables; ``UserError`` if there are none, or they are not as expected."""
        self._tasks = [task for task in task_forms().values() if task.split == split.name]
        every = survey_release(release)  # type: ignore[arg-type]
        self._tables = [table for table in every if any(task.key in table.tasks for task in self._tasks)]
        if not self._tables:
            present = dict.fromkeys(task for table in every for task in table.tasks)
            raise UserError(
                f"The release has no row of {', '.join(task.title for task in self._tasks)}. Its tables "
                f"({', '.join(table.title for table in every) or 'none'}) have rows of: "
                f"{', '.join(present) or 'nothing'}."
            )
        self._cells = ImageCells(release)
        self.records = sum(table.tasks.get(task.key, 0) for table in self._tables for task in self._tasks)
        self.notes = {
            "records": self.records,
            "paper": sum(task.paper for task in self._tasks),
            "layout": {table.title: table.layout for table in self._tables},
            "columns": {table.title: dict(table.used) for table in self._tables},
            "columns_unused": {table.title: list(table.unused) for table in self._tables},
        }

    def read_rows(self) -> Iterator[tuple[int, CaseQuestion | RejectedRow]]:
        """Every row as a question of each of its tasks."""
        number = 0
        for table in self._tables:
            for row in table.iter_rows():
                number += 1
                if row is None:
                    yield number, RejectedRow("it has another number of cells than the header")
                elif not (named := table.tasks_of(row)) and table.layout == "task column":
                    yield number, RejectedRow("it names no task")
                else:
                    yield from ((number, CaseQuestion(table, row, task, number))
                                for task in self._tasks if task.key in named)  # fmt: skip

    def read_name(self, row: CaseQuestion) -> str:
        return row.name

    def find_missing(self, row: CaseQuestion) -> list[str]:
        """The paths in the row's cells that hold no image."""
        return self._cells.missing(row.image_cells, row.table.name)

    def make_document(self, row: CaseQuestion) -> dict[str, Any]:
        return row.document(self._cells)


@dataclass(frozen=True)
class TablesSplit(SourceSplit):
    """A split whose questions may be in any table of the release; its files are found by their content."""

    def files_in(self, release: Release) -> tuple[str, ...] | None:
        """The tables with questions of this split, None if there are none; raises UserError as ``survey`` does."""
        keys = {task.key for task in task_forms().values() if task.split == self.name}
        tables = survey_release(release)  # type: ignore[arg-type]
        return tuple(dict.fromkeys(table.name for table in tables if keys & set(table.tasks))) or None

    def wanted(self) -> str:
        """The tables that it can be made from, for messages."""
        titles = ", ".join(task.title for task in task_forms().values() if task.split == self.name)
        return f"a table ({any_tables.FORMS}) with rows of {titles}"


BONES_JOINTS = DataSource(
    name="bones_joints",
    title="Bones and Joints",
    splits=(
        TablesSplit("t1", (), "Task I, knowledge questions"),
        TablesSplit("t2", (), "Task II, questions on clinical notes"),
        TablesSplit("t3", (), "Task III, questions on images"),
        TablesSplit("open", (), "Tasks IV to VII, open questions on cases; Task VIII is made from them"),
        TablesSplit("t8", (), "Task VIII as released, if it is", default=False),
    ),
    tags={
        **dict.fromkeys(
            ("task", "case_id", "image_case", "site", "image_site", "disease", "disease_listed", "modality", "report"),
            "text",
        ),
        "image_count": "integer",
        "figures": "integer",
    },
    hub_repository="PUTH2025/Bones_and_Joints_Benchmark",
    revision="main",
    licence="not stated in what we have seen; see the dataset page",
    terms="not stated in what we have seen; see the dataset page",
    paper={
        "knowledge questions (I)": 129,
        "questions on clinical notes (II)": 101,
        "questions on images (III)": 203,
        "open questions on cases (IV to VII)": 4 * 203,
    },
    expected=tuple(
        ExpectedCounts((split,), count)
        for split, count in {"t1": 129, "t2": 101, "t3": 203, "open": 4 * 203, "t8": 203}.items()
    ),
    open_split=BonesJointsReader,
    images_optional=True,
    notes=(
        "The paper's 1,245 questions are Tasks I to VII; Task VIII is made from the cases of Task IV.",
        "The paper counts 42 diseases and does not list them: one that its text does not name is kept as 'unlisted'.",
        "A text that names more figures than there are images is kept (figures, image_count).",
        REVISION_NOT_KNOWN,
    ),
    strata=("site", "disease"),
)

SOURCES = (BONES_JOINTS,)
