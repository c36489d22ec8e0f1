"""How the harness's command ends: with status 1 if a run is not a result, and not because its output was closed.

The harness always ends with 0. Its last step is to print the table of results, after everything is written: ending the
command there loses nothing. What of that table is printed is decided here too.
"""

from __future__ import annotations

import atexit
import functools
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TextIO

from lmms_medtasks.errors import is_command_line
from lmms_medtasks.harness import stamps
from lmms_medtasks.progress import RUN_LOG, print_message
from lmms_medtasks.samples import result_files

TABLES = "MEDTASKS_TABLES"
"""Environment variable: which rows of the harness's table are printed, by a command that prints a report itself."""
ALL_ROWS, FOLDED, NO_ROWS = "all", "folded", "none"
"""Values of :data:`TABLES`; :data:`FOLDED`: those that ``folded_tables`` keeps. Unset: all, and a line that names the
report."""

ALLOW_FAILURES = "MEDTASKS_ALLOW_FAILURES"
"""Environment variable: if 1, failed requests do not change the exit status."""

WAY_OUT = (
    "They are left out, and what is left may differ from the whole. The same command asks only those again; "
    "lmms-medtasks run --allow-failures takes the run as it is"
)


def fail_after_the_tables(why_of: Callable[[Mapping[str, Any]], str]) -> None:
    """Under the harness's command line, end with status 1 after the tables if ``why_of`` gives a reason for results."""
    for name in ("lmms_eval.__main__", "__main__") if is_command_line() else ():
        if callable(original := getattr(sys.modules.get(name), "make_table", None)):
            failing = functools.partial(_make_failing_table, original, why_of)
            sys.modules[name].make_table = failing  # type: ignore[attr-defined]


def _make_failing_table(
    original: Any, why_of: Callable[[Mapping[str, Any]], str], results: Any, column: str = "results", **kwargs: Any
) -> Any:
    table = original(results, column, **kwargs)
    if (column == "groups" or "groups" not in results) and (why := why_of(results)):
        if table:
            print(table)
        raise SystemExit(f"lmms-medtasks: {why}")
    return table


def prepare_tables(options: Any, *, are_ours: bool) -> None:
    """Under the harness's command line, let it print the rows that :data:`TABLES` says; before it has results.

    Without that variable it prints them all, and if the run has tasks of ours, at the end the report's command, or now
    what a report needs.
    """
    if not is_command_line():
        return
    chosen = os.environ.get(TABLES, "")
    if not chosen and are_ours:
        needed = {"log_samples": "--log_samples", "output_path": "--output_path FOLDER"}
        lacks = [option for name, option in needed.items() if not getattr(options, name, None)]
        if not lacks:
            atexit.register(_name_report, options)
        elif os.environ.get("RANK", "0") == "0":
            print_message(f"lmms-medtasks: this run will have no report. For one, add {' '.join(lacks)}.")
    if chosen == NO_ROWS or (chosen == FOLDED and are_ours):
        from lmms_medtasks.harness import folded_tables

        folded_tables.fold_tables(chosen == FOLDED)


def _name_report(options: Any) -> None:
    if path := stamps.find_result_file(options):
        print_message(f"What was found, on one screen: lmms-medtasks report {shlex.quote(str(path))}")


def describe_unwritten_results(options: Any, tasks: Iterable[str]) -> str:
    """What is missing on disk of the results that the command with these options had to write; "" if nothing is."""
    if not getattr(options, "output_path", None):
        return ""
    path = stamps.find_result_file(options)
    log_samples = bool(getattr(options, "log_samples", False))
    return result_files.unwritten_problem([path] if path else [], tasks, log_samples)


def check_results_written(options: Any, tasks: Iterable[str]) -> None:
    """Let the command fail if its results are not on disk when its tables are printed."""
    names = list(tasks)
    fail_after_the_tables(lambda results: describe_unwritten_results(options, names))


def check_failed_requests(results: Mapping[str, Any] | None) -> None:
    """Let the command fail if too many requests did; else print which failed, unless the run's report says it."""
    failed = [requests for requests in result_files.failed_requests(results or {}) if requests.failed]
    if failed and os.environ.get(ALLOW_FAILURES) != "1":
        fail_after_the_tables(lambda results: describe_failed_requests([results]))
        if is_command_line() and describe_failed_requests([results or {}]):
            return
    again = " The same command asks only those again." if is_command_line() else ""
    for requests in failed if RUN_LOG not in os.environ else ():
        print_message(f"lmms-medtasks: warning: {requests}.{again}")


def describe_failed_requests(contents: list[Mapping[str, Any]]) -> str:
    """Why the results of a run can't be used: too many failed requests; "" if few failed."""
    from lmms_medtasks.board import rules

    most = rules.read_board_rules().thresholds["failure_rate"]
    too_many = result_files.too_many_failed(contents, most)
    return f"{'; '.join(map(str, too_many))}, at most {most:.1%} may. {WAY_OUT}." if too_many else ""


def outlive_closed_output(*, is_quiet: bool = False) -> None:
    """Discard what is printed after the other end of standard output or error was closed; once, however often called.

    ``is_quiet``: do not say that the run goes on, which the harness's process says.

    Otherwise Python would raise at the next text (``| head``), a progress bar's too, and end a run that cost time or
    money.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is None or isinstance(stream.flush, _Outliving):
            continue
        for name in ("write", "flush"):
            setattr(stream, name, _Outliving(stream, getattr(stream, name), is_quiet))


class _Outliving:
    """A stream's method that writes."""

    def __init__(self, stream: TextIO, original: Callable[..., Any], is_quiet: bool) -> None:
        self._stream, self._original, self._is_quiet = stream, original, is_quiet

    def __call__(self, *args: Any) -> Any:
        try:
            return self._original(*args)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            if self._stream is sys.stdout and not self._is_quiet:
                print_message(
                    "lmms-medtasks: nobody reads what is printed any more. The run goes on, and writes its results."
                )
            return self._original(*args)
