"""Reads the harness's result and sample files; everything after a run starts here."""

from __future__ import annotations

import fnmatch
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lmms_medtasks import redacting
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import degraded

FEWEST_FAILED = 2
"""From so many failed requests on a command fails: a single one of few says nothing about a share."""
SUFFIX = "_results.json"

REREAD = "reread"
"""Key in a result file: when its replies were read again, by which version, and from which files."""

_OUR_DATA = "medtasks://"
"""Marks our tasks: begins the ``data_files`` in their configurations."""
_MAPPING, _COUNT = "a mapping", "a whole number from 0"
_FORM: Mapping[tuple[str, ...], Sequence[str]] = {
    (_MAPPING,): (
        "results", "results *", "configs", "configs *", "config", "versions", "n-samples", "n-samples *", "groups",
        "group_subtasks",
    ),
    (_MAPPING, "null"): (
        "config resolved_cli_args", "configs * dataset_kwargs", "configs * lmms_eval_specific_kwargs",
        "configs * lmms_eval_specific_kwargs default", "configs * metadata digests", "configs * metadata judge",
        "configs * metadata subset", "configs * metadata settings", "configs * metadata server",
        "configs * metadata server serves", "configs * metadata degradation scores",
        "configs * metadata degradation best_scores",
    ),
    # Many of the harness's own tasks have a list.
    (_MAPPING, "a list of mappings", "null"): ("configs * metadata",),
    ("a list of mappings", "null"): ("judged_again", REREAD, "configs * metadata judge protocols"),
    ("a list of texts",): ("group_subtasks *",),
    ("a list of texts", "null"): ("configs * metadata server answers_as",),
    ("a text", "a list of texts", "null"): ("configs * tag",),
    ("a text", _MAPPING, "null"): ("config model_args",),
    (_COUNT,): ("n-samples * original", "n-samples * effective"),
    (_COUNT, "null"): (
        "configs * repeats", "configs * metadata degradation pictures", "configs * metadata degradation changed",
    ),
}  # fmt: skip
"""Allowed kinds of values -> paths of keys in a result file (* for any key). Other keys are not checked."""
_IS: Mapping[str, Callable[[Any], bool]] = {
    _MAPPING: lambda value: isinstance(value, dict),
    _COUNT: lambda value: type(value) is int and value >= 0,
    "a text": lambda value: isinstance(value, str),
    "a list of texts": lambda value: isinstance(value, list) and all(isinstance(x, str) for x in value),
    "a list of mappings": lambda value: isinstance(value, list) and all(isinstance(x, dict) for x in value),
    "null": lambda value: value is None,
}


