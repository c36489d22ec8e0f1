"""The report of runs, one document: each installed benchmark, and contributed ones that the runs have tasks of."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError, nearest_path
from lmms_medtasks.progress import progress_bar
from lmms_medtasks.report import degradation_loss
from lmms_medtasks.report.default_report import default_report
from lmms_medtasks.report.degradation_loss import degraded_tasks
from lmms_medtasks.report.document import Frame, ReportChapter
from lmms_medtasks.report.findings import SuiteFinding
from lmms_medtasks.report.first_screen import ReportDocument, first_screen
from lmms_medtasks.report.quotable import SuiteResults
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.suite_report import SuiteReportSpec, suite_report
from lmms_medtasks.report.views import SectionSpec, TableSpec
from lmms_medtasks.samples import runs as _runs
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.templates import measures

_OF_A_SUITE = {"pairs": "--pair", "parameters": "--parameters"}


def build_report(paths: Sequence[Path], options: ReportOptions | None = None) -> ReportDocument:
    """The report of the runs that ``paths`` hold (see :func:`lmms_medtasks.samples.runs.find_result_files`).

    Suites come first, then what any task lost on degraded pictures (:mod:`lmms_medtasks.report.degradation_loss`).

    The same files and options give the same document. A task whose log can't be read is left out where others can be,
    see :attr:`ReportDocument.unread`. Raises UserError when no log or a result file can't be read, a run holds no task
    of a suite of ours, or can't be told apart from another, and when an option is of no use to any of the suites.
    """
    for path in paths:
        if not path.exists():
            said = "Give a result folder of a run, or its *_results.json."
            raise UserError(f"{path} is not there.{nearest_path(path)} {said}")
    runs = _runs.find_result_files(paths)
    try:
        return report_document(runs, options or ReportOptions())
    except UserError:
        readable, unread = _readable_runs(runs)
        if not readable or not unread:
            raise
    return report_document(readable, options or ReportOptions(), tuple(unread))


def _readable_runs(runs: Sequence[ResultFile]) -> tuple[list[ResultFile], list[str]]:
    """The runs without the tasks whose logs can't be read, and why each of those can't."""
    readable: list[ResultFile] = []
    unread: list[str] = []
    for run in runs:
        configs = run.content.get("configs") or {}
        ours = [task for task, config in configs.items() if registry.find_suite(task, config)]
        broken = {task: said for task in ours if (said := _log_problem(run, task))}
        unread += broken.values()
        if broken:
            left = {name: {task: each for task, each in run.content[name].items() if task not in broken}
                    for name in ("configs", "results")}  # fmt: skip
            run = replace(run, content={**run.content, **left})  # noqa: PLW2901
        if not ours or len(broken) < len(ours):
            readable.append(run)
    return readable, unread


def _log_problem(run: ResultFile, task: str) -> str:
    try:
        deque(_runs.iter_records(run, task), maxlen=0)
    except UserError as error:
        return str(error)
    return ""


def report_document(runs: Sequence[ResultFile], options: ReportOptions, unread: tuple[str, ...] = ()) -> ReportDocument:
    """The report of these runs; ``unread``: what it leaves out, a sentence each. Raises UserError as
    :func:`build_report`."""
    found = runs_holding(runs)
    _check_options(options, [suite for suite, _ in found.values()])
    degraded = degradation_loss.degradation_parts(runs)
    several = len(found) + bool(degraded) > 1
    models = list(dict.fromkeys(_runs.model_name(run.content) for run in runs))
    parts: list[ReportChapter] = []
    asked: list[tuple[SuiteResults, SuiteFinding | None]] = []
    for name, (suite, own) in found.items():
        made = suite_report(suite, report_of(suite), own, replace(options, prefix=f"{name}-" if several else ""))
        plans, every = (*made.comparisons, *made.own), list[ReportChapter]()
        with progress_bar(len(plans), "Analysing", "task sets") as step:
            for make in plans:
                every.append(make())
                step(1)
        together, own_parts = every[: len(made.comparisons)], every[len(made.comparisons) :]
        # A report on one run opens with what was found, not with two of its task sets beside each other.
        for part in (*own_parts, *together) if len(runs) == 1 else (*together, *own_parts):
            title = f"{suite.title}: {part.title}" if several else part.title
            parts.append(replace(part, title=title, name=part.title, suite=suite.title))
        asked += made.found
    parts += degraded
    titles = ", ".join([*(suite.title for suite, _ in found.values()), *([degradation_loss.TITLE] if degraded else [])])
    title = f"{titles}: {models[0]}" if len(models) == 1 else f"{titles}: {len(models)} models"
    losses = [f"{f'{part.name}: ' if len(models) > 1 else ''}{text}"
              for part in degraded for section in part.sections for text in section.paragraphs]  # fmt: skip
    first = first_screen(runs, asked, unread, losses) if asked else None
    return ReportDocument(title, tuple(parts), first, unread)


def is_reported(run: ResultFile) -> bool:
    """Whether a report has anything of this run: a task of a suite, or one on degraded pictures."""
    return bool(_declarations(run) or degraded_tasks(run))


def _check_options(options: ReportOptions, suites: Sequence[Suite]) -> None:
    for name, flag in _OF_A_SUITE.items():
        if getattr(options, name) and not any(name in report_of(suite).uses for suite in suites):
            titles = ", ".join(suite.title for suite in suites)
            raise UserError(f"{flag} has no effect here: nothing in the report of {titles} depends on it.")


def reported_suites() -> dict[str, Suite]:
    """Every installed benchmark, by its name, in the order of the board (``place`` of ``board.yml``)."""
    said = {
        folder.name: folders.read_yaml(folder / "board.yml")["place"]
        for folder in folders.folders_with_file("board.yml")
    }
    names = sorted(registry.names(), key=lambda name: (name not in said, said.get(name, 0), name))
    return {name: registry.get(name) for name in names}


def runs_holding(runs: Iterable[ResultFile]) -> dict[str, tuple[Suite, list[ResultFile]]]:
    """The suites that these runs have tasks of, and for each of those its runs: ours first, then contributed ones.

    Raises UserError when a run has no task of any suite, and none on degraded pictures.
    """
    found: dict[str, tuple[Suite, list[ResultFile]]] = {name: (suite, []) for name, suite in reported_suites().items()}
    titles = " or ".join(suite.title for suite, _ in found.values())
    asked: dict[str, list[Suite]] = {}
    of_runs: list[tuple[ResultFile, list[Suite]]] = []
    for run in runs:
        suites = _declarations(run)
        for suite in suites:
            asked.setdefault(suite.name, []).append(suite)
        of_runs.append((run, suites))
        if not suites and not degraded_tasks(run):
            others = ", ".join(map(repr, run.tasks)) or "none"
            raise UserError(
                f"{run.path} has no task of {titles}, nor one made from a template. Its tasks: {others}. If their "
                "folder declares measures, name it: --include_path FOLDER."
            )
    for name, suites in asked.items():
        # Numbered where another declaration (tasks under another judge's protocol) has the name.
        for number, suite in enumerate(measures.join_declarations(_distinct(suites)), start=1):
            theirs = [run for run, own in of_runs if any(suite.covers(each) for each in own)]
            found[name if number == 1 else f"{name}-{number}"] = suite, theirs
    return {name: each for name, each in found.items() if each[1]}


def _declarations(run: ResultFile) -> list[Suite]:
    """The declarations of a run's tasks, each once: those of one name can differ."""
    configs = run.content.get("configs") or {}
    return _distinct(suite for task, config in configs.items() if (suite := registry.find_suite(task, config)))


