"""Make one table of the questions of runs of a benchmark: the record's columns, and a row's run, task and line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.record import QuestionRecord
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import iter_records, make_printable, task_settings
from lmms_medtasks.samples.table import QuestionTable, record_to_row
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.own_parts import MissingEstimate
from lmms_medtasks.suites.suite import Suite

_ROUNDING = 1e-9
_TOLERANCE = 1e-9
_MOST_TAGS = 500
"""Names of tags in a log: a column each, of all its questions. Benchmarks have up to twenty."""


def suite_tasks(suite: Suite, run: ResultFile) -> list[str]:
    """The run's tasks of this benchmark, in the run's order."""
    configs: Mapping[str, Mapping[str, Any]] = run.content.get("configs") or {}
    return [task for task, config in configs.items() if suite.covers(registry.find_suite(task, config))]


def suite_table(suite: Suite, runs: Sequence[ResultFile], cache: BuildCache = NO_CACHE) -> QuestionTable:
    """One table of all questions of the benchmark's tasks in ``runs``.

    Columns beside the record's: ``run`` (its number), ``task``, ``condition`` (how it was asked), ``line`` of the log,
    and ``repeated``, whether another task of the run asked the same under the same condition before.

    Raises UserError, with file and line, for a record that can't be read, has a measure that the benchmark does not
    declare, a score outside its measure's range, a tag's value that the tag can't have, or too many tags.
    """
    return QuestionTable(
        _join_tables([table for number, run in enumerate(runs) for table in _run_tables(suite, number, run, cache)])
    )


def task_table(suite: Suite, run: ResultFile, task: str, cache: BuildCache = NO_CACHE) -> QuestionTable:
    """A table of the questions of one task of a run: see :func:`suite_table`. ``cache``: where it may be kept."""
    return QuestionTable(_task_table(suite, run, task, cache))


def _task_table(suite: Suite, run: ResultFile, task: str, cache: BuildCache) -> pa.Table:
    def read() -> pa.Table:
        # Texts of others: what can't be printed has no place in a table, a page or a terminal.
        rows = QuestionTable.of_rows(_task_rows(suite, run, task), make_printable)
        return pa.table({name: rows.arrow(name) for name in rows.columns})

    if not _is_cacheable(suite, cache):
        return read()
    return cache.table(_cache_key(suite, run, task, cache), read)


def is_kept(suite: Suite, run: ResultFile, task: str, cache: BuildCache) -> bool:
    """Whether the cache has the table of a task of a run."""
    return _is_cacheable(suite, cache) and cache.has(_cache_key(suite, run, task, cache))


def _is_cacheable(suite: Suite, cache: BuildCache) -> bool:
    """False for contributed benchmarks: the cache key does not cover their code."""
    return cache.folder is not None and suite.name in registry.names()


def _cache_key(suite: Suite, run: ResultFile, task: str, cache: BuildCache) -> list[Any]:
    config = run.content["configs"][task]
    return ["table", suite.name, task, json.dumps(config, sort_keys=True), cache.digest(run.samples_file(task))]


def _task_rows(suite: Suite, run: ResultFile, task: str) -> Iterator[dict[str, Any]]:
    settings = task_settings(run, task)
    condition, tags = suite.condition(task, settings), suite.task_tags(task, settings)
    for record, line in _checked_records(suite, iter_records(run, task), str(run.samples_file(task))):
        yield {**record_to_row(record), **tags, "task": task, "condition": condition, "line": line}


def _run_tables(suite: Suite, number: int, run: ResultFile, cache: BuildCache) -> Iterator[pa.Table]:
    seen: set[tuple[Any, ...]] = set()
    for task in suite_tasks(suite, run):
        table = _task_table(suite, run, task, cache)
        rows = QuestionTable(table)
        repeated = []
        for key in zip(*(rows.column(name).tolist() for name in ("condition", *suite.identity)), strict=True):
            repeated.append(key in seen)
            seen.add(key)
        table = table.append_column("run", pa.array(np.full(len(repeated), number)))
        yield table.append_column("repeated", pa.array(repeated, pa.bool_()))


def _join_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables; a column that one lacks is empty there."""
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    return pa.table({name: _joined_column([_column_of(table, name) for table in tables]) for name in names})


def _column_of(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks() if name in table.column_names else pa.nulls(table.num_rows)


def _joined_column(arrays: Sequence[pa.Array]) -> pa.Array:
    kinds = {array.type for array in arrays} - {pa.null()}
    if len(kinds) > 1:
        # A tag that is a number in one run and a text in another.
        return QuestionTable.of_rows({"": value} for array in arrays for value in array.to_pylist()).arrow("")
    filled = [pa.nulls(len(array), *kinds) if array.type == pa.null() else array for array in arrays]
    return pa.chunked_array(filled).unify_dictionaries().combine_chunks()


def _checked_records(
    suite: Suite, numbered_records: Iterable[tuple[QuestionRecord, int]], file: str
) -> Iterator[tuple[QuestionRecord, int]]:
    known = {measure.name: measure for measure in suite.measures}
    tags: set[str] = set()
    for record, line in numbered_records:
        location = f"{file}, line {line}"
        tags |= record.tags.keys()
        if len(tags) > _MOST_TAGS:
            raise UserError(f"{location}: {len(tags):,} names of tags up to here; at most {_MOST_TAGS} are read.")
        for name, value in record.measures.items():
            if name not in known:
                raise unknown_name_error("measure", name, known, f"{location}; {suite.name} declares the others")
            low, high = known[name].low, known[name].high
            if value.score is not None and not low - _ROUNDING <= value.score <= high + _ROUNDING:
                raise UserError(f"{location}: {name} is {value.score!r}, expected a number from {low:g} to {high:g}.")
        for name, allowed in suite.tag_values.items():
            if record.tags.get(name) not in allowed:
                obtained = make_printable(str(record.tags.get(name, "not there")))
                raise unknown_name_error(name, obtained, map(str, allowed), f"{location}; declared by {suite.name}")
        problem = suite.check(record)
        if problem:
            raise UserError(f"{location}: {problem.rstrip('.')}. Was the log edited?")
        yield record, line


# --- The numbers of a result file against those of its log ------------------------------------------------------------


def numbers_of(result: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a task's result; names without the filter's, no standard errors."""
    return {
        name.partition(",")[0]: float(value)
        for name, value in result.items()
        if "_stderr" not in name and isinstance(value, int | float) and not isinstance(value, bool)
    }


def reported_differences(suite: Suite, rows: QuestionTable, printed: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each known number in ``printed`` that differs from the one computed from ``rows``."""
    estimates = {name: each for name, each in suite.estimates.items() if not isinstance(each, MissingEstimate)}
    for name, value in printed.items():
        number = estimates[name].value(rows) if name in estimates else value
        if not is_same_number(value, number):
            got = "none" if number is None else f"{number:.6g}"
            yield f"{name} is {value:.6g} in the result file; its samples give {got}."


def is_same_number(printed: Any, number: float | int | None) -> bool:
    """Whether two numbers are equal up to rounding; None equals only None."""
    if printed is None or number is None:
        return printed is None and number is None
    is_number = isinstance(printed, int | float) and not isinstance(printed, bool)
    return is_number and abs(printed - number) <= _TOLERANCE * max(1.0, abs(number))
