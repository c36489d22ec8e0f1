"""The report of one benchmark, from its declaration: a part for each source, before them a comparison of several."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lmms_medtasks.errors import unknown_name_error
from lmms_medtasks.report import about, comparability, judged_tables, readability, views
from lmms_medtasks.report.document import ReportChapter, ReportNotice, ReportSection
from lmms_medtasks.report.findings import SuiteFinding
from lmms_medtasks.report.headlines import Headline, default_headline
from lmms_medtasks.report.quotable import SuiteResults, quotability_remarks
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.views import ModelResults, SectionSpec
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import distinct_names, make_printable, model_name
from lmms_medtasks.samples.table import OWN_COLUMNS, QuestionTable
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.suite_rows import numbers_of, reported_differences, suite_table

COMPARISON = "Comparison"
_HARMLESS = re.compile(r"(?!all$|judge)[A-Za-z0-9_-]{1,48}")
"""Names that are keys as they are; comparisons are called "all" and "judge0-all"."""
Caveats = Callable[[ModelResults], Iterable[ReportNotice]]


@dataclass(frozen=True)
class SuiteReportSpec:
    """What ``report.py`` of a benchmark's folder declares, as REPORT.

    Attributes:
        views: sections of a source's own part. compared: sections of the comparison of several sources. Both stand
            after the default ones.
        is_whole: whether they are the whole report, without the default sections.
        caveats: flags of a source that only this benchmark has. compared_caveats: those of the comparison.
        sources: from the runs and their table to the sources.
        more: sections that need the options, after ``compared``.
        mark: marks the rows of the comparison that are over other questions than most, where its rows are no sources;
            it stands in place of ``tests``.
        one_comparison: whether sources of different judges stand in one comparison, whose tables then must not mix the
            judges; else each judge has a comparison of its own.
        tests: from a source to the tests that its row in the comparison is of, each with the ids of its questions. A
            row over other questions than most is marked.
        uses: which of the options ``pairs`` and ``parameters`` it makes use of.
        headline: what stands of a source on the report's first screen and on a leaderboard; without one the main metric
            of each task.
        guessing: measure -> what a uniform guess gets on each of its questions, where their records don't say it.
    """

    views: tuple[SectionSpec, ...]
    compared: tuple[SectionSpec, ...]
    caveats: Caveats = lambda source: ()
    compared_caveats: Callable[[Sequence[ModelResults]], Iterable[ReportNotice]] = lambda sources: ()
    sources: Callable[[Suite, Sequence[ResultFile], QuestionTable, ReportOptions], list[ModelResults]] | None = None
    more: Callable[[Sequence[ModelResults], ReportOptions], Iterable[ReportSection]] = lambda sources, options: ()
    mark: Callable[[ReportChapter, Sequence[ModelResults]], ReportChapter] | None = None
    one_comparison: bool = False
    tests: Callable[[ModelResults], Mapping[str, frozenset[str]]] = lambda source: {"all": question_ids(source.rows)}
    uses: frozenset[str] = frozenset()
    headline: Headline | None = None
    guessing: Mapping[str, float] = field(default_factory=dict)
    is_whole: bool = False


def _asked_facts(suite: Suite, source: ModelResults) -> tuple[tuple[str, str], ...]:
    clusters = len(set(source.rows.column("cluster")))
    questions = f"{len(source.rows):,} about {clusters:,} {suite.cluster}s"
    asked = ", ".join(make_printable(condition or "") or "as released" for condition in source.rows.values("condition"))
    judged = judged_tables.judgings_by_protocol(source.rows).values()
    judges = "; ".join(dict.fromkeys(summary.said for summary in judged))
    return ("Asked", asked), ("Questions", questions), *([("Judge", judges)] if judges else [])


def question_ids(rows: QuestionTable) -> frozenset[str]:
    return frozenset(rows.column("id"))


@dataclass(frozen=True)
class SuiteReport:
    """A benchmark's parts of a document: comparisons, and an ``own`` one of each of the ``sources``.

    Parts and findings are made when they are asked for: a board needs the comparisons alone.
    """

    comparisons: tuple[Callable[[], ReportChapter], ...]
    own: tuple[Callable[[], ReportChapter], ...]
    suite: Suite
    sources: Sequence[ModelResults]
    headline: Headline

    @functools.cached_property
    def found(self) -> tuple[tuple[SuiteResults, SuiteFinding | None], ...]:
        """Each source with its finding, None if it has no number."""
        return tuple((SuiteResults(self.suite, source), self._finding(source)) for source in self.sources)

    def _finding(self, source: ModelResults) -> SuiteFinding | None:
        readable = readability.of_source(self.suite, source)
        return readability.replace_unreadable_finding(self.headline.of(self.suite, source), readable)


def suite_report(
    suite: Suite, report: SuiteReportSpec, runs: Sequence[ResultFile], options: ReportOptions
) -> SuiteReport:
    """The benchmark's share of a document. Raises UserError when a log can't be read."""
    table = suite_table(suite, runs, options.cache)
    _check_declared(suite, report, table)
    sources = _with_runs_of_model(runs, (report.sources or sources_by_run)(suite, runs, table, options))
    comparisons = tuple(_plan_comparisons(suite, report, sources, options))
    own = tuple(functools.partial(_results_part, suite, report, source, options) for source in sources)
    return SuiteReport(comparisons, own, suite, sources, report.headline or default_headline(suite))


def part_key(name: str) -> str:
    """A source's name as ids of a page and names of files have it: it stays when other sources join.

    >>> part_key("medtasks_observer"), part_key("org/Model-7B (no image)")
    ('medtasks_observer', 'org-model-7b-no-image-4b7b0f6d')
    """
    if _HARMLESS.fullmatch(name):
        return name
    short = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"{short or 'x'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def sources_by_run(
    suite: Suite, runs: Sequence[ResultFile], table: QuestionTable, options: ReportOptions
) -> list[ModelResults]:
    """A source for each run and condition; of what several tasks of a run ask alike, the first one's replies count."""
    found = []
    for (number, condition), rows in table.by(["run", "condition"], key=lambda values: values[0]).items():
        tasks = tuple(rows.values("task"))
        found.append(ModelResults("", rows.where({"repeated": False}), table, options.resamples,
                            ((runs[number], tasks),), condition))  # fmt: skip
    return with_distinct_names(found)


