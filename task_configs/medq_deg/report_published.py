"""MedQ-Deg: task sets, tables by groups of questions, and the paper's Tables 2, 3 and 6 with a row for each source.

A task set is the tasks of a run on the same questions at up to three levels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lmms_medtasks import degradations
from lmms_medtasks.report.about import own_results_cell, run_extent
from lmms_medtasks.report.cells import negate_estimate, percent_cell
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.shared_sections import describe_image_sizes
from lmms_medtasks.report.suite_report import with_distinct_names
from lmms_medtasks.report.views import CellFunction, ColumnSpec, ModelResults, RowSpec, TableSpec, rows_by
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import make_printable, model_name, task_settings
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.suites.estimates import Count, Estimate, Macro, Mean
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.medq_deg import measures
from lmms_medtasks.task_configs.medq_deg.source import category_keys, mid_capability_names

FOLDER = Path(__file__).parent

SEVERITY = {0: "clean", 1: "mild", 2: "severe"}
_RELEASE = f"{measures.SUITE_NAME}_release"
_STEMS = (measures.SUITE_NAME, f"{measures.SUITE_NAME}_calib", _RELEASE)


FAMILIES = {"simulated": "our degradations", "release": "released images"}
"""The names of the two families of degraded images in reports."""


class Setup(NamedTuple):
    """The setup of a task set, which must agree for two models to be compared.

    ``family``: "simulated", degraded by us when asked, or "release", the authors' own degraded images. ``variant``:
    another condition ("" for the published benchmark). ``trials``: T, the most of any question.
    """

    family: str
    variant: str
    trials: int

    @property
    def label(self) -> str:
        """``our degradations, 3 trials``."""
        trials = "1 trial" if self.trials == 1 else f"{self.trials} trials"
        return ", ".join(filter(None, [FAMILIES[self.family], self.variant, trials]))


def setup_of(source: ModelResults) -> Setup:
    """The setup of a source."""
    run, tasks = source.asked[0]
    # The clean level of the release's set may be from a task on our degradations.
    rendered = [task for task in tasks if task_settings(run, task).get("rendered")]
    stem = measures.task_set((rendered or list(tasks))[0])
    variant = measures.OWN_CONDITIONS.get(stem) or ("" if stem in _STEMS else make_printable(stem))
    trials = max(map(len, source.rows.column("trials")), default=0)
    return Setup("release" if rendered else "simulated", variant, trials)


def asks_otherwise(source: ModelResults) -> bool:
    """Whether these are the clean questions without images, or with rotated options, which the paper does not have."""
    return setup_of(source).variant in (measures.NO_IMAGE, measures.ROTATED)


def task_sets(
    suite: Suite, runs: Sequence[ResultFile], table: QuestionTable, options: ReportOptions
) -> list[ModelResults]:
    """The task sets of the runs.

    Tasks of one level each (``medq_deg_l0``, ``medq_deg_l1`` …) make one set if their T is the same; a task of all
    levels is a separate set. If a run has two sets of one setup, their conditions name their tasks. Clean questions
    asked with the release's images are the L0 of those too, and not a set if nothing else was asked.
    """
    sets = []
    for number, run in enumerate(runs):
        of_run = table.where({"run": number})
        for task_by_level in _tasks_by_level(of_run):
            asked = zip(of_run.column("task"), of_run.column("severity"), strict=True)
            rows = of_run.take(np.array([task_by_level.get(level) == task for task, level in asked], dtype=bool))
            tasks = tuple(dict.fromkeys(task_by_level[level] for level in measures.LEVELS if level in task_by_level))
            results = ModelResults("", rows, table, options.resamples, ((run, tasks),))
            sets.append(replace(results, condition=setup_of(results).label))
    counts = Counter((results.run.path, results.condition) for results in sets)
    repeated = {condition for (_, condition), count in counts.items() if count > 1}
    for index, results in enumerate(sets):
        if results.condition in repeated:
            first, last = results.tasks[0], results.tasks[-1]
            tasks_text = first if first == last else f"{first} to {last.removeprefix('medq_deg_')}"
            sets[index] = replace(results, condition=f"{results.condition}, {tasks_text}")
    return with_distinct_names(sets)


def _tasks_by_level(rows: QuestionTable) -> list[dict[int, str]]:
    """Level -> task, for each task set of a run."""
    stems: dict[tuple[str, int], dict[int, str]] = {}
    whole: list[dict[int, str]] = []
    for (task,), of_task in rows.by(["task"], key=lambda values: 0).items():
        levels = dict.fromkeys(sorted(of_task.values("severity")), task)
        if measures.task_set(task) == task:
            whole.append(levels)
        else:
            stems.setdefault((measures.task_set(task), max(map(len, of_task.column("trials")))), {}).update(levels)
    only_lent = set()
    for (stem, trials), levels in stems.items():
        clean = stems.get((measures.SUITE_NAME, trials), {})
        if stem == _RELEASE and 0 in clean:
            levels.setdefault(0, clean[0])
            if set(clean) == {0}:
                only_lent.add((measures.SUITE_NAME, trials))
    return [*(levels for key, levels in stems.items() if key not in only_lent), *whole]


def requested_levels(source: ModelResults) -> list[int]:
    """The levels that were asked, in their order."""
    return sorted(set(source.rows.column("severity")))


def degraded_levels(source: ModelResults) -> tuple[int, ...]:
    """The levels L1 and L2 that were asked."""
    return tuple(level for level in requested_levels(source) if level)


def counts_by_level(function: Callable[[QuestionTable], float | int | None]) -> dict[int, Count]:
    """A count over each level's questions."""
    return {level: Count({"severity": level}, function=function) for level in measures.LEVELS}


