"""Reads the harness's result and sample files; everything after a run starts here."""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lmms_medtasks import redacting
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import degraded

SUFFIX = "_results.json"

REREAD = "reread"
"""Key in a result file: when its replies were read again, by which version, and from which files."""


@dataclass(frozen=True)
class Run:
    """One result file of the harness, read."""

    path: Path
    content: dict[str, Any]

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """The results by task and group, as the harness wrote them."""
        found: dict[str, dict[str, Any]] = self.content.get("results", {})
        return found

    def samples_file(self, task: str) -> Path:
        """Where the task's sample log is, if samples were logged."""
        return self.path.with_name(self.path.name.removesuffix(SUFFIX) + f"_samples_{task}.jsonl")

    def sample_count(self, task: str) -> int | None:
        """Number of rows in the task's sample log, None if there is none."""
        return self._count(task, bool)

    def whole_count(self, task: str) -> int | None:
        """Number of rows in the task's sample log that can be read, None if there is none; a disk may have cut one."""
        return self._count(task, _is_row)

    def _count(self, task: str, counts: Callable[[bytes], bool]) -> int | None:
        path = self.samples_file(task)
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return sum(counts(line) for line in file if line.strip())

    def rows(self, task: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of the task's sample log with their lines, from 1; one row at a time is in memory.

        Raises UserError, with the file and the line, when there is no log, or a line is broken or cut off.
        """
        path = self.samples_file(task)
        if not path.is_file():
            raise UserError(f"No sample log of task {task!r}: {path} is not there. Run with --log_samples.")
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, row_of(line, number, path)


def read(path: Path) -> Run:
    """Read a result file. Raises UserError when it is no result file of the harness."""
    try:
        content = _without_secrets(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise UserError(f"{path} is not there. Give a result folder of a run, or its *_results.json.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"Can't read {path} as a result file of the harness: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("results"), dict):
        raise UserError(f"{path} is no result file of the harness: it has no 'results'.")
    return Run(path, content)


def _without_secrets(content: Any) -> Any:
    """A result file's content without the model's keys, which the harness alone does not all leave out."""
    config = content.get("config") if isinstance(content, dict) else None
    if not isinstance(config, dict) or not isinstance(arguments := config.get("model_args"), str | dict):
        return content
    return {**content, "config": redacting.of_arguments(arguments).redacted_tree(config)}


def row_of(line: bytes, number: int, path: Path) -> dict[str, Any]:
    """A line of a sample log, read. Raises UserError, with the file and the line, when it is broken or cut off."""
    try:
        row = _decoded(line)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{path}, line {number}: broken or cut off ({error}). Was the run stopped while it wrote? Run it again."
        ) from error
    if not isinstance(row, dict):
        raise UserError(f"{path}, line {number}: {row!r:.40} is no row of a sample log.")
    return row


def _is_row(line: bytes) -> bool:
    try:
        return isinstance(_decoded(line), dict)
    except (ValueError, RecursionError):
        return False


def _decoded(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # What it is stricter with, such as NaN or half a surrogate pair; who is right on the rest says the error.
        return json.loads(line)


def files(folder: Path) -> set[Path]:
    """All result files below ``folder``."""
    return set(folder.rglob(f"*{SUFFIX}")) if folder.is_dir() else set()


def unwritten(paths: Iterable[Path], tasks: Iterable[str], log_samples: bool) -> str:
    """What a full disk left out of the results that a run wrote to ``paths``; "" where all is on disk, and whole.

    The harness goes on where it can't write. A disk that is slow to say so is asked until it has all.
    """
    paths = sorted(paths)
    try:
        runs = [read(each) for each in paths]
        for run in runs if log_samples else ():
            for task in tasks:
                expected = run.content.get("n-samples", {}).get(task, {}).get("effective")
                if expected is not None and (count := run.whole_count(task)) != expected:
                    return f"{run.samples_file(task)} has {count or 0} whole samples of {expected}"
        for each in (file for run in runs for file in (run.path, *map(run.samples_file, tasks)) if file.exists()):
            with each.open("rb") as file:
                os.fsync(file.fileno())
    except (OSError, UserError) as error:
        return f"the results are not complete ({error})"
    return "" if runs else "no results were written"


def problems(runs: Iterable[Run], requested: Iterable[str]) -> list[str]:
    """What ``runs`` lack of the tasks, groups and wildcards ``requested``: a sentence each, [] if nothing."""
    runs = list(runs)
    found: list[str] = []
    for name in requested:
        holding = [(run, task) for run in runs for task in _named(run, name)]
        if not holding:
            found.append(f"No result of task {name!r}.")
        for run, task in holding:
            found += _incomplete(run, task)
    return found


def _named(run: Run, name: str) -> list[str]:
    """The tasks that ``name`` stands for in this run: itself, what a wildcard matches, what a group or a tag holds."""
    groups = run.content.get("group_subtasks", {})
    matched = [task for task in {**run.tasks, **groups} if fnmatch.fnmatchcase(task, name)]
    matched += [task for task in run.tasks if name in _tags(run, task)]
    leaves: list[str] = []
    for task in matched:
        leaves += groups[task] if groups.get(task) else [task]
    return list(dict.fromkeys(leaves))


def _tags(run: Run, task: str) -> list[str]:
    """The tags of a task; a degraded task TASK@DEGRADATION.LEVEL has those of its base, degraded alike."""
    tags = (run.content.get("configs", {}).get(task) or {}).get("tag") or []
    suffix = "".join(task.partition("@")[1:])
    return [f"{tag}{suffix}" for tag in ([tags] if isinstance(tags, str) else tags)]


def _unjudged(run: Run, task: str, metrics: dict[str, Any]) -> bool:
    """Whether the task only waits for a judge: none was configured, and every reply arrived."""
    judge = ((run.content.get("configs", {}).get(task) or {}).get("metadata") or {}).get("judge") or {}
    failed = [value for key, value in metrics.items() if key.startswith("failed_requests")]
    return judge.get("name") == "none" and not any(failed)


def _all_failed(run: Run, task: str, metrics: dict[str, Any], questions: int | None) -> bool:
    """Whether every request of the task failed, as with a server that is not there."""
    failed = [value for key, value in metrics.items() if key.partition(",")[0] == "failed_requests"]
    repeats = (run.content.get("configs", {}).get(task) or {}).get("repeats") or 1
    if not questions:
        return False
    return any(isinstance(value, int | float) and value >= questions * repeats for value in failed)


def _incomplete(run: Run, task: str) -> list[str]:
    result = run.tasks.get(task)
    if result is None:
        return [f"No result of task {task!r} in {run.path.name}."]
    if why := degraded.failures(run.content).get(task):
        return [f"No result of {why}"]
    metrics = {key: value for key, value in result.items() if key != "alias" and "_stderr" not in key}
    if not any(isinstance(value, int | float) for value in metrics.values()):
        return [f"Task {task!r} has no metric with a value in {run.path.name}."]
    accuracies = [value for key, value in metrics.items() if key.startswith("accuracy")]
    if accuracies and all(value is None for value in accuracies) and not _unjudged(run, task, metrics):
        failed = next((value for key, value in metrics.items() if key.startswith("failed_requests")), None)
        return [f"Task {task!r} has no accuracy: no question got a reply that counts (failed requests: {failed})."]
    rows = run.whole_count(task)
    expected = run.content.get("n-samples", {}).get(task, {}).get("effective")
    if _all_failed(run, task, metrics, expected):
        return [f"Task {task!r} has no score: none of its {expected} questions got a reply, all requests failed."]
    if rows is not None and expected is not None and rows != expected:
        return [f"Task {task!r} has {rows} samples in its log, {expected} were asked for."]
    return []
