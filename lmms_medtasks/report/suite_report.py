"""The report of one benchmark, from its declaration: a part for each source, before them a comparison of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lmms_medtasks.data.progress import bar
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import about, views
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.document import Cell, Flag, Part, Section, Table
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suites import Options
from lmms_medtasks.report.views import Source, View
from lmms_medtasks.samples.record import FAILED
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import distinct_names, printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.tables import suite_table

Caveats = Callable[[Source], Iterable[Flag]]


@dataclass(frozen=True)
class Report:
    """What ``report.py`` of a benchmark's folder declares, as REPORT.

    Attributes:
        views: sections of a source's own part. compared: sections of the comparison of several sources.
        caveats: flags of a source that only this benchmark has.
        sources: from the runs and their table to the sources.
        more: sections that need the options, after ``compared``.
        tests: from a source to the tests that its row in the comparison is of, each with the ids of its questions. A
            row over other questions than most is marked.
        uses: which of the options ``pairs`` and ``parameters`` it makes use of.
        published_scores: from a task to the published rows that stand below its ranking.
    """

    views: tuple[View, ...]
    compared: tuple[View, ...]
    caveats: Caveats = lambda source: ()
    sources: Callable[[Suite, Sequence[Run], Samples, Options], list[Source]] | None = None
    more: Callable[[Sequence[Source], Options], Iterable[Section]] = lambda sources, options: ()
    tests: Callable[[Source], Mapping[str, frozenset[str]]] = lambda source: {"all": question_ids(source.rows)}
    uses: frozenset[str] = frozenset()
    published_scores: Callable[[str], Iterable[PublishedScores]] = lambda task: ()


@dataclass(frozen=True)
class PublishedScores:
    """A published model on a task's board: the paper, its name, where the numbers stand, a cell a metric as shown."""

    paper: str
    model: str
    source: str
    cells: Mapping[str, Cell]


def question_ids(rows: Samples) -> frozenset[str]:
    """The ids of these questions."""
    return frozenset(rows.column("id"))


def report_of(suite: Suite) -> Report:
    """The report that a benchmark's folder declares in ``report.py``; without that file the default one.

    Raises UserError where the file declares none, or published rows can't be read.
    """
    module = registry.companion(suite, "report")
    if module is None:
        from lmms_medtasks.report.default_report import default_report  # which is made of what this module has

        return default_report(suite, registry.folder_of(suite.name))
    report = getattr(module, "REPORT", None)
    if not isinstance(report, Report):
        raise UserError(f"The folder of {suite.name} declares no report: wanted REPORT = Report(...) in report.py.")
    return report


def printed_tables(name: str) -> list[Table]:
    """The published rows of a benchmark's tables, without a row of ours."""
    tables = (table for view in report_of(registry.get(name)).compared for table in view.tables)
    return [each.printed() for each in tables if isinstance(each, views.Table) and each.published]


def parts(suite: Suite, report: Report, runs: Sequence[Run], options: Options) -> list[Part]:
    """The benchmark's parts of a document. Raises UserError when a log can't be read."""
    make = report.sources or sources_by_run
    sources = make(suite, runs, suite_table(suite, runs), options)
    own = []
    with bar(len(sources), "Analysing", "task sets") as step:
        for number, source in enumerate(sources):
            own.append(_part(suite, report, source, f"{options.prefix}part{number}", options))
            step(1)
    return [_comparison(report, sources, f"{options.prefix}all", options), *own] if len(own) > 1 else own


def sources_by_run(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """A source for each run and condition; of what several tasks of a run ask alike, the first one's replies count."""
    found = []
    for (number, condition), rows in table.by(["run", "condition"], key=lambda values: values[0]).items():
        tasks = tuple(rows.values("task"))
        found.append(Source("", rows.where({"repeated": False}), table, options.resamples,
                            ((runs[number], tasks),), condition))  # fmt: skip
    return named(found)


def named(sources: Sequence[Source]) -> list[Source]:
    """The sources with names that tell them apart."""
    plain = distinct_names([each.run for each in sources], [each.condition for each in sources])
    names = [f"{name} ({printable(each.condition)})" if each.condition else name
             for name, each in zip(plain, sources, strict=True)]  # fmt: skip
    return [replace(each, name=name) for name, each in zip(names, sources, strict=True)]


def extent(source: Source) -> str:
    """Which data a source read and how much of it, and its condition: ``mini, --limit 8; no image``."""
    data = "; ".join(dict.fromkeys(about.extent(run, tasks) for run, tasks in source.asked))
    return f"{data}; {printable(source.condition)}" if source.condition else data


def _part(suite: Suite, report: Report, source: Source, key: str, options: Options) -> Part:
    clusters = len(set(source.rows.column("cluster")))
    questions = f"{len(source.rows):,} about {clusters:,} {suite.cluster}s"
    asked = printable(source.condition) or "as released"
    facts: dict[str, dict[str, None]] = {}
    for run, tasks in source.asked:
        for name, text in about.facts(run, tasks, ("Asked", asked), ("Questions", questions)):
            facts.setdefault(name, {})[text] = None
    return Part(
        key,
        source.name,
        tuple((name, "; ".join(texts)) for name, texts in facts.items()),
        shared.warnings_first(dict.fromkeys(_flags(suite, report, source))),
        _sections(report.views, [source], key, options),
        about.origin(source.run, source.tasks, ", ".join(source.tasks)),
    )


def _comparison(report: Report, sources: Sequence[Source], key: str, options: Options) -> Part:
    runs = {id(run): run for source in sources for run, _ in source.asked}
    facts = (("Runs", str(len(runs))), ("Models and ways of asking", ", ".join(each.name for each in sources)))
    origin = (("data of the runs", "; ".join(dict.fromkeys(map(extent, sources)))),)
    data = sorted({extent(each).partition(";")[0] for each in sources})
    text = f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's."
    flags = () if data == ["full"] else (Flag("warning", text),)
    sections = (*_sections(report.compared, sources, key, options), *report.more(sources, options))
    whole = Part(key, "Comparison", facts, flags, sections, origin)
    return with_marks(whole, {each.name: report.tests(each) for each in sources})


def _sections(views: Iterable[View], sources: Sequence[Source], key: str, options: Options) -> tuple[Section, ...]:
    made = (view.section(sources, key, options.drawn) for view in views)
    return tuple(each for each in made if each is not None)


def _flags(suite: Suite, report: Report, source: Source) -> Iterator[Flag]:
    for run, tasks in source.asked:
        for check in (shared.data, shared.extent, shared.code):
            yield from check(run, tasks)
    rows = source.rows
    trials: list[Any] = [trial for found in rows.column("trials") for trial in found]
    failed = sum(set(found) == {FAILED} for found in rows.column("trials"))
    yield from shared.failed_requests(trials.count(FAILED), len(trials), failed)
    numbers = {run for run in rows.column("run")}
    again = source.every.where({"condition": source.condition, "repeated": True, "run": tuple(numbers)})
    if len(again):
        yield Flag("note", f"{len(again):,} questions were asked by several tasks: the first one's replies count.")
    yield from report.caveats(source)
