"""Bones and Joints: its report. Nothing here can move a number."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.document import Cell, ReportNotice
from lmms_medtasks.report.findings import Number, chance_of_options
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import published_span
from lmms_medtasks.report.shared_sections import rotation_view
from lmms_medtasks.report.suite_report import SuiteReportSpec, question_ids
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, SectionSpec, TableSpec, row_count
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.common_metrics import READINGS, outcome_count
from lmms_medtasks.suites.estimates import Contrast, Count, MacroContrast, Mean, Unit, Units
from lmms_medtasks.suites.judged_measures import bounded_mean, judgement_counts
from lmms_medtasks.task_configs.bones_joints import measures, report_paper
from lmms_medtasks.task_configs.bones_joints import report_published as published
from lmms_medtasks.task_configs.bones_joints.source_forms import forms_table, site_names, task_forms

STRUCTURED, TEXT_ONLY, OPEN = ("t1", "t2", "t3"), ("t1", "t2"), ("t4", "t5", "t6", "t7")
"""Tasks I to III, multiple choice; those of them without images; Tasks IV to VII, open questions."""


# --- Tasks ------------------------------------------------------------------------------------------------------------
def _judgement_count(index: int) -> Count:
    """Judgements obtained (0) or requested (1); None if the questions are not judged."""
    return Count(function=lambda rows: judgement_counts(rows, "accuracy")[index] if any(rows.values("judge")) else None)


def _asked_once(sources: Sequence[ModelResults]) -> list[RowSpec]:
    """A row a task and condition; copies with rotated options have a section of their own."""
    return [
        RowSpec((f"{published.label_of(task, condition)}: {task.name}",), published.where_asked(task, condition))
        for task, condition in published.asked_imaging(sources[0])
        if condition != measures.ROTATED
    ]


TASKS = TableSpec(
    "tasks",
    "Accuracy by task",
    ("task",),
    _asked_once,
    (
        ColumnSpec("questions", row_count, "count"),
        ColumnSpec("accuracy", measures.ACCURACY, mark=published.judged_marks),
        ColumnSpec("Unclear", Mean(measure="unclear_rate"), bare=True),
        ColumnSpec("all judgements agree", Mean(measure="unanimous"), bare=True),
        ColumnSpec("steps found", Mean(measure="steps_found"), bare=True),
        ColumnSpec("n judged", _judgement_count(0), "count"),
        ColumnSpec("n", _judgement_count(1), "count"),
        ColumnSpec("missing as wrong", bounded_mean("accuracy", "low")),
        ColumnSpec("missing as correct", bounded_mean("accuracy", "high")),
        *(ColumnSpec(name, outcome_count(name), "count") for name in READINGS),
    ),
    (
        published.INTERVALS,
        "Open answers: mean over the judgements (three, or one by a judge at temperature 0), Correct 1, Incorrect and "
        "Unclear 0. Task VIII: 1 where the answer names the contradiction. Steps found: of the experts' chain, Tasks V "
        "and VII.",
        "Unreadable (no one option), cut (off before an answer), empty and refused replies count as wrong; what a "
        "judged refusal is worth the judge says. Failed requests count as nothing.",
    ),
    marks=judged_tables.MEANINGS,
)


def _contradiction_rows(sources: Sequence[ModelResults]) -> list[RowSpec]:
    rows = [
        RowSpec((published.label_of(task, condition),), published.where_asked(task, condition))
        for task, condition in published.asked_imaging(sources[0])
        if task.form == "contradiction"
    ]
    return [row for row in rows if len(sources[0].rows.where(row.where).scored("accuracy"))]


CONTRADICTIONS = TableSpec(
    "contradictions",
    "What became of contradictions",
    ("task",),
    _contradiction_rows,
    (
        ColumnSpec("named", measures.ACCURACY, mark=published.judged_marks),
        ColumnSpec("of these: went on all the same", Mean(measure="went_on")),
        ColumnSpec("missed", Mean(measure="missed")),
        ColumnSpec("objected to something else", Mean(measure="objected_otherwise")),
        ColumnSpec("Unclear", Mean(measure="unclear_rate")),
    ),
    ("Shares of the judgements.", published.INTERVALS),
    marks=judged_tables.MEANINGS,
)


# --- Multiple choice and open answers ---------------------------------------------------------------------------------
def _format_gap(structured: Sequence[str], imaging: str) -> MacroContrast:
    """Multiple choice less open answers: each side is the mean over its tasks' accuracies, all tasks weighing alike."""
    return MacroContrast(
        first=tuple({"paper_task": task, "condition": published.IMAGING[imaging]} for task in OPEN),
        second=tuple({"paper_task": task, "condition": measures.AS_PUBLISHED} for task in structured),
    )


