"""The settings of a task: what its YAML says under ``lmms_eval_specific_kwargs``, ``default``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def task_settings(config: Any) -> Mapping[str, Any]:
    """The settings in a task's configuration, a mapping or the harness's object; {} without any."""
    # The harness's object is a dict too, an empty one.
    given = getattr(config, "lmms_eval_specific_kwargs", None)
    if given is None and isinstance(config, Mapping):
        given = config.get("lmms_eval_specific_kwargs")
    return (given or {}).get("default") or {}