@dataclass(frozen=True)
class ResultFile:
    """A result file of the harness with its content."""

    path: Path
    content: dict[str, Any]

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """The results by task and group, as the harness wrote them."""
        results: dict[str, dict[str, Any]] = self.content.get("results", {})
        return results

    def config(self, task: str) -> Mapping[str, Any]:
        """The task's configuration; empty for a group and an unknown task."""
        settings: Mapping[str, Any] = self.content.get("configs", {}).get(task, {})
        return settings

    def asked(self, task: str) -> int | None:
        """How many questions were to be asked; None if the file does not say it."""
        count: int | None = self.content.get("n-samples", {}).get(task, {}).get("effective")
        return count

    def samples_file(self, task: str) -> Path:
        """The path of the task's sample log, which is there if samples were logged."""
        return self.path.with_name(self.path.name.removesuffix(SUFFIX) + f"_samples_{task}.jsonl")

    def sample_count(self, task: str) -> int | None:
        """Number of rows in the task's sample log that are not cut off; None without a log."""
        path = self.samples_file(task)
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return sum(_is_row(line) for line in file if line.strip())

    def rows(self, task: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of the task's sample log with their lines, from 1; one row at a time is in memory.

        Raises UserError, with file and line, if there is no log, or a line is broken or cut off.
        """
        path = self.samples_file(task)
        if not path.is_file():
            raise UserError(f"No sample log of task {task!r}: {path} is not there. Run with --log_samples.")
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, parse_sample_line(line, number, path)


def read_result_file(path: Path) -> ResultFile:
    """Read a result file.

    Raises UserError if it is not a result file of the harness, or a value has another form than in :data:`_FORM`:
    code with a :class:`ResultFile` need not check that again.
    """
    try:
        content = _without_secrets(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise UserError(f"{path} is not there. Give a result folder of a run, or its *_results.json.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"Can't read {path} as a result file of the harness: {error}") from error
    if not isinstance(content, dict) or "results" not in content:
        raise UserError(f"{path} is no result file of the harness: it has no 'results'.")
    for kinds, key_paths in _FORM.items():
        for keys, value in itertools.chain.from_iterable(
            _iter_values(content, key_path.split()) for key_path in key_paths
        ):
            if not any(_IS[kind](value) for kind in kinds):
                from lmms_medtasks.visible_text import replace_invisible

                location = ", ".join(replace_invisible(key[:60]) for key in keys)
                problem = f"{path}: {location} is {value!r:.40}; expected {' or '.join(kinds)}."
                raise UserError(f"{problem} Was the file edited? Take it as the harness wrote it, or run it again.")
    for task, config in content.get("configs", {}).items():
        if isinstance(config.get("metadata"), list) and _OUR_DATA in str(config.get("dataset_kwargs")):
            raise UserError(f"{path}: configs, {task}, metadata is a list; expected {_MAPPING}. Was the file edited?")
    return ResultFile(path, content)


def _iter_values(
    within: Any, key_path: Sequence[str], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values at a path of :data:`_FORM`, with their keys."""
    if not key_path:
        yield keys, within
    elif isinstance(within, dict):
        for name in within if key_path[0] == "*" else {key_path[0]} & set(within):
            yield from _iter_values(within[name], key_path[1:], (*keys, name))


def _without_secrets(content: Any) -> Any:
    """A result file's content without the model's API keys, some of which the harness writes."""
    config = content.get("config") if isinstance(content, dict) else None
    if not isinstance(config, dict) or not isinstance(arguments := config.get("model_args"), str | dict):
        return content
    return {**content, "config": redacting.secrets_of_arguments(arguments).redacted_tree(config)}


def parse_sample_line(line: bytes, number: int, path: Path) -> dict[str, Any]:
    """Parse a line of a sample log. Raises UserError, with file and line, if it is broken or cut off."""
    try:
        row = _parse_json_line(line)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{path}, line {number}: broken or cut off ({error}). Was the run stopped while it wrote? Run it again."
        ) from error
    if not isinstance(row, dict):
        raise UserError(f"{path}, line {number}: {row!r:.40} is no row of a sample log.")
    return row


def _is_row(line: bytes) -> bool:
    try:
        return isinstance(_parse_json_line(line), dict)
    except (ValueError, RecursionError):
        return False


