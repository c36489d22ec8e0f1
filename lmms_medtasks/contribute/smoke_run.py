"""``lmms-medtasks smoke``: run a folder's tasks in the real harness, with built-in models, on a few questions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks.contribute import static
from lmms_medtasks.errors import UserError, nearest_match
from lmms_medtasks.harness import in_process, runners
from lmms_medtasks.task_yaml.problems import ValidationLog

MODELS = ("medtasks_random", "medtasks_most_frequent", "medtasks_observer")

_LEARNS = "medtasks_most_frequent"


class SmokeResult(NamedTuple):
    """A metric of a task with a model; "not run" with the reason as value if the model was not asked."""

    model: str
    task: str
    metric: str
    value: Any


def run_smoke_test(path: Path, limit: int = 5, models: Sequence[str] | None = None) -> list[SmokeResult]:
    """Run all tasks of a folder with each of ``models``, by default with those of :data:`MODELS` that can run.

    ``medtasks_most_frequent`` needs a training split. The judge is the one that MEDTASKS_JUDGE
    names, "lexical" if it names none. The harness is called as a library: its exceptions are not caught.

    Raises:
        UserError: the folder holds no task, there is no such model, or a task gave no result.
    """
    for model in models or ():
        if runners.find_runner_kind(model, False) is None:
            near = nearest_match(model, MODELS)
            raise UserError(f"--model {model!r}: no such model.{near} Built in are {', '.join(MODELS)}.")
    log = ValidationLog()
    chains = static.check_static(path, log)
    unreadable = [error for error in log.errors if not error.file.endswith(".md")]
    if unreadable:
        raise UserError(f"{unreadable[0]} Run `lmms-medtasks validate` first.")
    every = [str(chain.value("task")) for chain in chains]
    trained = [str(chain.value("task")) for chain in chains if chain.value("training_split")]
    rows: list[SmokeResult] = []
    with _default_environment(MEDTASKS_JUDGE="lexical", MEDTASKS_DATA="mini"):
        for model in models or MODELS:
            names = trained if models is None and model == _LEARNS else every
            rows += [SmokeResult(model, name, "not run", "no training_split") for name in every if name not in names]
            if not names:
                continue
            results = in_process.run_folder_tasks(model, names, static.folder_of_task(path), limit)
            for name in names:
                rows += _result_rows(model, name, results.get(name))
    return rows


def _result_rows(model: str, task: str, result: Mapping[str, Any] | None) -> Iterator[SmokeResult]:
    if result is None:
        raise UserError(f"{model}: the harness gave no result for {task!r}.")
    for key, value in result.items():
        metric, _, filter_name = key.partition(",")
        if filter_name and "_stderr" not in metric:
            yield SmokeResult(model, task, metric, None if value in ("N/A", []) else value)


@contextmanager
def _default_environment(**wanted: str) -> Iterator[None]:
    """Set environment variables that are not set, within the context."""
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)
