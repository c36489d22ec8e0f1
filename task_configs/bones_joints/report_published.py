"""Bones and Joints: what models were asked, and their accuracy in the eight tasks, in a table and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.report.about import own
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.findings import BY_WORDS, Sketch, chance_of_options
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS, marks, protocols
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import extent, named, sources_by_model
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, CONDITIONS, REPORTS
from lmms_medtasks.task_configs.bones_joints.source_forms import Task, forms

INTERVALS = f"In brackets: {LEVEL} intervals over the images of cases (docs/intervals_and_tests.md)."
IMAGING = {"images": AS_PUBLISHED, "reports": REPORTS}
"""What stood for a case's imaging in Tasks IV to VII, and the condition under which we ask so."""
SHOWN = tuple(IMAGING.values())
"""The conditions under which a task compares with the paper's."""
IMAGING_HEAD = "imaging in IV to VII"


# --- What was asked ---------------------------------------------------------------------------------------------------


def sources(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """What was asked, by model: a task once under each condition."""
    found = sources_by_model(suite, runs, table, options, once=("paper_task", "condition"))
    # A source has tasks under several conditions: none of them is its own.
    return named([replace(each, condition="") for each in found])


def asked(source: Source) -> list[tuple[Task, str]]:
    """The tasks that a model was asked, each with its condition: Task I first, as the paper asks first."""
    found = set(zip(source.rows.column("paper_task"), source.rows.column("condition"), strict=True))
    return [(task, each) for key, task in forms().items() for each in CONDITIONS if (key, each) in found]


def where_asked(task: Task, condition: str) -> Where:
    """The restriction of a source's rows to a task under a condition."""
    return {"paper_task": task.key, "condition": condition}


def label_of(task: Task, condition: str) -> str:
    """``IV, reports``; a task as the paper has it by its numeral alone."""
    return task.numeral if condition == AS_PUBLISHED else f"{task.numeral}, {condition}"


def judged_marks(rows: Samples) -> str:
    """What limits a number over these questions where they were judged, as marks."""
    return marks(*protocols(rows).values())


# --- Accuracy in the eight tasks --------------------------------------------------------------------------------------


_ACCURACIES = {(key, each): Mean({"paper_task": key, "condition": each}) for key in forms() for each in SHOWN}
_GUESSES = {
    task.numeral: Count({"paper_task": key, "condition": AS_PUBLISHED}, function=chance_of_options)
    for key, task in forms().items()
}


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    """A row for each source and kind of imaging that it was asked with, and one for guessing."""
    for source in sources:
        conditions = {each for task, each in asked(source) if task.images}
        for imaging, condition in IMAGING.items():
            if condition in conditions or (condition == AS_PUBLISHED and REPORTS not in conditions):
                estimates = {
                    task.numeral: _ACCURACIES[key, condition if task.images else AS_PUBLISHED]
                    for key, task in forms().items()
                }
                yield Row((source.name, str(own(extent(source)).value), imaging), estimates=estimates, source=source)
    yield Row(("uniform guessing", "arithmetic", ""), kind="counts", estimates=_GUESSES)


PUBLISHED_TABLE = Table(
    "main",
    "Accuracy in the eight tasks",
    ("model", "source", IMAGING_HEAD),
    _rows,
    (
        *(Column(task.numeral, mark=judged_marks) for task in forms().values()),
        Column("in the paper", unit="text"),
    ),
    (INTERVALS,),
    Published(Path(__file__).parent, labels=("model", "published", "imaging")),
    MEANINGS,
)


def _about(sources: Sequence[Source]) -> str:
    """What is drawn, and what limits the judged numbers, as the marks in the table have it."""
    used = {mark for source in sources for mark in judged_marks(source.rows)}
    limits = "".join(f" {meaning}" for mark, meaning in MEANINGS.items() if mark in used)
    return (
        f"From knowledge to reasoning, in the order of a case. Bars: {LEVEL} intervals. A task without a point was not "
        "asked or not judged. Hollow: as the paper prints it, on its own data; language models read reports there."
        f"{f' From the diagnosis on (IV to VIII):{limits}' if limits else ''}"
    )


PATHWAY = Chart(
    "points",
    "pathway",
    "Accuracy in the eight tasks",
    _about,
    PUBLISHED_TABLE,
    [task.numeral for task in forms().values()],
    series=IMAGING_HEAD,
    heads={
        **{task.numeral: f"{task.numeral} {task.name}" for task in forms().values()},
        "images": "with images",
        "reports": "with their reports in place of images",
    },
    turned=True,
    axis=("correct, percent",),
)
PATHWAY_OF_MODELS = replace(PATHWAY, series="model")
_SKETCH = replace(PATHWAY, kind="plane", heads={}, where={IMAGING_HEAD: "images"}, turned=False)


def sketch(source: Source) -> Sketch:
    """The tasks along the pathway of one model, as the paper asks them."""
    known = [mark for mark in _SKETCH.marks([source]) if mark.kind == "run" and mark.y.value is not None]
    pale = f"; pale: {BY_WORDS}" if any(LEXICAL in each.y.mark for each in known) else ""
    said = f"correct (%), tasks I to VIII, {len(known)} with an accuracy; dashed: guessing; hollow: published{pale}"
    return Sketch(_SKETCH.small(source), said)
