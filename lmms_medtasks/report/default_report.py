"""The report of a benchmark whose folder has no ``report.py``: tables by what its records have.

Every number is an estimate that the benchmark declares, or the mean of one of its main measures over a part of the
questions. Published rows come from ``reference/published.csv`` of the folder. Two runs are compared by ``lmms-medtasks
compare``.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import degradations
from lmms_medtasks.judges import own_scales
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.about import own_results_cell
from lmms_medtasks.report.document import Cell, ReportNotice
from lmms_medtasks.report.published import PublishedRowsSpec, read_rows
from lmms_medtasks.report.shared_sections import describe_image_sizes, rotation_view
from lmms_medtasks.report.suite_report import SuiteReportSpec, question_ids, results_extent
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, SectionSpec, TableSpec
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.samples.table import FIELDS, OWN_COLUMNS, QuestionTable, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites import judged_measures
from lmms_medtasks.suites.common_metrics import ANSWERED, OUTCOMES, READINGS, outcome_of
from lmms_medtasks.suites.estimates import Contrast, Count, Estimate, Mean
from lmms_medtasks.suites.own_parts import KEY, MissingEstimate
from lmms_medtasks.suites.rotated_options import ROTATED
from lmms_medtasks.suites.suite import Measure, Metric, Suite
from lmms_medtasks.suites.suite_rows import numbers_of
from lmms_medtasks.suites.templates import DRAWN
from lmms_medtasks.task_settings import task_settings

MOST_VALUES = 20
"""A tag with more distinct values is no breakdown."""

_MOST_OPTIONS = 26
_NO_BREAKDOWNS = OWN_COLUMNS | {"data"}
_OUTCOMES = ("right", "wrong", *OUTCOMES)
_REPLIES = (
    "Number of replies; each trial of a question is one. Unreadable: words without one answer, or with several. Cut: "
    "cut off before an answer. A reply without an answer counts as wrong, of judged answers as the worst. A failed "
    "request counts in no mean."
)
_ANSWERED = "Answered: with a text that a judge scores."


def default_report(suite: Suite, folder: Path | None) -> SuiteReportSpec:
    """The report of ``suite``. ``folder``: the benchmark's, None where it is not known.

    Raises UserError, with file and line, for published rows that can't be read.
    """
    tables = _Tables(suite)
    beside = SectionSpec("published", "Beside published models", tuple(tables.published(folder) if folder else ()))
    return SuiteReportSpec(
        views=(
            SectionSpec("results", "Results", (tables.results(),)),
            beside,
            SectionSpec("levels", "Degradation", (tables.levels(),)),
            *tables.rotations(),
            SectionSpec("tags", "By tag", (tables.tags(),)),
            SectionSpec("judgements", "Judgements", judged_tables.judging_tables()),
            SectionSpec("replies", "Replies", (outcome_table(),)),
        ),
        compared=(
            SectionSpec("models", "The runs together", (tables.models(),)),
            beside,
            SectionSpec("ways", "Asked otherwise", (tables.ways(),)),
        ),
        caveats=functools.partial(_task_notices, suite),
        tests=lambda source: {task: question_ids(source.rows.where({"task": task})) for task in source.tasks},
    )


def metric_column(suite: Suite, metric: Metric) -> ColumnSpec:
    """A metric as a column: a measure's own digits where it has the measure's unit."""
    unit, name = suite.unit(metric), getattr(metric.estimate, "measure", None)
    measure = suite.measure(name) if name else None
    digits = measure.digits if measure and unit == measure.unit else 1 if unit in ("%", "points") else 3
    return ColumnSpec(metric.name, metric.estimate, unit, digits)


class _Tables:
    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.intervals = (f"In brackets: {LEVEL} interval over {suite.cluster}s.",)
        self._paired = (f"In brackets: {LEVEL} interval over {suite.cluster}s, of a change between the same ones.",)
        # The columns in which a question's forms at several levels, or without its image, agree.
        self._question = tuple(name for name in suite.paired if name != "severity") or ("pair",)

    def _main(self, sources: Sequence[ModelResults]) -> list[Measure]:
        """The measures behind the main metrics that a question of the sources belongs to."""
        names = dict.fromkeys(getattr(metric.estimate, "measure", None) for metric in self.suite.main_metrics)
        return [self.suite.measure(name) for name in names if name and _has_measure(sources, name)]

    def _columns(self, names: Iterator[str]) -> tuple[ColumnSpec, ...]:
        known = (name for name in dict.fromkeys(names) if name in self.suite.estimates)
        return tuple(metric_column(self.suite, self.suite.metric(name)) for name in known)

    def rotations(self) -> tuple[SectionSpec, ...]:
        """The section of copies with rotated options, of what has an accuracy: options are right or wrong."""
        if not any(measure.name == "accuracy" for measure in self.suite.measures):
            return ()
        return (rotation_view({"rotation": tuple(range(_MOST_OPTIONS))}, self.intervals[0]),)

    def results(self) -> TableSpec:
        """A row a task with the numbers that the harness prints, each with its interval."""
        return TableSpec("results", "Metrics of the tasks", ("task",), self._task_rows,
                     lambda sources: self._columns(_printed_metric_names(sources)), self.intervals)  # fmt: skip

    def models(self) -> TableSpec:
        """A row for each source and task, with the main metrics."""

        def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
            for row in self._task_rows(sources):
                if row.source is not None:
                    yield RowSpec((row.source.name, *row.labels), row.where, "run", row.estimates, row.source)

        def columns(sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
            printed = set(_printed_metric_names(sources))
            shown = self._columns(metric.name for metric in self.suite.main_metrics if metric.name in printed)
            data = ColumnSpec("data", lambda source, row, rows: Cell(results_extent(source)), "text")
            return (ColumnSpec("questions", Count(), "count"), *shown, data)

        return TableSpec("models", "Main metrics", ("run", "task"), rows, columns, self.intervals)

    def _task_rows(self, sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
        for source in sources:
            for task in source.tasks:
                named = _metrics_of(source, task)
                left_out = {metric.name: None for metric in self.suite.metrics if metric.name not in named}
                estimates = {**left_out, **_printed_only(self.suite, source, task)}
                yield RowSpec((task,), {"task": task}, estimates=estimates, source=source)

    def published(self, folder: Path) -> Iterator[TableSpec]:
        """A table for each task that has published rows."""
        found = read_rows(folder, self.suite.estimates)
        columns = self._columns(
            metric.name for metric in self.suite.metrics if found and metric.name in found[0].numbers
        )
        for task in dict.fromkeys(row.texts["task"] for row in found):
            yield TableSpec(
                f"published-{task}",
                task,
                ("model", "source"),
                functools.partial(_rows_beside, task),
                columns,
                self.intervals,
                PublishedRowsSpec(folder, {"task": task}),
            )

    def levels(self) -> TableSpec:
        """Degraded pictures against the same questions on clean ones."""

        def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
            levels = _degraded_levels(sources[0])
            for level, measure in itertools.product(levels[1:], self._main(sources)):
                sides = {"severity": 0}, {"severity": level}
                yield self._change((str(level), measure.name), measure, sides, self._question)

        def notes(sources: Sequence[ModelResults]) -> tuple[str, ...]:
            said = "Pairs of the same question at both levels, both with a score."
            return (said, *describe_image_sizes(sources), *self._paired)

        columns = functools.partial(self._paired_columns, "level 0", "level")
        return TableSpec("levels", "Against level 0", ("level", "measure"), rows, columns, notes)

    def ways(self) -> TableSpec:
        """A run's questions asked otherwise, against the same run as released."""

        def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
            # Copies with rotated options have other right letters: they have a section of their own.
            for other in (source for source in sources if source.condition and ROTATED not in source.condition):
                base = next((source for source in sources if source.run is other.run and not source.condition), None)
                if base is None:
                    continue
                run = int(other.rows.column("run")[0])
                every = ModelResults("", base.every.where({"repeated": False}), base.every, base.resamples)
                for measure in self._main(sources):
                    labels = (base.name, make_printable(other.condition), measure.name)
                    sides = {"run": run, "condition": ""}, {"run": run, "condition": other.condition}
                    yield self._change(labels, measure, sides, self.suite.paired, every)

        said = "Question by question. What a model still gets without the image, it has from the words."
        columns = functools.partial(self._paired_columns, "as released", "otherwise")
        return TableSpec("ways", "As released and otherwise", ("run", "asked", "measure"), rows, columns,
                     (said, *self._paired))  # fmt: skip

    def _change(
        self,
        labels: tuple[str, ...],
        measure: Measure,
        sides: tuple[Where, Where],
        pair: tuple[str, ...],
        source: ModelResults | None = None,
    ) -> RowSpec:
        """A row of two sides of the same questions, for :meth:`_paired_columns`."""
        change = Contrast(measure=measure.name, bounds=measure.range, first=sides[0], second=sides[1], pair=pair)
        return RowSpec(
            labels, estimates=dict.fromkeys(("pairs", "first", "second", "difference"), change), source=source
        )

    def _paired_columns(self, first: str, second: str, sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
        """Columns in the unit and digits of the main measures; as they are where they have several units."""
        found = {(each.unit, each.digits) for each in self._main(sources)}
        unit, digits = found.pop() if len(found) == 1 else ("", 3)
        return (
            ColumnSpec("pairs", unit="n", statistic="second"),
            ColumnSpec(first, unit=unit, digits=digits, statistic="first", key="first"),
            ColumnSpec(second, unit=unit, digits=digits, statistic="second", key="second"),
            ColumnSpec("difference", unit="points" if unit == "%" else unit, digits=digits, statistic="change"),
        )

    def tags(self) -> TableSpec:
        """Each main measure by each tag with few values."""

        def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
            for task in sources[0].tasks:
                here = sources[0].rows.where({"task": task})
                for tag in _breakdown_tags(here):
                    for (value,) in here.by([tag]):
                        yield RowSpec((task, tag, "none" if value is None else str(value)), {"task": task, tag: value})

        def columns(sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
            found = [ColumnSpec("questions", Count(), "count")]
            for measure in self._main(sources):
                mean = Mean(measure=measure.name, bounds=measure.range)
                found += [
                    ColumnSpec(measure.name, mean, measure.unit, measure.digits),
                    *_judged_columns_of(measure, sources),
                ]
            means = ((each.name, each.estimate) for each in self.suite.metrics if isinstance(each.estimate, Mean))
            exact = (name for name, mean in means if mean.exact and _has_measure(sources, mean.measure))
            return (*found, *self._columns(exact))

        return TableSpec("tags", "By tag", ("task", "tag", "value"), rows, columns, self.intervals, long=True)


def _has_measure(sources: Sequence[ModelResults], measure: str) -> bool:
    return any(len(source.rows.of_measure(measure)) for source in sources)


def outcome_table() -> TableSpec:
    """The table of the outcomes of all replies."""

    def columns(sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
        there = _count_outcomes(sources[0].rows) if sources else Counter()
        return tuple(
            ColumnSpec(name, Count(function=lambda rows, name=name: _count_outcomes(rows)[name]), "count")  # type: ignore[misc]
            for name in _OUTCOMES
            if there[name] or name in READINGS
        )

    def rows(sources: Sequence[ModelResults]) -> list[RowSpec]:
        return [RowSpec((task,), {"task": task}) for task in sources[0].tasks]

    def notes(sources: Sequence[ModelResults]) -> tuple[str, ...]:
        return (_REPLIES, _ANSWERED) if _count_outcomes(sources[0].rows)[ANSWERED] else (_REPLIES,)

    return TableSpec("replies", "What became of the replies", ("task",), rows, columns, notes, folded=True)


def _judged_columns_of(measure: Measure, sources: Sequence[ModelResults]) -> list[ColumnSpec]:
    """The judged share, and the mean if missing judgements were the worst or the best; [] if none is judged."""
    if not any(judged_measures.judgement_counts(source.rows, measure.name)[1] for source in sources):
        return []
    found = [ColumnSpec("judged", judged_measures.judgement_coverage(measure.name), "%", key=f"{measure.name} judged")]
    for head, which in (("missing as worst", "low"), ("missing as best", "high")):
        of, key = judged_measures.bounded_mean(measure.name, which), f"{measure.name} {which}"
        found.append(ColumnSpec(head, of, measure.unit, measure.digits, key=key))
    return found


def _rows_beside(task: str, sources: Sequence[ModelResults]) -> list[RowSpec]:
    return [
        RowSpec((source.name, str(own_results_cell(results_extent(source)).value)), {"task": task}, source=source)
        for source in sources
        if task in source.tasks
    ]


def _printed_metric_names(sources: Sequence[ModelResults]) -> Iterator[str]:
    return (name for source in sources for task in source.tasks for name in _metrics_of(source, task))


def _metrics_of(source: ModelResults, task: str) -> tuple[str, ...]:
    for run, tasks in source.asked:
        if task in tasks:
            listed = run.content["configs"][task].get("metric_list") or []
            return tuple(str(each.get("metric")) for each in listed if isinstance(each, Mapping))
    return ()


def _printed_only(suite: Suite, source: ModelResults, task: str) -> Mapping[str, Estimate]:
    """For each metric whose code is not here the number that the run printed of a task, without an interval."""
    missing = [name for name, estimate in suite.estimates.items() if isinstance(estimate, MissingEstimate)]
    said = next((numbers_of(run.tasks.get(task, {})) for run, tasks in source.asked if task in tasks), {})
    known = {name: said[name] for name in missing if name in said}
    return {name: Count(function=lambda rows, value=value: value) for name, value in known.items()}  # type: ignore[misc]


def _degraded_levels(source: ModelResults) -> list[int]:
    found = sorted({level for level in source.rows.values("severity") if level is not None})
    return found if 0 in found else []


def _breakdown_tags(rows: QuestionTable) -> Iterator[str]:
    """The tags that divide these questions into a few groups."""
    for name in rows.columns:
        if name in _NO_BREAKDOWNS or name.rpartition(".")[2] in (*FIELDS, "asked"):
            continue
        values = rows.values(name)
        if 2 <= len(values) <= MOST_VALUES and 2 * len(values) <= len(rows):
            yield name


def _count_outcomes(rows: QuestionTable) -> Counter[str]:
    counts: Counter[str] = Counter()
    for trials, expected, judge in zip(*(rows.column(name) for name in ("trials", "expected", "judge")), strict=True):
        for trial in trials:
            outcome = outcome_of(trial)
            if outcome == ANSWERED and not judge:
                outcome = "right" if trial == expected else "wrong"
            counts[outcome] += 1
    return counts


# --- What a reader must know ------------------------------------------------------------------------------------------


def _task_notices(suite: Suite, source: ModelResults) -> Iterator[ReportNotice]:
    yield from _not_ours(suite, source)
    yield from judged_tables.judging_notices(judged_tables.by_task(source))


def _not_ours(suite: Suite, source: ModelResults) -> Iterator[ReportNotice]:
    for run, tasks in source.asked:
        for task in tasks:
            config = run.content["configs"][task]
            if said := "; ".join((*_named_parts(config.get("metadata")), *_custom_degradations(config))):
                yield ReportNotice("note", f"{make_printable(task)}: {make_printable(said)}. Not of lmms-medtasks.")
    names = {name for task in source.tasks for name in _printed_only(suite, source, task)}
    for name in sorted(names):
        estimate = suite.estimates[name]
        reason = estimate.reason if isinstance(estimate, MissingEstimate) else ""
        yield ReportNotice("warning", f"{name} is as the run printed it, without an interval: {reason}")


def _custom_degradations(config: Mapping[str, Any]) -> Iterator[str]:
    """The custom degradation of all images of a task, with its level."""
    settings = task_settings(config)
    name = settings.get("degradation")
    if name in (None, DRAWN, *degradations.names()) or settings.get("no_image"):
        return
    modality = f", {settings['modality']}" if settings.get("modality") else ""
    done = "said to be " if settings.get("rendered") else ""
    named = own_scales.hide_folder(str(name))
    yield f"images {done}degraded by {named}, level {settings.get('severity')}{modality}"


def _named_parts(metadata: Any) -> Iterator[str]:
    own = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if not isinstance(own, Mapping):
        return
    if own.get("parser"):
        yield f"answers read by {own['parser'].get('reference')}"
    if own.get("metrics"):
        metrics = [f"{each.get('name')} ({each.get('reference')})" for each in own["metrics"]]
        yield f"metrics {', '.join(metrics)}"
    if own.get("judge"):
        yield f"judged under {own['judge'].get('name')} ({own['judge'].get('reference')})"
