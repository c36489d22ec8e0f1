"""How many images and questions tasks have, and how many trials they ask for, before any model is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lmms_medtasks.errors import UserError


def sizes(tasks: Sequence[str], folders: Sequence[Path] = ()) -> Mapping[str, tuple[int, int, int]]:
    """Task -> images (or what its questions are clustered by), questions, trials.

    Raises UserError for a name that is no task of lmms-medtasks, and what reading its data raises.
    """
    from lmms_eval.tasks import TaskManager, get_task_dict
    from loguru import logger

    from lmms_medtasks.harness.evaluating import is_ours, tasks_of
    from lmms_medtasks.harness.plugin import join
    from lmms_medtasks.harness.subset_tasks import units

    # Its logger tells of every file of the harness's own that is no task.
    logger.disable("lmms_eval")
    join(TaskManager)
    manager = TaskManager(include_path=[str(each) for each in folders] or None)
    unknown = [name for name in tasks if name not in manager.all_tasks]
    if unknown:
        raise UserError(f"Unknown task {unknown[0]!r} in --tasks. `lmms-eval --tasks list` lists all.")
    counts = {}
    for task in tasks_of(get_task_dict(list(tasks), manager)):
        if not is_ours(task.config):
            raise UserError(f"{task.config.task} is no task of lmms-medtasks: what its questions share is not known.")
        task_units = units(task)
        counts[str(task.config.task)] = (len(set(task_units)), len(task_units), task.config.repeats or 1)
    return counts