def level_rows(
    columns: Mapping[str, Mapping[int, Estimate | CellFunction]],
) -> Callable[[Sequence[ModelResults]], list[RowSpec]]:
    """A row for each level that the first source was asked. ``columns``: column -> level -> estimate, if any."""
    return lambda sources: [
        RowSpec((f"L{level}",), estimates={name: of_level.get(level) for name, of_level in columns.items()})
        for level in requested_levels(sources[0])
    ]


# --- Groups of questions ----------------------------------------------------------------------------------------------
INTERVALS = f"In brackets: {LEVEL} interval over images; of a change between the same images."
PAIRED = (
    "L0 is the clean form of the same questions, each counted as often as it has degraded forms; a drop is positive "
    "where accuracy fell. Questions without a clean form here are left out of both."
)

_SIGNED = (-1.0, 1.0)
MEAN, CLEAN_MEAN, CHANGE = Mean(), Mean(measure="before"), Mean(measure="change", bounds=_SIGNED)
"""Accuracy of a group of questions; for pairs the accuracy of their clean forms, and its change."""

CLEAN_MACROS = {tag: Macro(measure="before", groups=groups, skip_empty=True) for tag, groups in measures.GROUPS.items()}
CHANGE_MACROS = {
    tag: Macro(measure="change", groups=groups, skip_empty=True, bounds=_SIGNED)
    for tag, groups in measures.GROUPS.items()
}
_AGAINST_CLEAN = (
    ColumnSpec("questions", MEAN, "n", within=measures.DEGRADED),
    ColumnSpec("accuracy", MEAN, within=measures.DEGRADED),
    ColumnSpec("accuracy at L0", CLEAN_MEAN, over=measures.clean_degraded_pairs),
    ColumnSpec("drop", CHANGE, "drop", over=measures.clean_degraded_pairs),
)


# --- Capabilities and categories --------------------------------------------------------------------------------------
def _averaged_table(key: str, title: str, tag: str, head: str, titles: Mapping[str, str]) -> TableSpec:
    """A row for each of the paper's groups, and their average."""
    means: tuple[Estimate, ...] = (measures.MACROS[tag], measures.MACROS[tag], CLEAN_MACROS[tag], CHANGE_MACROS[tag])
    average = dict(zip((column.name for column in _AGAINST_CLEAN), means, strict=True))

    def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
        if len(sources[0].rows.where(measures.DEGRADED)):
            yield from (RowSpec((label,), {tag: name}) for name, label in titles.items())
            yield RowSpec(("Average over these",), kind="counts", estimates=average)

    def notes(sources: Sequence[ModelResults]) -> tuple[str, ...]:
        outside = len(sources[0].rows.where({**measures.DEGRADED, tag: None}))
        more = (f"{outside:,} questions are of no {head} of the paper's and in no row.",) if outside else ()
        return (*more, PAIRED, INTERVALS)

    def with_levels(sources: Sequence[ModelResults]) -> str:
        return f"{title}, {' and '.join(f'L{level}' for level in degraded_levels(sources[0]))}"

    return TableSpec(key, with_levels, (head,), rows, _AGAINST_CLEAN, notes)


