"""Which tasks are judged, told without importing what judges: most runs judge nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmms_medtasks.judges.protocol import JudgeProtocol


def find_judge_protocols(config: Any) -> list[JudgeProtocol]:
    """As :func:`lmms_medtasks.judges.registry.task_protocols`."""
    if not _names_protocol(config):
        return []
    from lmms_medtasks.judges import registry

    return registry.task_protocols(config)


def check_judging(configs: Sequence[Any]) -> None:
    """As :func:`lmms_medtasks.harness.judging_stage.check_judge_use`."""
    if any(map(_names_protocol, configs)):
        from lmms_medtasks.harness import judging_stage

        judging_stage.check_judge_use(configs)


class _Nothing:
    """The stage of a run in which nothing is judged."""

    def clean_results(self, results: Any) -> Any:
        return results


@contextlib.contextmanager
def open_judging_stage(tasks: Sequence[Any]) -> Iterator[Any]:
    """:class:`lmms_medtasks.harness.judging_stage.JudgingStage` of these tasks of the harness."""
    if not any(_names_protocol(task.config) for task in tasks):
        yield _Nothing()
        return
    from lmms_medtasks.harness.judging_stage import JudgingStage

    with JudgingStage(tasks) as judging:
        yield judging


def _names_protocol(config: Any) -> bool:
    # The harness's configuration object is a dict too, an empty one.
    specific = getattr(config, "lmms_eval_specific_kwargs", None) or config.get("lmms_eval_specific_kwargs") or {}
    settings = specific.get("default") or {}
    return any(settings.get(name) for name in ("judge", "judge_prompt"))
