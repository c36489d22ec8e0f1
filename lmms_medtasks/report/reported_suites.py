"""The benchmarks that have a report: those that are installed, and contributed ones that runs have tasks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import suite_report
from lmms_medtasks.report.default_report import default_report
from lmms_medtasks.report.degradation_loss import degraded_tasks
from lmms_medtasks.report.document import Frame
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import Report, SuiteReport
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite


def suites() -> dict[str, Declared]:
    """The report of every installed benchmark, by its name, in the order of the board (``place`` of ``board.yml``)."""
    said = {folder.name: folders.read_yaml(folder / "board.yml")["place"] for folder in folders.having("board.yml")}
    names = sorted(registry.names(), key=lambda name: (name not in said, said.get(name, 0), name))
    return {name: Declared(registry.get(name)) for name in names}


@dataclass(frozen=True, eq=False)
class Declared:
    """The report of a benchmark that declares it in its folder."""

    suite: Suite

    @property
    def title(self) -> str:
        """The suite's name for people."""
        return self.suite.title

    @property
    def uses(self) -> frozenset[str]:
        """Which of ``pairs`` and ``parameters`` it makes use of."""
        return report_of(self.suite).uses

    def is_ours(self, run: Run, task: str) -> bool:
        """Whether the task is one of the suite's."""
        return registry.find(task, run.content["configs"][task]) is self.suite

    def report(self, runs: Sequence[Run], options: Options) -> SuiteReport:
        """The suite's share of the document. Each of ``runs`` has a task of the suite; at least one is given.

        Part keys start with ``options.prefix`` and are distinct. Raises UserError when a log can't be read.
        """
        return suite_report.suite_report(self.suite, report_of(self.suite), runs, options)


def holding(runs: Iterable[Run]) -> dict[str, tuple[Declared, list[Run]]]:
    """The suites that these runs have tasks of, and for each of those its runs: ours first, then contributed ones.

    Raises UserError when a run has no task of any suite, and none on degraded pictures.
    """
    ours = suites()
    found: dict[str, tuple[Declared, list[Run]]] = {name: (suite, []) for name, suite in ours.items()}
    for run in runs:
        own = {name: suite for name, suite in ours.items() if _has_task_of(run, suite)}
        for each in contributed(run):
            name = _free_name(each, found)
            own[name] = found.setdefault(name, (each, []))[0]
        if not own and not degraded_tasks(run):
            titles = " or ".join(suite.title for suite in ours.values())
            others = ", ".join(map(repr, run.tasks)) or "none"
            raise UserError(
                f"No task of {titles} in {run.path}, nor one on a template. Its tasks: {others}. Where their folder "
                "declares its measures: --include_path FOLDER."
            )
        for name in own:
            found[name][1].append(run)
    return {name: each for name, each in found.items() if each[1]}


def _free_name(declared: Declared, found: Mapping[str, tuple[Declared, list[Run]]]) -> str:
    """The benchmark's name, numbered where another declaration (tasks under another judge's protocol) has it."""
    name, number = declared.suite.name, 1
    while name in found and found[name][0].suite is not declared.suite:
        number += 1
        name = f"{declared.suite.name}-{number}"
    return name


def contributed(run: Run) -> list[Declared]:
    """The contributed benchmarks that a run has tasks of, those that are not among :func:`suites`."""
    configs = run.content.get("configs") or {}
    found = {id(suite): suite for task, config in configs.items() if (suite := registry.find(task, config))}
    return [Declared(suite) for suite in found.values() if suite.name not in registry.names()]


def _has_task_of(run: Run, suite: Declared) -> bool:
    return any(suite.is_ours(run, task) for task in run.content.get("configs", {}))


def report_of(suite: Suite) -> Report:
    """The report that a benchmark's folder declares in ``report.py``; without that file the default one.

    Raises UserError where the file declares none, or published rows can't be read.
    """
    module = registry.companion(suite, "report")
    if module is None:
        return default_report(suite, registry.folder_of(suite.name))
    report = getattr(module, "REPORT", None)
    if not isinstance(report, Report):
        raise UserError(f"The folder of {suite.name} declares no report: expected REPORT = Report(...) in report.py.")
    return report


def printed_tables(name: str) -> list[Frame]:
    """The published rows of a benchmark's tables, without a row of ours."""
    report = report_of(registry.get(name))
    tables = {id(table): table for view in (*report.compared, *report.views) for table in view.tables}
    printed = (getattr(each, "printed", None) for each in tables.values() if getattr(each, "published", None))
    return [each() for each in printed if each]
