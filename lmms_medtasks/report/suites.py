"""The suites that have a report, and what the module of each must offer."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.document import Part
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.statistics.bootstrap import RESAMPLES
from lmms_medtasks.suites import registry
from lmms_medtasks.suites import suite as _declaration

_MODULES = {}


@dataclass(frozen=True)
class Options:
    """What the user asked of a report.

    Attributes:
        resamples: bootstrap resamples, 0 for no intervals. drawn: whether figures are wanted (a terminal has none).
        pairs: two models each that are to be compared, by the names that the report gives them: a base and the one
            that was made from it. parameters: number of parameters by model.
        prefix: of every part's key; "" unless the document has several suites.
    """

    resamples: int = RESAMPLES
    drawn: bool = True
    pairs: tuple[tuple[str, str], ...] = ()
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    prefix: str = ""


class Suite(Protocol):
    """A module with the report of a suite."""

    TITLE: str
    """The suite's name for people."""

    USES: frozenset[str]
    """Which of ``pairs`` and ``parameters`` it makes use of."""

    def is_ours(self, run: Run, task: str) -> bool:
        """Whether the task is one of the suite's."""

    def parts(self, runs: Sequence[Run], options: Options) -> list[Part]:
        """The suite's parts of the document. Each of ``runs`` has a task of the suite; at least one is given.

        Part keys start with ``options.prefix`` and are distinct. Raises UserError when a log can't be read.
        """


def suites() -> dict[str, Suite]:
    """Every suite with a report, by its name."""
    declared = {name: Declared(registry.get(name)) for name in registry.names()}
    found = {name: importlib.import_module(module) for name, module in _MODULES.items()}
    return {**found, **declared}  # type: ignore[dict-item]


@dataclass(frozen=True, eq=False)
class Declared:
    """The report of a benchmark that declares it in its folder."""

    suite: _declaration.Suite

    @property
    def TITLE(self) -> str:
        """The suite's name for people."""
        return self.suite.title

    @property
    def USES(self) -> frozenset[str]:
        """Which of ``pairs`` and ``parameters`` it makes use of."""
        from lmms_medtasks.report import suite_report

        return suite_report.report_of(self.suite).uses

    def is_ours(self, run: Run, task: str) -> bool:
        """Whether the task is one of the suite's."""
        return registry.find(task, run.content["configs"][task]) is self.suite

    def parts(self, runs: Sequence[Run], options: Options) -> list[Part]:
        """The suite's parts of the document."""
        from lmms_medtasks.report import suite_report

        return suite_report.parts(self.suite, suite_report.report_of(self.suite), runs, options)


def holding(runs: Iterable[Run]) -> dict[str, tuple[Suite, list[Run]]]:
    """The suites that these runs have tasks of, and for each of those its runs: ours first, then contributed ones.

    Raises UserError when a run has no task of any suite.
    """
    ours = suites()
    found: dict[str, tuple[Suite, list[Run]]] = {name: (suite, []) for name, suite in ours.items()}
    for run in runs:
        own = {name: suite for name, suite in ours.items() if _has_task_of(run, suite)}
        for each in contributed(run):
            name = _free_name(each, found)
            own[name] = found.setdefault(name, (each, []))[0]
        if not own:
            titles = " or ".join(suite.TITLE for suite in ours.values())
            others = ", ".join(map(repr, run.tasks)) or "none"
            raise UserError(
                f"No task of {titles} in {run.path}, nor one on a template. Its tasks: {others}. Where their folder "
                "declares its measures: --include_path FOLDER."
            )
        for name in own:
            found[name][1].append(run)
    return {name: each for name, each in found.items() if each[1]}


def _free_name(declared: Declared, found: Mapping[str, tuple[Suite, list[Run]]]) -> str:
    """The benchmark's name, numbered where another declaration (tasks under another judge's protocol) has it."""
    name, number = declared.suite.name, 1
    while name in found and getattr(found[name][0], "suite", None) is not declared.suite:
        number += 1
        name = f"{declared.suite.name}-{number}"
    return name


def contributed(run: Run) -> list[Declared]:
    """The contributed benchmarks that a run has tasks of, those that are not among :func:`suites`."""
    configs = run.content.get("configs") or {}
    found = {id(suite): suite for task, config in configs.items() if (suite := registry.find(task, config))}
    return [Declared(suite) for suite in found.values() if suite.name not in registry.names()]


def _has_task_of(run: Run, suite: Suite) -> bool:
    return any(suite.is_ours(run, task) for task in run.content.get("configs", {}))
