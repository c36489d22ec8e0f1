"""A result file of the harness made into another: in the form that the harness writes, with fewer tasks."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.result_files import Run

_BY_TASK = ("results", "groups", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples")


def line(content: Mapping[str, Any], indent: int | None = None) -> str:
    """JSON as the harness writes its files, with a line break at its end."""
    from lmms_eval.utils import handle_non_serializable

    return json.dumps(content, default=handle_non_serializable, ensure_ascii=False, indent=indent) + "\n"


def leave(content: dict[str, Any], tasks: Collection[str]) -> None:
    """Leave only ``tasks`` in a result file's content; groups that hold others go with them."""
    left = {*tasks}
    left |= {name for name, members in content.get("group_subtasks", {}).items() if members and {*members} <= {*tasks}}
    for key in _BY_TASK:
        if isinstance(content.get(key), dict):
            content[key] = {name: value for name, value in content[key].items() if name in left}


def filter_of(run: Run, task: str) -> str:
    """The name of the task's one filter, as it stands in the results' keys. Raises UserError where there are more."""
    entry = run.content["results"].get(task, {})
    names = {key.partition(",")[2] for key in entry if "," in key and "_stderr" not in key}
    if len(names) != 1:
        raise UserError(
            f"{run.path}: task {task!r} has results of the filters {sorted(names)}; expected one, since the sample log "
            "does not say which row is of which."
        )
    return names.pop()