def sources_by_model(
    suite: Suite,
    runs: Sequence[ResultFile],
    table: QuestionTable,
    options: ReportOptions,
    *,
    apart: Sequence[str] = (),
    once: Sequence[str] = ("task",),
    one_judge: bool = False,
) -> list[ModelResults]:
    """A source for each model: what it was asked by several runs, as long as none of them asked the same again.

    Tasks are of one model where the harness's model, its arguments and the kind of data (full, mini) are the same. The
    tasks of a run stay together; a run that asks again what a source has begins another source.

    Args:
        apart: columns of which tasks of one source must have the same value.
        once: columns that say what a task asks; no task of a source has values in common with another one.
        one_judge: whether verdicts of several judges keep runs apart.
    """
    of_runs: dict[tuple[Any, ...], list[_TaskGroup]] = {}
    for (number, task, *own), rows in table.by(["run", "task", *apart], key=lambda values: 0).items():
        values = set(zip(*(rows.column(name) for name in once), strict=True))
        run = runs[number]
        model = *_model_arguments(run), *about.data_kinds(run, [task])
        added = _TaskGroup([(number, task)], rows.rows.tolist(), values, set())
        _join_task_group(of_runs.setdefault((*model, *own, number), []), added)
    groups: dict[tuple[Any, ...], list[_TaskGroup]] = {}
    if one_judge:
        every = [group for of_run in of_runs.values() for group in of_run]
        tables = [table.take(np.array(group.rows)) for group in every]
        for group, judges in zip(every, judged_tables.deciding_judges(tables), strict=True):
            group.judges |= set(judges)
    for (*key, _), of_run in of_runs.items():
        for group in of_run:
            _join_task_group(groups.setdefault(tuple(key), []), group)
    sources = [_make_results(table, runs, group, options) for of_model in groups.values() for group in of_model]
    return with_distinct_names(sorted(sources, key=lambda source: (source.rows.column("run")[0], source.condition)))


@dataclass
class _TaskGroup:
    """Tasks (the run's number and the name) that may become a source. ``values``: what they ask."""

    tasks: list[tuple[int, str]]
    rows: list[int]
    values: set[tuple[Any, ...]]
    judges: set[str]


def _with_runs_of_model(runs: Sequence[ResultFile], sources: Sequence[ModelResults]) -> list[ModelResults]:
    by_model: dict[tuple[str, ...], dict[int, ResultFile]] = {}
    for number, run in enumerate(runs):
        by_model.setdefault(_model_arguments(run), {})[number] = run
    return [replace(source, runs_of_model=by_model[_model_arguments(source.run)]) for source in sources]


def _model_arguments(run: ResultFile) -> tuple[str, ...]:
    """The harness's model, its arguments, and the settings that the user changed."""
    config = run.content.get("config") or {}
    told = about.changed_run_settings(run, list(run.content.get("configs") or {}))
    return str(config.get("model")), str(config.get("model_args")), told


def _join_task_group(groups: list[_TaskGroup], added: _TaskGroup) -> None:
    """Add tasks to the first group without any of their values and without another judge, else as a new group."""
    for group in groups:
        judges = group.judges | added.judges
        if group.values.isdisjoint(added.values) and (len(judges) < 2 or group.judges == added.judges):
            group.tasks += added.tasks
            group.rows += added.rows
            group.values |= added.values
            group.judges = judges
            return
    groups.append(added)