def _parse_json_line(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(line)  # orjson refuses NaN and half a surrogate pair


def list_result_files(folder: Path) -> set[Path]:
    """All result files below ``folder``."""
    return set(folder.rglob(f"*{SUFFIX}")) if folder.is_dir() else set()


def unwritten_problem(paths: Iterable[Path], tasks: Iterable[str], log_samples: bool) -> str:
    """What is missing of the results that a run wrote to ``paths``, as after a full disk; "" if nothing is.

    The harness goes on if it can't write. Files are flushed to the disk, so that late errors show up here.
    """
    paths = sorted(paths)
    try:
        runs = [read_result_file(path) for path in paths]
        for run in runs if log_samples else ():
            for task in tasks:
                expected = run.asked(task)
                if expected is not None and (count := run.sample_count(task)) != expected:
                    return f"{run.samples_file(task)} has {count or 0} whole samples of {expected}"
        for path in (path for run in runs for path in (run.path, *map(run.samples_file, tasks)) if path.exists()):
            with path.open("rb") as file:
                os.fsync(file.fileno())
    except (OSError, UserError) as error:
        return f"the results are not complete ({error})"
    return "" if runs else "no results were written"


def list_missing_results(runs: Iterable[ResultFile], requested: Iterable[str]) -> list[str]:
    """A sentence for each result of the tasks, groups and wildcards ``requested`` that ``runs`` lack."""
    runs = list(runs)
    sentences: list[str] = []
    for name in requested:
        holding = [(run, task) for run in runs for task in _matching_tasks(run, name)]
        if not holding:
            sentences.append(f"No result of task {name!r}.")
        for run, task in holding:
            sentences += _incomplete_problems(run, task)
    return sentences


def _matching_tasks(run: ResultFile, name: str) -> list[str]:
    """The tasks of this run that ``name`` (a task, wildcard, group or tag) stands for."""
    groups = run.content.get("group_subtasks", {})
    matched = [task for task in {**run.tasks, **groups} if fnmatch.fnmatchcase(task, name)]
    matched += [task for task in run.tasks if name in _task_tags(run, task)]
    leaves: list[str] = []
    for task in matched:
        leaves += groups[task] if groups.get(task) else [task]
    return list(dict.fromkeys(leaves))


def _task_tags(run: ResultFile, task: str) -> list[str]:
    """The tags of a task; those of a degraded task TASK@DEGRADATION.LEVEL are TAG@DEGRADATION.LEVEL."""
    tags = run.config(task).get("tag") or []
    suffix = "".join(task.partition("@")[1:])
    return [f"{tag}{suffix}" for tag in ([tags] if isinstance(tags, str) else tags)]


def _incomplete_problems(run: ResultFile, task: str) -> list[str]:
    result = run.tasks.get(task)
    if result is None:
        return [f"No result of task {task!r} in {run.path.name}."]
    if why := degraded.list_degraded_failures(run.content).get(task):
        return [f"No result of {why}"]
    metrics = {key: value for key, value in result.items() if key != "alias" and "_stderr" not in key}
    if not any(isinstance(value, int | float) for value in metrics.values()):
        return [f"Task {task!r} has no metric with a value in {run.path.name}."]
    requests = _count_requests(run.content, task)
    accuracies = [value for key, value in metrics.items() if key.startswith("accuracy")]
    has_none = bool(accuracies) and all(value is None for value in accuracies)
    if has_none and (requests.failed or not _waits_for_a_judge(run, task)):
        reason = f"no question got a reply that counts (failed requests: {requests.failed})."
        return [f"Task {task!r} has no accuracy: {reason}"]
    rows, expected = run.sample_count(task), run.asked(task)
    if expected and requests.failed >= requests.requests:
        return [f"Task {task!r} has no score: none of its {expected} questions got a reply, all requests failed."]
    if rows is not None and expected is not None and rows != expected:
        return [f"Task {task!r} has {rows} samples in its log, {expected} were asked for."]
    return []


def _waits_for_a_judge(run: ResultFile, task: str) -> bool:
    return ((run.config(task).get("metadata") or {}).get("judge") or {}).get("name") == "none"


@dataclass(frozen=True)
class FailedRequests:
    """How many of the ``requests`` of ``task`` (a task's name, or "all tasks") ``failed``."""

    task: str
    failed: int
    requests: int

    @property
    def share(self) -> float:
        return self.failed / self.requests if self.requests else 0.0

    def are_too_many(self, most: float) -> bool:
        """Whether at least :data:`FEWEST_FAILED` and more than the share ``most`` in [0, 1] failed."""
        return self.failed >= FEWEST_FAILED and self.share > most

    def __str__(self) -> str:
        return f"{self.failed:,} of {self.requests:,} requests of {self.task} failed ({self.share:.1%})"


def failed_requests(content: Mapping[str, Any]) -> list[FailedRequests]:
    """The requests of each task of a result file's content; tasks that do not count failures have none."""
    return [
        _count_requests(content, task) for task in content.get("configs", {}) if task in content.get("n-samples", {})
    ]


def _count_requests(content: Mapping[str, Any], task: str) -> FailedRequests:
    # A task has the number of its failed requests once for each of its filters.
    repeats = content.get("configs", {}).get(task, {}).get("repeats") or 1
    questions = content.get("n-samples", {}).get(task, {}).get("effective", 0)
    result = content["results"].get(task, {})
    counted = [value for name, value in result.items() if name.partition(",")[0] == "failed_requests"]
    failed = max((int(x) for x in counted if isinstance(x, int | float) and math.isfinite(x)), default=0)
    return FailedRequests(task, failed, questions * repeats)


def too_many_failed(contents: Iterable[Mapping[str, Any]], most: float) -> list[FailedRequests]:
    """The tasks with too many failed requests; if there are none, all tasks together if they have too many."""
    by_task = [counts for content in contents for counts in failed_requests(content)]
    if too_many := [counts for counts in by_task if counts.are_too_many(most)]:
        return too_many
    total = FailedRequests("all tasks", sum(x.failed for x in by_task), sum(x.requests for x in by_task))
    return [total] if total.are_too_many(most) else []
