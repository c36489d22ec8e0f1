"""Tasks of a folder, run by the harness as a library: nothing is written, and what goes wrong is raised as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError


def results(model: str, tasks: Sequence[str], folder: Path, limit: int) -> Mapping[str, Any]:
    """The harness's results of ``tasks``, by task: of one model on the CPU, over the first ``limit`` questions of each.

    Raises UserError where the harness gives none.
    """
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    from lmms_medtasks.harness.plugin import join

    join(TaskManager)
    manager = TaskManager(include_path=str(folder), include_defaults=False, model_name=model)
    done = simple_evaluate(
        model=model, tasks=list(tasks), task_manager=manager, limit=limit, bootstrap_iters=0, batch_size=1, device="cpu"
    )
    if done is None:
        raise UserError(f"{model}: the harness gave no result.")
    return done["results"]