CAPABILITIES = _averaged_table(
    "capabilities",
    "Accuracy by capability",
    "mid",
    "capability",
    {mid: f"{mid} ({short})" for mid, short in mid_capability_names().items()},
)
CATEGORIES = _averaged_table(
    "categories", "Accuracy by category of degradations", "category", "category", category_keys()
)


# --- Degradations -----------------------------------------------------------------------------------------------------
def _degraded_by(
    *tags: str, labels: Callable[..., tuple[str, ...]]
) -> Callable[[Sequence[ModelResults]], list[RowSpec]]:
    """A row for each combination of tags (one is the severity) of degraded questions, sorted by labels."""
    rows = rows_by(*tags, labels=labels)
    return lambda sources: sorted((row for row in rows(sources) if row.where["severity"]), key=lambda row: row.labels)


DEGRADATIONS = TableSpec(
    "degradations",
    "Accuracy by degradation",
    ("category", "degradation", "level"),
    _degraded_by(
        "degradation",
        "severity",
        labels=lambda name, level: (
            category_keys()[degradations.category(name)] if name else "",
            str(name),
            f"L{level}",
        ),
    ),
    _AGAINST_CLEAN,
    lambda sources: (PAIRED, INTERVALS, *describe_image_sizes(sources)),
    long=True,
    folded=True,
)
HEAT = TableSpec(
    "heatmap",
    "Accuracy by degradation and capability",
    ("level", "degradation", "capability"),
    _degraded_by(
        "severity", "degradation", "mid", labels=lambda level, name, mid: (f"L{level}", str(name), mid or "(unmapped)")
    ),
    _AGAINST_CLEAN,
    (PAIRED, INTERVALS),
    long=True,
    folded=True,
)


def degradation_heatmap(level: int, *, folded: bool = False) -> Chart:
    """The change from the clean questions by degradation and capability at a level; a row's end is the accuracy."""
    heads = {mid: mid.partition(" ")[0] for mid in mid_capability_names()}

    def rows(sources: Sequence[ModelResults]) -> list[RowSpec]:
        scored = sources[0].rows.where({"severity": level}).scored("accuracy")
        return [
            RowSpec((str(name).replace("_", " "),), {"severity": level, "degradation": name})
            for (name,) in scored.by(["degradation"])
        ]

    return Chart(
        "heat",
        f"heatmap_l{level}",
        f"Where it fails: degradation by capability, L{level} ({SEVERITY[level]})",
        "Change in points from the same questions clean; the stronger the colour, the more is lost. Sorted by the "
        "share still correct. Italic, fainter: fewer than five questions. A dot: none. Columns: "
        f"{', '.join(mid_capability_names())}.",
        TableSpec(
            "heatmap",
            "Change by degradation and capability",
            ("degradation",),
            rows,
            (
                *(
                    ColumnSpec(head, CHANGE, "points", 1, {"mid": mid}, over=measures.clean_degraded_pairs)
                    for mid, head in heads.items()
                ),
                ColumnSpec("correct (%)", MEAN, bare=True),
            ),
        ),
        tuple(heads.values()),
        total="correct (%)",
        sort="rising",
        shown=lambda sources: {0, level} <= set(requested_levels(sources[0])),
        folded=folded,
    )