GAP_ESTIMATES: Mapping[tuple[str, str], MacroContrast] = {
    ("I to III less IV to VII", "images"): _format_gap(STRUCTURED, "images"),
    ("I and II less IV to VII", "images"): _format_gap(TEXT_ONLY, "images"),
    # With reports only the texts of Tasks I and II are of the same kind.
    ("I and II less IV to VII", "reports"): _format_gap(TEXT_ONLY, "reports"),
}


def _gap_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    for (name, imaging), estimate in GAP_ESTIMATES.items():
        if sources[0].intervals(estimate):
            judged = sources[0].rows.where({"paper_task": OPEN, "condition": published.IMAGING[imaging]})
            label = Cell(name, mark=published.judged_marks(judged))
            estimates = dict.fromkeys(("multiple choice", "open answers", "gap"), estimate)
            yield RowSpec((label, imaging), estimates=estimates)


GAPS = TableSpec(
    "gap",
    "Multiple choice against open answers",
    ("gap", "imaging in IV to VII"),
    _gap_rows,
    (
        ColumnSpec("multiple choice", statistic="second"),
        ColumnSpec("open answers", statistic="first"),
        ColumnSpec("gap", unit="points"),
    ),
    (
        f"Each side is the mean of its tasks' accuracies, all tasks weighing alike. In brackets: {LEVEL} intervals "
        "over the images of cases, which Tasks III to VII share. The paper: above 90 % on multiple choice in text, "
        "below 60 % on open questions.",
    ),
    marks=judged_tables.MEANINGS,
)


# --- Does it look -----------------------------------------------------------------------------------------------------
def _read_twice(rows: QuestionTable, condition: str) -> list[tuple[str, str, str]]:
    """The case, and the letters read with the images and under ``condition``, where both were read."""
    shown = rows.where({"paper_task": "t3", "condition": measures.AS_PUBLISHED})
    shown, changed = shown.paired(rows.where({"paper_task": "t3", "condition": condition}), ("id",))
    columns = (shown.column("case_id"), shown.column("trials"), changed.column("trials"))
    answers = [(case, first[0], second[0]) for case, first, second in zip(*columns, strict=True)]
    return [answer for answer in answers if len(answer[1]) == len(answer[2]) == 1]


def _unchanged_answers(rows: QuestionTable, condition: str) -> list[Unit]:
    return [(case, float(shown == changed)) for case, shown, changed in _read_twice(rows, condition)]


def _agreement_by_chance(rows: QuestionTable, condition: str) -> float | None:
    """The expected share of equal answers of two independent series with these frequencies."""
    answers = _read_twice(rows, condition)
    shown, changed = Counter(answer[1] for answer in answers), Counter(answer[2] for answer in answers)
    return sum(shown[letter] * changed[letter] for letter in sorted(shown)) / len(answers) ** 2 if answers else None


_CHANGED_IMAGES = {"taken away": measures.NO_IMAGE, "swapped": measures.SWAPPED}
SAME_ANSWERS = {
    change: Units(units=functools.partial(_unchanged_answers, condition=condition))
    for change, condition in _CHANGED_IMAGES.items()
}
"""The text-shortcut rate of Task III, by the change of its images: 1 is a model that does not look."""

