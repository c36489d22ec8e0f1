"""Limits of a reply's length: by question (the setting ``new_tokens``), and within the context length of a model.

The harness gives all requests of a task one limit. With that setting each request gets the limit of its question, by a
column of the data. A runner takes the settings of a batch's first request for all of it, so a call has requests with
one limit (:func:`lmms_medtasks.harness.calls.one_task_a_call`).

A server refuses requests beyond its context length, and a model past its positions writes nonsense. So the limit of
``--settings thinking`` is lowered once, before the run, with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, sampling
from lmms_medtasks.harness.replacing import wrap_method
from lmms_medtasks.suites import paper
from lmms_medtasks.task_settings import task_settings


@contextlib.contextmanager
def limit_replies_by_question(lm: Any, tasks: Iterable[Any]) -> Iterator[None]:
    """Give the requests of each task with the setting the limits of their questions, until the end.

    Raises UserError if the runner ``lm`` needs all requests in one call, or a value of the column has no limit.
    """
    with contextlib.ExitStack() as changed:
        for task in {id(task): task for task in tasks}.values():
            limits_by_column = task_settings(task.config).get("new_tokens")
            if not limits_by_column:
                continue
            if calls.needs_one_call(lm):
                raise UserError(
                    f"{task.config.task}: its settings limit replies by {limits_by_column['column']}, and the runner "
                    f"{type(lm).__name__} takes one limit a run. Choose another runner, or settings without that."
                )
            wrapper = functools.partial(_limit_requests, task, limits_by_column)
            changed.enter_context(wrap_method(task, "build_all_requests", wrapper))
        yield


def _limit_requests(task: Any, limits_by_column: Mapping[str, Any], build: Any, *args: Any, **kwargs: Any) -> None:
    build(*args, **kwargs)
    column, limits = limits_by_column["column"], limits_by_column["limits"]
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


FOR_THE_PROMPT = 2048
"""Tokens of the room that are left for a question and its images; of a small room one half."""

_ENGINE = "client.llm_engine.model_config.max_model_len"  # vLLM within this process


def find_model_room(lm: Any) -> tuple[int, str] | None:
    """The context length in tokens, and its source; None if unknown."""
    from lmms_medtasks.harness import chat_servers

    served = getattr(lm, "serves", None)
    listed = [model for model in chat_servers.list_served_models(lm) if model.id == getattr(lm, "model_version", None)]
    lengths = [served.get("max_model_len")] if isinstance(served, dict) else []
    lengths += [getattr(model, "max_model_len", None) for model in listed]
    for length in filter(None, map(_token_count, lengths)):
        return length, "the server's max_model_len"
    with contextlib.suppress(AttributeError, TypeError):
        if tokens := _token_count(operator.attrgetter(_ENGINE)(lm)):
            return tokens, "the engine's max_model_len"
    config: Any = getattr(sampling.find_held_model(lm), "config", None)
    text = config.get_text_config() if callable(getattr(config, "get_text_config", None)) else config
    tokens = _token_count(getattr(text, "max_position_embeddings", None))
    return (tokens, "the model's max_position_embeddings") if tokens else None


def lower_limits_to_room(tasks: Iterable[Any], lm: Any) -> None:
    """Lower the limit of ``--settings thinking`` in the tasks' configurations to the context length of ``lm``."""
    configs = [task.config for task in tasks if paper.settings_label(task.config.metadata or {}) == paper.THINKING]
    room = find_model_room(lm) if configs else None
    if room is None:
        return
    most = max(room[0] - FOR_THE_PROMPT, room[0] // 2)
    lowered = []
    for config in configs:
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


def _token_count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None