def _distinct(suites: Iterable[Suite]) -> list[Suite]:
    return list({id(suite): suite for suite in suites}.values())


def report_of(suite: Suite) -> SuiteReportSpec:
    """The default report with what ``report.py`` of a benchmark's folder adds, or what it declares to be the whole.

    Raises UserError where the file declares none, one of its keys is a default one's, or published rows can't be read.
    """
    declared = declared_report(suite.name)
    if declared and declared.is_whole:
        return declared
    default = default_report(suite, registry.folder_of(suite.name))
    if not declared:
        return default
    for own, before in ((declared.views, default.views), (declared.compared, default.compared)):
        if taken := sorted(_section_keys(own) & _section_keys(before)):
            raise UserError(
                f"report.py of {suite.name} gives a section or table the key {', '.join(taken)}, which one of the "
                "default report has: one would replace the other's file. Choose another key, or declare is_whole=True."
            )
    return replace(
        declared,
        views=(*default.views, *declared.views),
        compared=(*default.compared, *declared.compared),
        caveats=lambda source: (*default.caveats(source), *declared.caveats(source)),
        tests=default.tests if declared.tests is SuiteReportSpec.tests else declared.tests,
    )


def _section_keys(views: Iterable[SectionSpec]) -> set[str]:
    """The keys of sections and of their declared tables."""
    return {each.key for view in views for each in (view, *view.tables) if isinstance(each, SectionSpec | TableSpec)}


def declared_report(name: str) -> SuiteReportSpec | None:
    """The report that ``report.py`` of a benchmark's folder declares; None without that file.

    Raises UserError where the file can't be imported, or declares none.
    """
    module = registry.load_companion(name, "report")
    report = getattr(module, "REPORT", None)
    if module is not None and not isinstance(report, SuiteReportSpec):
        raise UserError(
            f"The folder of {name} declares no report: expected REPORT = SuiteReportSpec(...) in report.py."
        )
    return report


def printed_tables(name: str) -> list[Frame]:
    """The published rows of a benchmark's tables, without a row of ours."""
    report = report_of(registry.get(name))
    tables = {id(table): table for view in (*report.compared, *report.views) for table in view.tables}
    printed = (getattr(each, "printed", None) for each in tables.values() if getattr(each, "published", None))
    return [each() for each in printed if each]