_SHORTCUT_ROWS = tuple(
    RowSpec(
        (change,),
        estimates={
            **dict.fromkeys(("questions", "same answer"), SAME_ANSWERS[change]),
            "by chance": Count(function=functools.partial(_agreement_by_chance, condition=condition)),
        },
    )
    for change, condition in _CHANGED_IMAGES.items()
)
SHORTCUT = TableSpec(
    "shortcut",
    "Text-shortcut rate",
    ("images",),
    lambda sources: [row for row in _SHORTCUT_ROWS if sources[0].interval(SAME_ANSWERS[str(row.labels[0])]).n],
    (ColumnSpec("questions", unit="n"), ColumnSpec("same answer"), ColumnSpec("by chance")),
    (
        "Task III with its images against the same questions with the images taken away, or swapped for another "
        "case's, where both answers could be read. A model that does not look at the images has 100 %. By chance: what "
        f"two independent series of answers with these frequencies would give. In brackets: {LEVEL} interval over "
        "cases. The measure is ours; the paper describes the tendency.",
    ),
)
_BENEFIT = Contrast(first={"condition": measures.NO_IMAGE}, second={"condition": measures.AS_PUBLISHED}, pair=("id",))
WITHOUT_IMAGES = TableSpec(
    "without_images",
    "With and without the images",
    ("task",),
    lambda sources: [
        RowSpec((f"{task.numeral}: {task.name}",), {"paper_task": task.key})
        for task in task_forms().values()
        if sources[0].interval(_BENEFIT, {"paper_task": task.key}, "second").n
    ],
    (
        ColumnSpec("questions", _BENEFIT, "n", statistic="second"),
        ColumnSpec("with images", _BENEFIT, statistic="second"),
        ColumnSpec("without", _BENEFIT, statistic="first"),
        ColumnSpec("the images' benefit", _BENEFIT, "points"),
    ),
    (
        "Over the questions that have a score both ways. Without: the case's text alone, no report in the images' "
        "place. Tasks I and II have no images. Of Task VIII: how often a contradiction is named that can't be seen.",
        f"{published.INTERVALS} Benefits are of the same questions both ways.",
    ),
)


