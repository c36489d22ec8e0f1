"""The end of ``lmms-medtasks run``: what was found, on one screen, and what failed."""

from __future__ import annotations

import glob
import os
import shlex
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from lmms_medtasks import folders
from lmms_medtasks.cli.run_arguments import find_option_value
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.result_files import ResultFile

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that interrupt a run."""

_MISTAKE = 2
_TOLD = (1, _MISTAKE)
"""Statuses with which Python ends after it printed why: a message or a traceback (1), a usage error (2)."""
_GO_ON = (
    "Give the same command again (without --fresh) to go on where it stopped: replies to tasks of lmms-medtasks are "
    "kept, unless MEDTASKS_JOURNAL is off; only what was being asked ({}) may be asked again. "
    "Others' tasks are asked again, but for what --use_cache holds."
)
_CAUSES = {signal.SIGKILL: " (kill -9, or the machine or the job had no memory left)"}


def end_run(
    status: int, written: Sequence[Path], output: Path, tasks: list[str], arguments: list[str], *, allow_failures: bool
) -> None:
    """Print where results are and what was found; exit with another status than 0 if something failed.

    ``status``: of the harness, minus the number of a signal that ended it. ``written``: its result files, in
    ``output``. ``tasks``: those asked for, [] if unknown. ``arguments``: the harness's.
    """
    from lmms_medtasks.harness import ending

    runs = [results.read_result_file(path) for path in written]
    missing = results.list_missing_results(runs, tasks or ["*"])
    allowed = allow_failures or os.environ.get(ending.ALLOW_FAILURES) == "1"
    failed = "" if allowed or missing else ending.describe_failed_requests([result.content for result in runs])
    included = find_option_value(arguments, "--include_path")
    for path in written:
        typer.echo(f"Results: {path}", err=True)
    _print_report(runs, output, included)
    if status == 0 and not missing and not failed:
        return
    if status < 0:
        number = signal.Signals(-status)
        why = f"The evaluation was ended by {number.name}{_CAUSES.get(number, '')}"
        why = "Interrupted" if number in ENDING else why
        typer.echo(f"lmms-medtasks: {why}. {_GO_ON.format(_describe_slice(arguments))}", err=True)
        raise typer.Exit(128 - status)
    if not written:
        missing = [] if status in _TOLD else [f"The evaluation failed: no result file in {output}."]
    # A user's mistake was told with its way out: a model that terms forbid is no fault of a task.
    advice = [] if failed or status == _MISTAKE else _iter_advice(tasks, included)
    for line in filter(None, [*missing, failed, *advice]):
        typer.echo(f"lmms-medtasks: {line}", err=True)
    raise typer.Exit(status if status not in (0, None) else 1)


def _describe_slice(arguments: list[str]) -> str:
    """What the harness with these arguments asks before it keeps the replies."""
    from lmms_medtasks.harness import runners

    model, table = find_option_value(arguments, "--model"), runners.load_runners()
    has_tools = "mcp" in (find_option_value(arguments, "--model_args") or "")
    takes_all = [*table["one_call_a_run"], *(table["one_call_a_run_with_tools"] if has_tools else ())]
    is_whole = model in {module.partition(".")[2] for module in takes_all}
    return "the whole task, which this runner takes in one call" if is_whole else "a minute's work or less"


def _print_report(runs: Sequence[ResultFile], output: Path, included: str | None) -> None:
    """Print the first screen of the report of these runs, or why there is none; nothing of others' tasks alone."""
    if not runs:
        return
    from lmms_medtasks.cli.report import print_on_terminal
    from lmms_medtasks.report import build_report
    from lmms_medtasks.report.reported_suites import is_reported
    from lmms_medtasks.suites import registry

    try:
        registry.add_suite_folders([Path(included)] if included else [])
        paths = [run.path for run in runs if is_reported(run)]
        if not paths:
            return
        alone = {path.resolve() for path in results.list_result_files(output)} == {path.resolve() for path in paths}
        named = [output] if alone else paths
        more = ["--include_path", included] if included else []
        command = shlex.join(["lmms-medtasks", "report", *map(str, named), *more])
        print_on_terminal(build_report(paths), command=command)
    except UserError as error:
        typer.echo(f"lmms-medtasks: no report: {error}", err=True)


def _iter_advice(tasks: list[str], included: str | None) -> Iterator[str]:
    """A command or option to try if a task that is not ours has no result."""
    ours = folders.task_files()
    if all(task.partition("@")[0] in ours for task in tasks):
        return
    if included is not None:
        task_folders = [path.parent for task in tasks for path in Path(included).rglob(f"{glob.escape(task)}.yaml")]
        folder = shlex.quote(str(task_folders[0])) if task_folders else f"{included}/FOLDER"
        yield f"What is wrong with a contributed task or its data is said by: lmms-medtasks validate {folder}"
    else:
        yield "A task that is not installed needs --include_path FOLDER, the folder that holds its folder."
