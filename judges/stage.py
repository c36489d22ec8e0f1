"""Which protocols judge a task. The stage itself is the harness's (:mod:`lmms_medtasks.harness.judging_stage`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_medtasks.judges import registry
from lmms_medtasks.judges.protocol import Protocol


def protocols_of(config: Any) -> list[Protocol]:
    """The protocols that a task's configuration (an object or a mapping) names: one by its name, or a list of names.

    A task with several kinds of questions has a protocol for each; one sees nothing to judge in another's documents.
    """
    # The harness's configuration object is a dict too, an empty one.
    found = getattr(config, "lmms_eval_specific_kwargs", None) or config.get("lmms_eval_specific_kwargs") or {}
    named = (found.get("default") or {}).get("judge") or []
    return [registry.get(str(name)) for name in (named if isinstance(named, list | tuple) else [named])]


def trials_of(protocol: Protocol, asking: Mapping[str, Any]) -> int:
    """How often an answer is judged by a judge that is asked so (:func:`lmms_medtasks.judges.identity.asking`).

    Once at temperature 0, whatever the protocol says: its judgements would be one request sent several times. Once
    too where no language model judges.
    """
    return protocol.trials if asking.get("temperature", 0) != 0 else 1