# --- Sites ----------------------------------------------------------------------------------------------------------
def _site_columns(sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
    """The numbers of questions, and for each task and condition with a score a column: the accuracy at a row's site."""
    columns = [
        ColumnSpec("of the paper's questions", _paper_share),
        ColumnSpec("questions", row_count, "count", within={"condition": published.SHOWN}),
    ]
    for task, condition in published.asked_imaging(sources[0]):
        where, head = published.where_asked(task, condition), published.label_of(task, condition)
        if condition != measures.ROTATED and len(sources[0].rows.where(where).scored("accuracy")):
            columns.append(ColumnSpec(head, measures.ACCURACY, within=where, mark=published.judged_marks))
    return tuple(columns)


def _site_rows(sources: Sequence[ModelResults]) -> list[RowSpec]:
    others = sorted(set(sources[0].rows.column("site")) - {None, "", *site_names()})
    return [RowSpec((make_printable(site),), {"site": site}) for site in (*site_names(), *others)]


def _paper_share(source: ModelResults, row: RowSpec, rows: QuestionTable) -> Cell:
    site = forms_table()["sites"].get(row.where["site"])
    return Cell(float(site["paper"]) if site else None)


SITES = TableSpec(
    "sites",
    "Accuracy by site",
    ("site",),
    _site_rows,
    _site_columns,
    (published.INTERVALS, "Task VIII is by the site of the text."),
    marks=judged_tables.MEANINGS,
)


# --- What a reader must know ------------------------------------------------------------------------------------------
def judged_caveats(source: ModelResults) -> Iterator[ReportNotice]:
    """The judges and missing judgements, the tasks that were not asked, a model that does not look."""
    yield from judged_tables.judging_notices(judged_tables.by_task(source))
    shown = {task.key for task, condition in published.asked_imaging(source) if condition in published.SHOWN}
    missing = [task.numeral for key, task in task_forms().items() if key not in shown]
    if missing:
        yield ReportNotice("note", f"Not asked here: Task {', '.join(missing)}.")
    for change, estimate in SAME_ANSWERS.items():
        same = source.interval(estimate)
        if same.estimate == 1.0 and same.n > 1:
            yield ReportNotice(
                "warning",
                f"With the images of Task III {change} all {same.n} answers stayed the same, as those of a model that "
                "does not look.",
            )


def compared_caveats(sources: Sequence[ModelResults]) -> Iterator[ReportNotice]:
    """The limits of the judged numbers of several models, each once with the names of its models."""
    names_by_notice: dict[ReportNotice, list[str]] = {}
    for source in sources:
        for notice in judged_tables.judging_notices(judged_tables.judgings_by_protocol(source.rows)):
            names_by_notice.setdefault(notice, []).append(source.name)
    for notice, names in names_by_notice.items():
        yield ReportNotice(notice.kind, f"{', '.join(names)}: {notice.text}")


# --- The headline -----------------------------------------------------------------------------------------------------

# In the order in which they are chosen for the first screen.
_TITLES = {
    "t3": "reading the image (III)", "t4": "diagnosis (IV)", "t5": "diagnostic reasoning (V)", "t1": "knowledge (I)",
    "t2": "clinical notes (II)", "t6": "treatment (VI)", "t7": "treatment reasoning (VII)",
    "t8": "finding the contradiction (VIII)",
}  # fmt: skip


def _headline_numbers(source: ModelResults) -> Iterator[Number]:
    for key, title in _TITLES.items():
        where = {"paper_task": key, "condition": measures.AS_PUBLISHED}
        rows = source.rows.where(where)
        if len(rows.scored("accuracy")):
            chance = chance_of_options(rows)
            printed = published_span(measures.SUITE, str(rows.values("task")[0]), "accuracy")
            yield Number(title, f"at {title}", measures.ACCURACY, where, chance=chance, published=printed)


HEADLINE = Headline(
    _headline_numbers,
    "orthopedic cases",
    (
        BoardColumn("bones_joints_t3_image", "accuracy", "on reading the image"),
        BoardColumn("bones_joints*", "accuracy"),
        BoardColumn("bones_joints*", "*"),
        BoardColumn("bones_joints_t1_knowledge", "accuracy", "on questions of knowledge", heads=False),
        BoardColumn("bones_joints_t2_note", "accuracy", "on clinical notes", heads=False),
    ),
    most=3,
    sketch=published.pathway_chart,
)

REPORT = SuiteReportSpec(
    is_whole=True,
    headline=HEADLINE,
    views=(
        SectionSpec("main", "Beside the paper", (published.PUBLISHED_TABLE,), (published.PATHWAY,)),
        SectionSpec("tasks", "Tasks", (TASKS, CONTRADICTIONS)),
        SectionSpec("gap", "Multiple choice and open answers", (GAPS,)),
        SectionSpec("shortcut", "Does it look", (WITHOUT_IMAGES, SHORTCUT)),
        rotation_view(
            {"condition": measures.ROTATED},
            published.INTERVALS,
            groups={f"Task {task_forms()[key].numeral}": {"paper_task": key} for key in STRUCTURED},
        ),
        SectionSpec("sites", "Sites", (SITES,)),
        SectionSpec("judgements", "Judgements", judged_tables.judging_tables()),
    ),
    compared=(
        SectionSpec("main", "Beside the paper", (published.PUBLISHED_TABLE,), (published.PATHWAY_OF_MODELS,)),
        SectionSpec("paper-tests", "As the paper tests it", (report_paper.kruskal_table, report_paper.dunn_table)),
    ),
    caveats=judged_caveats,
    compared_caveats=compared_caveats,
    sources=published.results_by_condition,
    tests=lambda source: {
        f"Task {published.label_of(*asked)}": question_ids(source.rows.where(published.where_asked(*asked)))
        for asked in published.asked_imaging(source)
        if asked[1] in published.SHOWN
    },
)
