"""The questions of runs as one table of a benchmark: the record's columns, and those that say where a row is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.record import Record
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import printable, records, settings_of
from lmms_medtasks.samples.table import Samples, row_of
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite

_ROUNDING = 1e-9


def tasks_of(suite: Suite, run: Run) -> list[str]:
    """The run's tasks that are of this benchmark, in the run's order."""
    configs: Mapping[str, Mapping[str, Any]] = run.content.get("configs") or {}
    return [task for task, config in configs.items() if registry.find(task, config) is suite]


def suite_table(suite: Suite, runs: Sequence[Run]) -> Samples:
    """One table of all questions of the benchmark's tasks in ``runs``.

    Columns beside the record's: ``run`` (its number), ``task``, ``condition`` (how it was asked), ``line`` of the log,
    and ``repeated``, whether another task of the run asked the same under the same condition before.

    Raises UserError, with file and line, for a record that can't be read, has a measure that the benchmark does not
    declare, a score outside its measure's range, or a tag's value that the tag can't have.
    """
    # Texts of others: what can't be printed has no place in a table, a page or a terminal.
    return Samples.of_rows((row for number, run in enumerate(runs) for row in _rows(suite, number, run)), printable)


def task_table(suite: Suite, run: Run, task: str) -> Samples:
    """A table of the questions of one task of a run: see :func:`suite_table`."""
    return Samples.of_rows(_task_rows(suite, run, task), printable)


def _task_rows(suite: Suite, run: Run, task: str) -> Iterator[dict[str, Any]]:
    settings = settings_of(run, task)
    condition, tags = suite.condition(task, settings), suite.task_tags(task, settings)
    for record, line in _declared(suite, records(run, task), str(run.samples_file(task))):
        yield {**row_of(record), **tags, "task": task, "condition": condition, "line": line}


def _rows(suite: Suite, number: int, run: Run) -> Iterator[dict[str, Any]]:
    seen: set[tuple[Any, ...]] = set()
    for task in tasks_of(suite, run):
        for row in _task_rows(suite, run, task):
            key = (row["condition"], *(row.get(name) for name in suite.identity))
            yield {**row, "run": number, "repeated": key in seen}
            seen.add(key)


def _declared(suite: Suite, found: Iterable[tuple[Record, int]], file: str) -> Iterator[tuple[Record, int]]:
    known = {measure.name: measure for measure in suite.measures}
    for record, line in found:
        where = f"{file}, line {line}"
        for name, value in record.measures.items():
            if name not in known:
                raise unknown("measure", name, known, f"{where}; {suite.name} declares the others")
            low, high = known[name].low, known[name].high
            if value.score is not None and not low - _ROUNDING <= value.score <= high + _ROUNDING:
                raise UserError(f"{where}: {name} is {value.score!r}, wanted a number from {low:g} to {high:g}.")
        for name, allowed in suite.tag_values.items():
            if record.tags.get(name) not in allowed:
                shown = printable(str(record.tags.get(name, "not there")))
                raise unknown(name, shown, map(str, allowed), f"{where}; declared by {suite.name}")
        wrong = suite.check(record)
        if wrong:
            raise UserError(f"{where}: {wrong} Was the log edited?")
        yield record, line
