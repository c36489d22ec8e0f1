"""Limits of a reply's length that differ between a task's questions: the setting ``new_tokens``.

The harness gives all requests of a task one limit. Here each request gets that of its question, by a column of the
data; and since a runner that answers in batches takes the settings of a batch's first request for all, requests with
one limit make a call (:func:`lmms_medtasks.harness.calls.one_task_a_call`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls
from lmms_medtasks.harness.replacing import replaced


@contextlib.contextmanager
def by_question(lm: Any, tasks: Iterable[Any]) -> Iterator[None]:
    """Give the requests of each task with the setting its questions' limits, until the end.

    Raises UserError where the runner ``lm`` has to have all requests of a task in one call, and where a question's
    value of the column has no limit.
    """
    with contextlib.ExitStack() as changed:
        for task in {id(task): task for task in tasks}.values():
            wanted = ((task.config.lmms_eval_specific_kwargs or {}).get("default") or {}).get("new_tokens")
            if not wanted:
                continue
            if calls.in_one_call(lm):
                raise UserError(
                    f"{task.config.task}: its settings limit replies by {wanted['column']}, and the runner "
                    f"{type(lm).__name__} takes one limit a run. Choose another runner, or settings without that."
                )
            build = task.build_all_requests
            changed.enter_context(replaced(task, "build_all_requests", _limiting(task, build, wanted)))
        yield


def _limiting(task: Any, build: Any, wanted: Mapping[str, Any]) -> Any:
    @functools.wraps(build)
    def build_all_requests(*args: Any, **kwargs: Any) -> None:
        build(*args, **kwargs)
        column, limits = wanted["column"], wanted["limits"]
        values = task.eval_docs_no_media[column]
        for request in task.instances:
            value = values[request.doc_id]
            if value not in limits:
                raise UserError(
                    f"{task.config.task}: new_tokens has no limit for {column} {value!r}, only for {', '.join(limits)}."
                )
            for argument in request.arguments:
                if isinstance(argument, dict):
                    argument["max_new_tokens"] = limits[value]

    return build_all_requests
