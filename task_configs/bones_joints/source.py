"""Bones and Joints: exam questions and 203 cases of orthopedics and sports medicine, in eight tasks.

The release was not seen: columns are found by the names that they may have (``bones_joints.yml``), and what is wanted
and not there is named together with what was found (:mod:`.bones_joints_layout`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.data.image_cells import ImageCells
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.sources import Candidate, DataSource, RejectedRow, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import say
from lmms_medtasks.task_configs.bones_joints.forms import disease_count, forms, sites
from lmms_medtasks.task_configs.bones_joints.source_layout import rows, survey
from lmms_medtasks.task_configs.bones_joints.source_rows import UNLISTED, Question


class BonesJointsReader:
    """Reads the rows of one split out of all tables of a release."""

    def __init__(self, release: Release, split: Split) -> None:
        """Look the tables through; ``UserError`` if there are none, or they are not as expected."""
        self._release, self._split = release, split
        self._tasks = [task for task in forms().values() if task.split == split.name]
        every = survey(release)  # type: ignore[arg-type]
        self._tables = [table for table in every if any(task.key in table.tasks for task in self._tasks)]
        if not self._tables:
            there = Counter[str]()
            for table in every:
                there.update(table.tasks)
            raise UserError(
                f"The release has no row of {', '.join(task.title for task in self._tasks)}. Its tables "
                f"({', '.join(table.name for table in every) or 'none'}) have rows of: {', '.join(there) or 'nothing'}."
            )
        self._cells = ImageCells(release)
        self.records = sum(table.tasks.get(task.key, 0) for table in self._tables for task in self._tasks)
        self.notes: Mapping[str, Any] = self._notes(_Seen())

    def _notes(self, seen: _Seen) -> Mapping[str, Any]:
        """What was found; complete when all candidates were read."""
        return {
            "records": self.records,
            "paper": sum(task.paper for task in self._tasks),
            "layout": {table.name: table.layout for table in self._tables},
            "columns": {table.name: dict(table.used) for table in self._tables},
            "columns_unused": {table.name: list(table.unused) for table in self._tables},
            **seen.to_json(),
        }

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        """For each question with images that are not there: the paths in its cells."""
        for table in self._tables:
            for row in rows(self._release, table):
                asked = 0 if row is None else sum(task.key in table.tasks_of(row) for task in self._tasks)
                if row is None or not asked:
                    continue
                cells = [row.get(name) for name in table.images]
                if missing := tuple(self._cells.missing(cells, table.name)):
                    yield from [missing] * asked

    def candidates(self) -> Iterator[Candidate]:
        """Every question as a document without its ``data`` field, or with the reason why it is none."""
        seen, number = _Seen(), 0
        for table in self._tables:
            for row in rows(self._release, table):
                wanted = table.tasks_of(row) if row is not None else ()
                number += 1
                if row is None or not (wanted or table.layout != "task column"):
                    reason = "it has another number of cells than the header" if row is None else "it names no task"
                    yield Candidate(number, "", reason=reason)
                    continue
                for task in self._tasks:
                    if task.key in wanted:
                        yield self._candidate(Question(table, row, task, number), seen)
        self.notes = self._notes(seen)
        seen.tell(self._split.name)

    def _candidate(self, asked: Question, seen: _Seen) -> Candidate:
        try:
            document = asked.document(self._cells)
        except RejectedRow as reason:
            return Candidate(asked.number, asked.name, reason=str(reason))
        seen.add(document)
        return Candidate(asked.number, asked.name, document)


_COUNTED: Mapping[str, str] = {
    "disease_unlisted": "with a disease that the paper's text does not name",
    "site_unlisted": "of a site that is none of the seven",
    "text_names_more_images": "whose text names more figures than there are images",
    "without_report": "without a radiology report",
}


class _Seen:
    """What of a split's documents is worth a note."""

    def __init__(self) -> None:
        self._sites: Counter[str] = Counter()
        self._diseases: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def add(self, document: Mapping[str, Any]) -> None:
        self._sites[document["site"] or "not given"] += 1
        self._diseases[document["disease"] or "not given"] += 1
        self._counts["disease_unlisted"] += document["disease_listed"] == UNLISTED
        self._counts["site_unlisted"] += bool(document["site"]) and document["site"] not in sites()
        self._counts["text_names_more_images"] += document["figures"] > document["image_count"]
        self._counts["without_report"] += forms()[document["task"]].split == "open" and not document["report"]

    def tell(self, split: str) -> None:
        """Say what was counted, if anything was."""
        counts = "; ".join(f"{self._counts[name]:,} {said}" for name, said in _COUNTED.items() if self._counts[name])
        if counts:
            say(f"Bones and Joints, {split}: of the questions kept, {counts} (all counts are in the manifest).")

    def to_json(self) -> dict[str, Any]:
        return {
            "sites": dict(self._sites.most_common()),
            "diseases": dict(self._diseases.most_common()),
            "diseases_paper": disease_count(),
            **{name: self._counts[name] for name in _COUNTED},
        }


@dataclass(frozen=True)
class TablesSplit(Split):
    """A split whose questions may be in any table of the release: its files are found by what they hold."""

    def files_in(self, release: Release) -> tuple[str, ...] | None:
        """The tables with questions of this split, None if there are none; raises UserError as ``survey`` does."""
        own = {task.key for task in forms().values() if task.split == self.name}
        return tuple(table.name for table in survey(release)  # type: ignore[arg-type]
                     if own & set(table.tasks)) or None  # fmt: skip

    def wanted(self) -> str:
        """What it can be made from, for messages."""
        titles = ", ".join(task.title for task in forms().values() if task.split == self.name)
        return f"a table (parquet, CSV, TSV, JSON, JSON lines) with rows of {titles}"


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
    expected=(
        Expected(("t1",), 129),
        Expected(("t2",), 101),
        Expected(("t3",), 203),
        Expected(("open",), 4 * 203),
        Expected(("t8",), 203),
    ),
    open_split=BonesJointsReader,
    images_optional=True,
    notes=(
        "The paper's 1,245 questions are Tasks I to VII; Task VIII is made from the cases of Task IV.",
        "The paper counts 42 diseases and does not list them: one that its text does not name is kept as 'unlisted'.",
        "A text that names more figures than there are images is kept and counted (text_names_more_images).",
        "The revision hash of the hub's dataset was not known when this was written, so 'main' is asked for; the "
        "commit that it stood for is recorded with each split.",
    ),
    strata=("site", "disease"),
)

SOURCES = (BONES_JOINTS,)
