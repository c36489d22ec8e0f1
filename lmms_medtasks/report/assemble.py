"""One document from runs of any suites: each suite's parts, one suite after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.errors import UserError, nearest_path
from lmms_medtasks.progress import bar
from lmms_medtasks.report import degradation_loss, reported_suites
from lmms_medtasks.report.document import Document, Part
from lmms_medtasks.report.findings import Finding
from lmms_medtasks.report.first_screen import first_screen
from lmms_medtasks.report.quotable import Asked
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.samples import runs as _runs
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite

_OF_A_SUITE = {"pairs": "--pair", "parameters": "--parameters"}


def build(paths: Sequence[Path], options: Options | None = None) -> Document:
    """The report of the runs that ``paths`` hold (see :func:`lmms_medtasks.samples.runs.find`).

    Suites come first, then what any task lost on degraded pictures (:mod:`lmms_medtasks.report.degradation_loss`).

    The same files and options give the same document. A task whose log can't be read is left out where others can be,
    see :attr:`Document.unread`. Raises UserError when no log or a result file can't be read, a run holds no task of a
    suite of ours, or can't be told apart from another, and when an option is of no use to any of the suites.
    """
    for path in paths:
        if not path.exists():
            said = "Give a result folder of a run, or its *_results.json."
            raise UserError(f"{path} is not there.{nearest_path(path)} {said}")
    runs = _runs.find(paths)
    try:
        return document(runs, options or Options())
    except UserError:
        readable, unread = _readable(runs)
        if not readable or not unread:
            raise
    return document(readable, options or Options(), tuple(unread))


def _readable(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """The runs without the tasks whose logs can't be read, and why each of those can't."""
    readable: list[Run] = []
    unread: list[str] = []
    for run in runs:
        configs = run.content.get("configs") or {}
        ours = [task for task, config in configs.items() if registry.find(task, config)]
        broken = {task: said for task in ours if (said := _wrong(run, task))}
        unread += broken.values()
        if broken:
            left = {name: {task: each for task, each in run.content[name].items() if task not in broken}
                    for name in ("configs", "results")}  # fmt: skip
            run = replace(run, content={**run.content, **left})  # noqa: PLW2901
        if not ours or len(broken) < len(ours):
            readable.append(run)
    return readable, unread


def _wrong(run: Run, task: str) -> str:
    try:
        deque(_runs.records(run, task), maxlen=0)
    except UserError as error:
        return str(error)
    return ""


def document(runs: Sequence[Run], options: Options, unread: tuple[str, ...] = ()) -> Document:
    """The report of these runs; ``unread``: what it leaves out, a sentence each. Raises UserError as :func:`build`."""
    found = reported_suites.holding(runs)
    _check(options, [suite for suite, _ in found.values()])
    degraded = degradation_loss.parts(runs)
    several = len(found) + bool(degraded) > 1
    models = list(dict.fromkeys(_runs.model_name(run.content) for run in runs))
    parts: list[Part] = []
    asked: list[tuple[Asked, Finding | None]] = []
    for name, (suite, own) in found.items():
        made = reported_suites.report(suite, own, replace(options, prefix=f"{name}-" if several else ""))
        every: list[Part] = []
        # The sources' own parts come last, in the order of the sources.
        with bar(len(made.parts), "Analysing", "task sets") as step:
            for planned in made.parts:
                every.append(planned.make())
                step(1)
        together, own_parts = every[: -len(made.found)], every[-len(made.found) :]
        # A report on one run opens with what was found, not with two of its task sets beside each other.
        for part in (*own_parts, *together) if len(runs) == 1 else (*together, *own_parts):
            title = f"{suite.title}: {part.title}" if several else part.title
            parts.append(replace(part, title=title, name=part.title, suite=suite.title))
        asked += made.found
    parts += degraded
    titles = ", ".join([*(suite.title for suite, _ in found.values()), *([degradation_loss.TITLE] if degraded else [])])
    title = f"{titles}: {models[0]}" if len(models) == 1 else f"{titles}: {len(models)} models"
    first = first_screen(runs, asked, unread) if asked else None
    return Document(title, tuple(parts), first, unread)


def _check(options: Options, suites: Sequence[Suite]) -> None:
    for name, flag in _OF_A_SUITE.items():
        if getattr(options, name) and not any(name in reported_suites.report_of(suite).uses for suite in suites):
            titles = ", ".join(suite.title for suite in suites)
            raise UserError(f"{flag} is of no use here: the report of {titles} has nothing that it could change.")
