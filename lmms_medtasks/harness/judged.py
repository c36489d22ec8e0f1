"""Find out which tasks are judged without importing the code that judges: most runs judge nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lmms_medtasks.task_settings import task_settings

if TYPE_CHECKING:
    from lmms_medtasks.judges.protocol import JudgeProtocol


def find_judge_protocols(config: Any) -> list[JudgeProtocol]:
    """As :func:`lmms_medtasks.judges.registry.task_protocols`."""
    if not _names_protocol(config):
        return []
    from lmms_medtasks.judges import registry

    return registry.task_protocols(config)


def find_terms(config: Any) -> str:
    """What the terms of a task's data say of third parties: of its judge protocol, or its own ``terms``; else ""."""
    terms = (protocol.terms for protocol in find_judge_protocols(config))
    return next(filter(None, terms), str(task_settings(config).get("terms") or ""))


def check_judging(configs: Sequence[Any]) -> None:
    """As :func:`lmms_medtasks.harness.judging_stage.check_judge_use`."""
    if any(map(_names_protocol, configs)):
        from lmms_medtasks.harness import judging_stage

        judging_stage.check_judge_use(configs)


@contextlib.contextmanager
def open_judging_stage(tasks: Sequence[Any]) -> Iterator[Callable[[Any], Any]]:
    """Judge these tasks until the end; gives ``JudgingStage.clean_results``, to be called with the results."""
    if not any(_names_protocol(task.config) for task in tasks):
        yield lambda results: results
        return
    from lmms_medtasks.harness.judging_stage import JudgingStage

    with JudgingStage(tasks) as judging:
        yield judging.clean_results


def _names_protocol(config: Any) -> bool:
    settings = task_settings(config)
    return any(settings.get(name) for name in ("judge", "judge_prompt"))
