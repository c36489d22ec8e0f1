"""Bones and Joints: the eight tasks along the pathway of a case, of one model or of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import BY_WORDS, Sketch, chance_of_options
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS, marks
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.bones_joints.forms import Task, forms
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, REPORTS
from lmms_medtasks.task_configs.bones_joints.report_groups import SHOWN, find_group, task_groups
from lmms_medtasks.task_configs.bones_joints.report_published import FOLDER

_SAID = {AS_PUBLISHED: "with images", REPORTS: "with their reports in place of images"}
_BEST = "with images, else with reports"


def _accuracy(task: Task) -> CellFunction:
    """Under the condition that the row says; a text-only task has one."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        conditions = [each for each in SHOWN if row.labels[1] in (_SAID[each], _BEST)]
        group = find_group(task_groups(source), task.key, *(conditions if task.images else SHOWN))
        return group.accuracy(source) if group else NONE

    return cell


def _chance(task: Task) -> CellFunction:
    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        group = find_group(task_groups(source), task.key, AS_PUBLISHED)
        share = chance_of_options(group.rows) if group and not group.judging else None
        return Cell(None if share is None else 100 * share)

    return cell


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    """Of one model a row for images, and one for reports where it was asked with them; of several a row each."""
    asked = {each.condition for each in task_groups(sources[0])}
    for source in sources:
        alone = [_SAID[each] for each in SHOWN if each == AS_PUBLISHED or each in asked]
        for said in alone if len(sources) == 1 else [_BEST]:
            yield Row((source.name, said), source=source)
    yield Row(
        ("uniform guessing", ""), kind="counts", estimates={each.numeral: _chance(each) for each in forms().values()}
    )


_TASKS = [each.numeral for each in forms().values()]
_ABOUT = (
    f"From knowledge to reasoning, in the order of a case. Bars: {LEVEL} intervals. A task without a point was not "
    "asked or not judged. Hollow: as the paper prints it, on its own data; language models read reports there."
)


def _about(sources: Sequence[Source]) -> str:
    """What is drawn, and what limits the judged numbers, as the marks in the tables have it."""
    used = marks(*(each.judging for source in sources for each in task_groups(source)))
    limits = "".join(f" {meaning}" for mark, meaning in MEANINGS.items() if mark in used)
    return f"{_ABOUT}{f' From the diagnosis on (IV to VIII):{limits}' if limits else ''}"


PATHWAY = Chart(
    "points",
    "pathway",
    "Accuracy in the eight tasks",
    _about,
    Table(
        "pathway",
        "Accuracy in the eight tasks",
        ("model", "asked"),
        _rows,
        tuple(Column(each.numeral, _accuracy(each)) for each in forms().values()),
        published=Published(FOLDER, labels=("model", "imaging")),
    ),
    _TASKS,
    series="asked",
    heads={each.numeral: f"{each.numeral} {each.name}" for each in forms().values()},
    turned=True,
    axis=("correct, percent",),
    numbers="main",
)
PATHWAY_OF_MODELS = replace(PATHWAY, series="model", numbers="models")
_SKETCH = replace(PATHWAY, kind="plane", heads={}, where={"asked": _SAID[AS_PUBLISHED]}, turned=False)


def sketch(source: Source) -> Sketch:
    """The tasks along the pathway of one model, as the paper asks them."""
    known = [each for each in _SKETCH.marks([source]) if each.kind == "run" and each.y.value is not None]
    pale = f"; pale: {BY_WORDS}" if any(LEXICAL in each.y.mark for each in known) else ""
    said = f"correct (%), tasks I to VIII, {len(known)} with an accuracy; dashed: guessing; hollow: published{pale}"
    return Sketch(_SKETCH.small(source), said)
