"""How the harness's command ends: with status 1 where a run is no result, and not since nobody reads what it prints.

The harness ends with 0 whatever happened. Its last step is the table of the results, once everything is written; what
ends the command there loses nothing.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TextIO

from lmms_medtasks.errors import is_command_line
from lmms_medtasks.harness import stamps
from lmms_medtasks.progress import print_message
from lmms_medtasks.samples import result_files

ALLOW_FAILURES = "MEDTASKS_ALLOW_FAILURES"
"""Set to 1, failed requests move no exit status."""

WAY_OUT = (
    "They are left out, and what is left may differ from the whole. The same command asks only those again; "
    "lmms-medtasks run --allow-failures takes the run as it is"
)


def fail_after_the_tables(why_of: Callable[[Mapping[str, Any]], str]) -> None:
    """Under the harness's command line, end with status 1 after the tables of results of which ``why_of`` says why."""
    for name in ("lmms_eval.__main__", "__main__") if is_command_line() else ():
        if callable(original := getattr(sys.modules.get(name), "make_table", None)):
            sys.modules[name].make_table = _failing_table(original, why_of)  # type: ignore[attr-defined]


def _failing_table(original: Any, why_of: Callable[[Mapping[str, Any]], str]) -> Any:
    @functools.wraps(original)
    def make_table(results: Any, column: str = "results", *args: Any, **kwargs: Any) -> Any:
        table = original(results, column, *args, **kwargs)
        if (column == "groups" or "groups" not in results) and (why := why_of(results)):
            print(table)
            raise SystemExit(f"lmms-medtasks: {why}")
        return table

    return make_table


def describe_unwritten_results(options: Any, tasks: Iterable[str]) -> str:
    """What is not on disk of the results that the command with these options had to write; "" where nothing lacks."""
    if not getattr(options, "output_path", None):
        return ""
    path = stamps.find_result_file(options)
    log_samples = bool(getattr(options, "log_samples", False))
    return result_files.unwritten_problem([path] if path else [], tasks, log_samples)


def check_results_written(options: Any, tasks: Iterable[str]) -> None:
    """Let the command fail where its results are not on disk when its tables are printed."""
    names = list(tasks)
    fail_after_the_tables(lambda results: describe_unwritten_results(options, names))


def check_failed_requests(results: Mapping[str, Any] | None) -> None:
    """Say of the harness's results which requests failed, and let the command fail where they are too many."""
    failed = [requests for requests in result_files.failed_requests(results or {}) if requests.failed]
    for each in failed:
        print_message(f"lmms-medtasks: warning: {each}.")
    if failed and os.environ.get(ALLOW_FAILURES) != "1":
        fail_after_the_tables(_failure_reason)


def _failure_reason(results: Mapping[str, Any]) -> str:
    return describe_failed_requests([results])


def describe_failed_requests(contents: list[Mapping[str, Any]]) -> str:
    """Why the results of a run can't be taken as they are: too many failed requests; "" where there are few."""
    from lmms_medtasks.board import rules

    most = rules.read_board_rules().thresholds["failure_rate"]
    too_many = result_files.too_many_failed(contents, most)
    return f"{'; '.join(map(str, too_many))}, at most {most:.1%} may. {WAY_OUT}." if too_many else ""


def outlive_closed_output() -> None:
    """Let standard output and error, from now on, lead nowhere once their other end is closed. Twice is as once.

    Python would raise at the first text that is printed then (``| head``), a progress bar's too, and the harness would
    end with it. Replies that came cost time or money.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is None or isinstance(stream.flush, _Outliving):
            continue
        for name in ("write", "flush"):
            setattr(stream, name, _Outliving(stream, getattr(stream, name)))


class _Outliving:
    """A stream's method that writes."""

    def __init__(self, stream: TextIO, original: Callable[..., Any]) -> None:
        self._stream, self._original = stream, original

    def __call__(self, *args: Any) -> Any:
        try:
            return self._original(*args)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            if self._stream is sys.stdout:
                print_message(
                    "lmms-medtasks: nobody reads what is printed any more. The run goes on, and writes its results."
                )
            return self._original(*args)
