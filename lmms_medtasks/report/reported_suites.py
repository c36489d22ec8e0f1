"""The benchmarks that have a report: those that are installed, and contributed ones that runs have tasks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


def suites() -> dict[str, Suite]:
    """Every installed benchmark, by its name, in the order of the board (``place`` of ``board.yml``)."""
    said = {folder.name: folders.read_yaml(folder / "board.yml")["place"] for folder in folders.having("board.yml")}
    names = sorted(registry.names(), key=lambda name: (name not in said, said.get(name, 0), name))
    return {name: registry.get(name) for name in names}


def report(suite: Suite, runs: Sequence[Run], options: Options) -> SuiteReport:
    """The suite's share of the document. Each of ``runs`` has a task of the suite; at least one is given.

    Part keys start with ``options.prefix`` and are distinct. Raises UserError when a log can't be read.
    """
    return suite_report.suite_report(suite, report_of(suite), runs, options)


def holding(runs: Iterable[Run]) -> dict[str, tuple[Suite, list[Run]]]:
    """The suites that these runs have tasks of, and for each of those its runs: ours first, then contributed ones.

    Raises UserError when a run has no task of any suite, and none on degraded pictures.
    """
    found: dict[str, tuple[Suite, list[Run]]] = {name: (suite, []) for name, suite in suites().items()}
    titles = " or ".join(suite.title for suite, _ in found.values())
    for run in runs:
        configs = run.content.get("configs") or {}
        # By identity: contributed benchmarks of one name can be declared otherwise in another run.
        asked = {id(suite): suite for task, config in configs.items() if (suite := registry.find(task, config))}
        if not asked and not degraded_tasks(run):
            others = ", ".join(map(repr, run.tasks)) or "none"
            raise UserError(
                f"No task of {titles} in {run.path}, nor one on a template. Its tasks: {others}. Where their folder "
                "declares its measures: --include_path FOLDER."
            )
        for suite in asked.values():
            found.setdefault(_free_name(suite, found), (suite, []))[1].append(run)
    return {name: each for name, each in found.items() if each[1]}


def _free_name(suite: Suite, found: Mapping[str, tuple[Suite, list[Run]]]) -> str:
    """The benchmark's name, numbered where another declaration (tasks under another judge's protocol) has it."""
    name, number = suite.name, 1
    while name in found and found[name][0] is not suite:
        number += 1
        name = f"{suite.name}-{number}"
    return name


def report_of(suite: Suite) -> Report:
    """The report that a benchmark's folder declares in ``report.py``; without that file the default one.

    Raises UserError where the file declares none, or published rows can't be read.
    """
    return declared(suite.name) or default_report(suite, registry.folder_of(suite.name))


def declared(name: str) -> Report | None:
    """The report that ``report.py`` of a benchmark's folder declares; None without that file.

    Raises UserError where the file can't be imported, or declares none.
    """
    module = registry.companion(name, "report")
    report = getattr(module, "REPORT", None)
    if module is not None and not isinstance(report, Report):
        raise UserError(f"The folder of {name} declares no report: expected REPORT = Report(...) in report.py.")
    return report


def printed_tables(name: str) -> list[Frame]:
    """The published rows of a benchmark's tables, without a row of ours."""
    report = report_of(registry.get(name))
    tables = {id(table): table for view in (*report.compared, *report.views) for table in view.tables}
    printed = (getattr(each, "printed", None) for each in tables.values() if getattr(each, "published", None))
    return [each() for each in printed if each]