def _make_results(
    table: QuestionTable, runs: Sequence[ResultFile], group: _TaskGroup, options: ReportOptions
) -> ModelResults:
    tasks: dict[int, list[str]] = {}
    for number, task in group.tasks:
        tasks.setdefault(number, []).append(task)
    rows = table.take(np.array(sorted(group.rows))).where({"repeated": False})
    of_runs = tuple((runs[number], tuple(own)) for number, own in tasks.items())
    conditions = rows.values("condition")
    return ModelResults("", rows, table, options.resamples, of_runs, conditions[0] if len(conditions) == 1 else "")


def with_distinct_names(sources: Sequence[ModelResults]) -> list[ModelResults]:
    """The sources with unique names: model, condition, settings."""
    apart = [
        ", ".join(filter(None, (make_printable(source.condition), changed_settings_text(source)))) for source in sources
    ]
    plain = distinct_names([source.run for source in sources], apart)
    names = [f"{name} ({said})" if said else name for name, said in zip(plain, apart, strict=True)]
    return [replace(each, name=name) for name, each in zip(names, sources, strict=True)]


def data_extent_text(source: ModelResults) -> str:
    """The data that a source read and how much of it, ``mini, --limit 8``; of several runs each if they differ."""
    return "; ".join(dict.fromkeys(about.run_extent(run, tasks) for run, tasks in source.asked))


def results_extent(source: ModelResults) -> str:
    """As :func:`data_extent_text`, with the condition: ``mini, --limit 8; no image``."""
    return "; ".join(filter(None, (data_extent_text(source), make_printable(source.condition))))


def _check_declared(suite: Suite, report: SuiteReportSpec, table: QuestionTable) -> None:
    """Raise UserError if a declared row or column names an unknown column of the samples or an unknown measure."""
    known = {*suite.tags, *OWN_COLUMNS, *table.columns}
    measures = [each.name for each in suite.measures]
    file = getattr(registry.load_companion(suite.name, "report"), "__file__", f"the report of {suite.name}")
    every = (each for view in (*report.views, *report.compared) for each in view.tables)
    for each in (each for each in every if isinstance(each, views.TableSpec)):
        rows = () if callable(each.rows) else each.rows
        # A column ``over`` another table, such as one of pairs, has that table's columns and measures.
        columns = () if callable(each.columns) else [column for column in each.columns if column.over is None]
        named = [(f"row {' | '.join(map(str, row.labels))!r}", name) for row in rows for name in row.where]
        for column in columns:
            said = f"column {column.name!r}"
            named += [(said, name) for name in (*column.within, *getattr(column.of, "where", {}))]
            for estimate in (column.of, *(row.estimates.get(column.name) for row in rows)):
                measure = getattr(estimate, "measure", None)
                if measure is not None and measure not in measures:
                    raise unknown_name_error("measure", measure, measures, f"{file}, table {each.key!r}, {said}")
        for said, name in named:
            if name not in known:
                raise unknown_name_error("column", name, sorted(known), f"{file}, table {each.key!r}, {said}")


def _other_numbers(suite: Suite, source: ModelResults) -> Iterator[ReportNotice]:
    """A warning where the log of a task gives other numbers than the result file."""
    numbers = {run.path: number for number, run in source.runs_of_model.items()}
    for run, task in ((run, task) for run, tasks in source.asked for task in tasks):
        rows = source.every.where({"run": numbers[run.path], "task": task})
        if task not in run.tasks or not len(rows):
            continue
        if differences := list(reported_differences(suite, rows, numbers_of(run.tasks[task]))):
            more = f" ({len(differences):,} numbers differ.)" if len(differences) > 1 else ""
            changed = "One of the two files was changed after the run. This report is made from the samples."
            yield ReportNotice("warning", f"{make_printable(task)}: {differences[0]}{more} {changed}")


def _results_part(suite: Suite, report: SuiteReportSpec, source: ModelResults, options: ReportOptions) -> ReportChapter:
    facts: dict[str, dict[str, None]] = {}
    for run, tasks in source.asked:
        for name, text in about.run_facts(run, tasks, *_asked_facts(suite, source)):
            facts.setdefault(name, {})[text] = None
    flags = dict.fromkeys([*_other_numbers(suite, source), *_results_notices(suite, report, source)])
    part = ReportChapter(
        key=f"{options.prefix}{part_key(source.name)}",
        title=source.name,
        facts=tuple((name, "; ".join(texts)) for name, texts in facts.items()),
        flags=tuple(sorted(flags, key=lambda flag: flag.kind != "warning")),
        sections=_filled_sections(report.views, [source], options),
        origin=csv_origin(source),
    )
    return comparability.add_paper_lines(suite, part, [source])


