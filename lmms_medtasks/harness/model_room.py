"""How many tokens a model takes in all, and the limit of a reply's length that ``--settings thinking`` has of it.

A server refuses every request that asks for more than its room, and a model that writes past its positions writes
nonsense. So the limit that these settings give is lowered once, before anything is asked, and said so.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable
from typing import Any

from lmms_medtasks.harness import chat_servers, sampling
from lmms_medtasks.suites import paper

FOR_THE_PROMPT = 2048
"""Tokens of the room that are left for a question and its images; of a small room one half."""

_ENGINE = "client.llm_engine.model_config.max_model_len"  # vLLM within this process


def of(lm: Any) -> tuple[int, str] | None:
    """The tokens that prompt and reply may have together, and who says it; None where it is not known."""
    served = getattr(lm, "serves", None)
    if isinstance(served, dict) and _number(served.get("max_model_len")):
        return served["max_model_len"], "the server's max_model_len"
    for model in chat_servers.list_served_models(lm):
        if model.id == getattr(lm, "model_version", None) and (found := _number(getattr(model, "max_model_len", None))):
            return found, "the server's max_model_len"
    with contextlib.suppress(AttributeError, TypeError):
        if found := _number(operator.attrgetter(_ENGINE)(lm)):
            return found, "the engine's max_model_len"
    config: Any = getattr(sampling.model_of(lm), "config", None)
    text = config.get_text_config() if callable(getattr(config, "get_text_config", None)) else config
    found = _number(getattr(text, "max_position_embeddings", None))
    return (found, "the model's max_position_embeddings") if found else None


def lower(tasks: Iterable[Any], lm: Any) -> None:
    """Lower the limit that the settings gave these tasks to the room of ``lm``, in their configurations."""
    asked = [task.config for task in tasks if paper.label(task.config.metadata or {}) == paper.THINKING]
    room = of(lm) if asked else None
    if room is None:
        return
    most = max(room[0] - FOR_THE_PROMPT, room[0] // 2)
    lowered = []
    for config in asked:
        settings = config.metadata["settings"]
        limit = settings["changes"].get("max_new_tokens")
        generation = config.generation_kwargs
        if limit is None or generation.get("max_new_tokens") != limit or limit <= most:
            continue
        generation["max_new_tokens"] = most
        changes = {**settings["changes"], "max_new_tokens": most}
        config.metadata = {**config.metadata, "settings": {**settings, "changes": changes}}
        lowered.append(str(config.task))
    if lowered:
        from loguru import logger

        logger.warning(
            f"--settings {paper.THINKING}: replies have up to {most:,} new tokens, not {paper.THINKING_TOKENS:,}: "
            f"{room[1]} is {room[0]:,}, less what a prompt may need ({', '.join(lowered)})."
        )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None