# --- Modalities -------------------------------------------------------------------------------------------------------
def _level_columns(sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
    asked = requested_levels(sources[0])
    counts = (ColumnSpec(f"n L{level}", measures.ACCURACY[level], "n") for level in asked)
    return (*counts, *(ColumnSpec(f"L{level}", measures.ACCURACY[level]) for level in asked))


MODALITIES = TableSpec(
    "modalities",
    "Accuracy by modality",
    ("modality",),
    rows_by("modality", labels=lambda name: (make_printable(name),)),
    _level_columns,
    (INTERVALS,),
)
MODALITY_CHART = Chart(
    "ranges",
    "modalities",
    "Accuracy by modality",
    "Share correct in percent, lowest first.",
    replace(
        MODALITIES,
        columns=tuple(
            ColumnSpec(f"{SEVERITY[level]} (L{level})", measures.ACCURACY[level]) for level in measures.LEVELS
        ),
    ),
    (),
    sort="rising",
)


# --- Beside the paper -------------------------------------------------------------------------------------------------
PAPER_LEVELS = (1, 2)
ONE_LEVEL = "‡"


def _own_rows(sources: Sequence[ModelResults], reading: str = "") -> Iterator[RowSpec]:
    """A row for each source, with its difference from the published ones: ``reading``, or one degraded level."""
    for source in sources:
        levels = degraded_levels(source)
        if asks_otherwise(source) or not (reading or levels):
            continue
        name = source.name if len(sources) > 1 else model_name(source.run.content)
        one_level = "" if reading or len(levels) != 1 else f"L{levels[0]} only"
        differences = filter(None, (reading, one_level))
        mark = one_level and ONE_LEVEL
        yield RowSpec(
            (name, own_results_cell(run_extent(source.run, source.tasks), *differences, mark=mark)), source=source
        )


# --- Table 6 ----------------------------------------------------------------------------------------------------------
def _rows_by_reading(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """Two rows for each source: its replies read by the paper's rule, to compare with the paper, and by our rules."""
    readings = {
        "read by the paper's rule": (measures.ACCURACY_BY_RULE, measures.FALL_BY_RULE),
        "read as in our accuracy": (measures.ACCURACY, measures.FALL),
    }
    for rows in zip(*(_own_rows(sources, reading) for reading in readings), strict=True):
        for row, (accuracy, fall) in zip(rows, readings.values(), strict=True):
            cells = {f"L{level}": _bare_percent(mean) for level, mean in accuracy.items()}
            cells |= {f"L{level}-L0": _bare_percent(change) for level, change in fall.items()}
            yield replace(row, estimates=cells)


def _bare_percent(estimate: Estimate) -> CellFunction:
    return lambda source, row, rows: percent_cell(source.interval(estimate), bare=True)


TABLE_6 = TableSpec(
    "table6",
    "Table 6: accuracy across levels",
    ("model", "source"),
    _rows_by_reading,
    (
        *(ColumnSpec(f"L{level}", None, "", 2) for level in measures.LEVELS),
        *(ColumnSpec(f"L{level}-L0", None, "", 2) for level in PAPER_LEVELS),
    ),
    (
        "Percent; differences in points.",
        "Compare the row read by the paper's rule (a single letter, else the first capital letter of the reply) with "
        "the published rows. The other row is the same replies as our accuracy reads them: only the reading differs.",
    ),
    PublishedRowsSpec(FOLDER, {"source": "Table 6"}),
)


# --- Tables 2 and 3 ---------------------------------------------------------------------------------------------------
def _group_columns(tag: str, name: str | None, head: str) -> Iterator[ColumnSpec]:
    """Accuracy over L1 and L2 and its drop from the clean forms; ``name`` None: the macro mean over groups."""
    mean, change = (MEAN, CHANGE) if name else (measures.MACROS[tag], CHANGE_MACROS[tag])
    where = {**measures.DEGRADED, tag: name} if name else measures.DEGRADED

    def cell(source: ModelResults, estimate: IntervalEstimate | None) -> Cell:
        groups = () if name else measures.GROUPS[tag]
        is_partial = any(not source.interval(MEAN, {**measures.DEGRADED, **group}).n for group in groups)
        full = percent_cell(estimate, bare=True)
        return Cell(full.value, mark="∂") if is_partial and full.value is not None else full

    def drop(source: ModelResults) -> IntervalEstimate | None:
        return negate_estimate(source.derived(measures.clean_degraded_pairs).interval(change, where))

    key = name or "average"
    yield ColumnSpec(head, lambda source, row, rows: cell(source, source.interval(mean, where)), "", 1, key=key)
    head = f"{head} drop" if name else "drop"
    yield ColumnSpec(head, lambda source, row, rows: cell(source, drop(source)), "", 1, key=f"{key} drop")


def _groups_table(number: int, title: str, tag: str, heads: Mapping[str, str]) -> TableSpec:
    named: list[tuple[str | None, str]] = [(None, "Avg."), *heads.items()]
    return TableSpec(
        f"table{number}",
        f"Table {number}: {title}, L1 and L2",
        ("model", "source"),
        _own_rows,
        tuple(column for name, head in named for column in _group_columns(tag, name, head)),
        ("Percent; a drop is in points, positive where accuracy fell. A run's own tables have counts and intervals.",),
        PublishedRowsSpec(FOLDER, {"source": f"Table {number}"}),
        {ONE_LEVEL: "Of one degraded level only; the published numbers are over L1 and L2."},
    )


TABLE_2 = _groups_table(2, "capabilities", "mid", mid_capability_names())
TABLE_3 = _groups_table(
    3, "categories of degradations", "category", {key: key.replace("_", " & ") for key in category_keys()}
)
