"""Bones and Joints: the tasks of each model, and their accuracy, in a table and a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.report.about import own_results_cell
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.findings import BY_WORDS, FindingChart, chance_of_options
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS, judging_marks, judgings_by_protocol
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.suite_report import results_extent, sources_by_model, with_distinct_names
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, TableSpec
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, CONDITIONS, REPORTS
from lmms_medtasks.task_configs.bones_joints.source_forms import PathwayTask, task_forms

INTERVALS = f"In brackets: {LEVEL} intervals over the images of cases (docs/intervals_and_tests.md)."
IMAGING = {"images": AS_PUBLISHED, "reports": REPORTS}
"""What stood for a case's imaging in Tasks IV to VII, and the condition under which we ask so."""
SHOWN = tuple(IMAGING.values())
"""The conditions under which a task compares with the paper's."""
IMAGING_HEAD = "imaging in IV to VII"


def results_by_condition(
    suite: Suite, runs: Sequence[ResultFile], table: QuestionTable, options: ReportOptions
) -> list[ModelResults]:
    """The results by model: a task once under each condition."""
    by_model = sources_by_model(suite, runs, table, options, once=("paper_task", "condition"))
    # Results have tasks under several conditions: none of them is that of the whole.
    return with_distinct_names([replace(results, condition="") for results in by_model])


def asked_imaging(source: ModelResults) -> list[tuple[PathwayTask, str]]:
    """The tasks that a model was asked with their conditions, the paper's condition first."""
    asked = set(zip(source.rows.column("paper_task"), source.rows.column("condition"), strict=True))
    return [(task, value) for key, task in task_forms().items() for value in CONDITIONS if (key, value) in asked]


def where_asked(task: PathwayTask, condition: str) -> Where:
    """The restriction of a source's rows to a task under a condition."""
    return {"paper_task": task.key, "condition": condition}


def label_of(task: PathwayTask, condition: str) -> str:
    """``IV, reports``; the numeral alone under the paper's condition."""
    return task.numeral if condition == AS_PUBLISHED else f"{task.numeral}, {condition}"


def judged_marks(rows: QuestionTable) -> str:
    """The marks of a number over these questions if they were judged."""
    return judging_marks(*judgings_by_protocol(rows).values())


_ACCURACIES = {
    (key, condition): Mean({"paper_task": key, "condition": condition}) for key in task_forms() for condition in SHOWN
}
_GUESSES = {
    task.numeral: Count({"paper_task": key, "condition": AS_PUBLISHED}, function=chance_of_options)
    for key, task in task_forms().items()
}


def _published_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """A row for each source and kind of imaging that it was asked with, and one for guessing."""
    for source in sources:
        conditions = {condition for task, condition in asked_imaging(source) if task.images}
        for imaging, condition in IMAGING.items():
            if condition in conditions or (condition == AS_PUBLISHED and REPORTS not in conditions):
                estimates = {
                    task.numeral: _ACCURACIES[key, condition if task.images else AS_PUBLISHED]
                    for key, task in task_forms().items()
                }
                labels = (source.name, str(own_results_cell(results_extent(source)).value), imaging)
                yield RowSpec(labels, estimates=estimates, source=source)
    yield RowSpec(("uniform guessing", "arithmetic", ""), kind="counts", estimates=_GUESSES, estimates_only=True)


PUBLISHED_TABLE = TableSpec(
    "main",
    "Accuracy in the eight tasks",
    ("model", "source", IMAGING_HEAD),
    _published_rows,
    (
        *(ColumnSpec(task.numeral, mark=judged_marks) for task in task_forms().values()),
        ColumnSpec("in the paper", unit="text"),
    ),
    (INTERVALS,),
    PublishedRowsSpec(Path(__file__).parent, labels=("model", "published", "imaging")),
    MEANINGS,
)


def _chart_caption(sources: Sequence[ModelResults]) -> str:
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
    _chart_caption,
    PUBLISHED_TABLE,
    [task.numeral for task in task_forms().values()],
    series=IMAGING_HEAD,
    heads={
        **{task.numeral: f"{task.numeral} {task.name}" for task in task_forms().values()},
        "images": "with images",
        "reports": "with their reports in place of images",
    },
    turned=True,
    axis=("correct, percent",),
)
PATHWAY_OF_MODELS = replace(PATHWAY, series="model")
_SKETCH = replace(PATHWAY, kind="plane", heads={}, where={IMAGING_HEAD: "images"}, turned=False)


def pathway_chart(source: ModelResults) -> FindingChart:
    """The tasks along the pathway of one model, as the paper asks them."""
    known = [mark for mark in _SKETCH.marks([source]) if mark.kind == "run" and mark.y.value is not None]
    pale = f"; pale: {BY_WORDS}" if any(LEXICAL in mark.y.mark for mark in known) else ""
    caption = f"correct (%), tasks I to VIII, {len(known)} with an accuracy; dashed: guessing; hollow: published{pale}"
    return FindingChart(_SKETCH.small(source), caption)