def csv_origin(source: ModelResults) -> tuple[tuple[str, str], ...]:
    """What each row of the CSV files of a source's part says of its runs."""
    judges = judged_tables.judge_names(source.rows)
    asked = "; ".join(filter(None, (", ".join(source.tasks), source.condition)))
    own = (
        ("run model", model_name(source.run.content)),
        ("run task set", asked),
        ("run data", data_extent_text(source)),
    )
    return (*own, ("run judge", judges)) if judges else own


def changed_settings_text(source: ModelResults) -> str:
    """The settings that the user changed in a source's runs: ``paper settings``; "" for none."""
    return ", ".join(dict.fromkeys(said for each in source.asked if (said := about.changed_run_settings(*each))))


def _with_settings(part: ReportChapter, sources: Sequence[ModelResults]) -> ReportChapter:
    """The comparison with a warning where not all sources read the same data, or were asked by the same settings."""
    found = {source.name: changed_settings_text(source) or "ours" for source in sources}
    settings = [f"{name}: {said}" for name, said in found.items()] if len(set(found.values())) > 1 else []
    data = list(map(make_printable, about.other_data([source.asked for source in sources])))
    apart = (("settings", "; ".join(settings)), ("data", ", ".join(data)))
    flags = [ReportNotice("warning", f"Rows here are of different {what}, and do not compare: {said}.")
             for what, said in apart if said]  # fmt: skip
    return replace(part, flags=(*flags, *part.flags))


def _plan_comparisons(
    suite: Suite, report: SuiteReportSpec, sources: Sequence[ModelResults], options: ReportOptions
) -> Iterator[Callable[[], ReportChapter]]:
    """The comparison, or one for each judge where the sources have different ones: no table has two.

    A source alone has nothing to be compared with.
    """

    def planned(
        group: Sequence[ModelResults], more: str = "", said: str = "", *flags: ReportNotice
    ) -> Callable[[], ReportChapter]:
        chosen = replace(options, prefix=f"{options.prefix}{more}")
        key, title = f"{chosen.prefix}all", f"{COMPARISON}{said}"

        def make() -> ReportChapter:
            whole = _with_settings(_comparison_part(report, group, key, chosen), group)
            part = comparability.add_paper_lines(suite, whole, group)
            return replace(part, title=title, flags=(*flags, *part.flags))

        return make

    groups = {(): list(sources)} if report.one_comparison else judged_tables.group_by_judge(sources)
    if len(groups) == 1 and len(sources) > 1:
        yield planned(sources)
    if len(groups) < 2:
        return
    text = "Runs here were judged by different judges: their open answers stand in no table together."
    for number, (names, group) in enumerate(groups.items(), start=1):
        if len(group) > 1:
            said = f", judged by {', '.join(map(judged_tables.judge_label, names))}"
            yield planned(group, f"judge{number}-", said, ReportNotice("warning", text))


def _comparison_part(
    report: SuiteReportSpec, sources: Sequence[ModelResults], key: str, options: ReportOptions
) -> ReportChapter:
    runs = {id(run): run for source in sources for run, _ in source.asked}
    facts = (("Runs", str(len(runs))), ("Models and ways of asking", ", ".join(each.name for each in sources)))
    origin = (("data of the runs", "; ".join(dict.fromkeys(map(data_extent_text, sources)))),)
    data = sorted({about.data_extent(run, tasks) for source in sources for run, tasks in source.asked})
    text = f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's."
    flags = (*(() if data == ["full"] else (ReportNotice("warning", text),)), *report.compared_caveats(sources))
    sections = (*_filled_sections(report.compared, sources, options), *report.more(sources, options))
    whole = ReportChapter(key, COMPARISON, facts, flags, sections, origin)
    if report.mark is not None:
        return report.mark(whole, sources)
    return comparability.with_marks(whole, {each.name: report.tests(each) for each in sources})


def _filled_sections(
    views: Iterable[SectionSpec], sources: Sequence[ModelResults], options: ReportOptions
) -> tuple[ReportSection, ...]:
    made = (view.section(sources, options.drawn) for view in views)
    return tuple(each for each in made if each is not None)


def _results_notices(suite: Suite, report: SuiteReportSpec, source: ModelResults) -> Iterator[ReportNotice]:
    yield from quotability_remarks(SuiteResults(suite, source))
    numbers = set(source.rows.column("run"))
    again = source.every.where({"condition": source.condition, "repeated": True, "run": tuple(numbers)})
    if len(again):
        yield ReportNotice(
            "note", f"{len(again):,} questions were asked by several tasks: the first one's replies count."
        )
    yield from report.caveats(source)
