"""``lmms-medtasks validate``: run all checks of a task's folder."""

from __future__ import annotations

import base64
import importlib.resources
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks.contribute import live, question_checks, static
from lmms_medtasks.contribute.loaded import LoadedTask, call_reporting_errors
from lmms_medtasks.report import published, reported_suites
from lmms_medtasks.suites import registry
from lmms_medtasks.task_yaml.chain import IncludeChain
from lmms_medtasks.task_yaml.problems import ValidationLog, ValidationProblem
from lmms_medtasks.writing import write_text_atomically

_NOT_WRITTEN = f"{live.SNAPSHOT} was not written: the errors below come first."


def validate_folder(
    path: Path, *, static_only: bool = False, show: Path | None = None, write: bool = False
) -> ValidationLog:
    """Check a task's folder, or one YAML of it.

    Args:
        path: The folder, or the YAML.
        static_only: Import and execute nothing of the contribution.
        show: Write a page there that shows the first questions as a model gets them.
        write: Record the prompts in prompts.json, rather than compare them with it. Not done where anything but the
            card is wrong, and then told.

    Hooks are executed only if the static checks found no error.

    Raises:
        UserError: no such folder.
    """
    log = ValidationLog()
    chains = static.check_static(path, log)
    # An unfinished card does not prevent the other checks.
    if static_only or _has_errors_beyond_card(log):
        if write:
            log.told.append(_NOT_WRITTEN)
        return log
    _check_live(path, chains, show, write, log)
    log.problems = _merge_same_problems(log.problems)
    return log


def _merge_same_problems(problems: list[ValidationProblem]) -> list[ValidationProblem]:
    """Merge equal problems of several tasks into one that names all their files."""
    groups: dict[ValidationProblem, list[ValidationProblem]] = {}
    for problem in problems:
        of_task = problem.line is None and problem.file.endswith(".yaml")
        groups.setdefault(replace(problem, file="") if of_task else problem, []).append(problem)
    files = [", ".join(dict.fromkeys(problem.file for problem in same)) for same in groups.values()]
    return [replace(same[0], file=file) for same, file in zip(groups.values(), files, strict=True)]


def _has_errors_beyond_card(log: ValidationLog) -> bool:
    return any(not error.file.endswith(".md") for error in log.errors)


def _check_live(path: Path, chains: list[IncludeChain], show: Path | None, write: bool, log: ValidationLog) -> None:
    folder = static.folder_of_task(path)
    tasks: list[LoadedTask] = []
    pages = []
    for chain in chains:
        task, questions = live.check_live(chain, log)
        pages.append((chain.path.stem, questions))
        if task is not None:
            tasks.append(task)
    if path.is_dir() and len(tasks) == len(chains):
        question_checks.check_pictures_beside(folder.resolve(), tasks, log)
    if (folder / "report.py").is_file():

        def read_report() -> None:
            registry.add_suite_folders([folder.resolve()])
            reported_suites.declared_report(folder.resolve().name)

        call_reporting_errors(read_report, path="report.py", what="can't be used", log=log)
    if tasks:
        suites = filter(None, (registry.find_suite(task.name, task.config) for task in tasks))
        metrics = {name for suite in suites for name in suite.estimates}
        call_reporting_errors(
            published.read_rows,
            folder.resolve(),
            None if (folder / "report.py").is_file() else metrics,  # which may name the columns otherwise
            path=published.PUBLISHED,
            what="can't be used",
            log=log,
        )
    if write and _has_errors_beyond_card(log):
        log.told.append(_NOT_WRITTEN)
    elif write:
        log.told.append(f"Written: {live.write_snapshot(folder, tasks, whole=path.is_dir())}")
    elif len(tasks) == len(chains):
        live.check_snapshot(folder, tasks, log)
    if show is not None:
        write_text_atomically(show, _render_page(folder.resolve().name, pages))
        log.told.append(f"Written: {show}")


def _render_page(title: str, tasks: Sequence[tuple[str, Sequence[live.ShownQuestion]]]) -> str:
    """A page that shows questions as a model gets them: all texts escaped, all images inside, no script."""
    import jinja2

    text = importlib.resources.files(__package__).joinpath("page.html").read_text("utf-8")
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(text)
    return page.render(title=title, count=live.SHOWN, tasks=tasks, data_url=_data_url)


def _data_url(picture: Any) -> str:
    held = io.BytesIO()
    picture.save(held, "PNG")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()
