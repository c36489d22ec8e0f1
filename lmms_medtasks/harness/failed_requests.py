"""Requests that got no reply, from runners that hide it: what stands in its place is replaced by one mark.

Many runners catch what goes wrong and return "" (internvl_hf, gpt4v, xcomposer2d5), or a text of their own (gemini).
Counted as replies they are wrong answers of a model that never gave them. Here they become the harness's own text for
a failed request, which our hooks count apart (:mod:`lmms_medtasks.parsing.reply`). What a runner does is looked up in
``runners.yaml``; an error within the model's ``generate`` or ``chat`` is noticed for every runner. An empty text that
the model itself gave stays one.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from lmms_medtasks.harness import runners
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.parsing import is_failed_request

MARK = "[LMMS_EVAL_REQUEST_FAILED]"  # begins as the harness's own does

_MODEL = ("model.generate", "model.chat")


def failed_request_text(why: object) -> str:
    """The text of a request that failed."""
    return f"{MARK} {str(why) or type(why).__name__:.200}"


@contextlib.contextmanager
def watch_model_calls(lm: Any, module: str) -> Iterator[list[Exception | None]]:
    """The list of what the runner's calls for a reply ended with, None for a success, as long as this holds.

    Watched are its model's ``generate`` and ``chat``, called within one another or not, and for the runner in
    ``module`` what ``runners.yaml`` names (``fails_in``).
    """
    ended: list[Exception | None] = []
    within = [0]
    rule = runners.load_runners()["one_request_a_call"].get(module, {})
    with contextlib.ExitStack() as watching:
        for path in {*_MODEL, *([rule["fails_in"]] if "fails_in" in rule else ())} if module else ():
            holder_path, _, name = path.rpartition(".")
            try:
                holder = operator.attrgetter(holder_path)(lm)
                original = getattr(holder, name)
            except AttributeError:
                continue
            if callable(original) and hasattr(holder, "__dict__"):
                watching.enter_context(replace_attribute(holder, name, _note_outcomes(original, ended, within)))
        yield ended


def _note_outcomes(original: Any, ended: list[Exception | None], within: list[int]) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        within[0] += 1
        error: Exception | None = None
        try:
            return original(*args, **kwargs)
        except Exception as raised:
            error = raised
            raise
        finally:
            within[0] -= 1
            if not within[0]:
                ended.append(error)

    return call


def mark_failed_replies(replies: Sequence[Any], ended: Sequence[Exception | None], module: str) -> list[Any]:
    """The replies to the requests of one call, failures marked. ``ended`` is what :func:`watch_model_calls` gave.

    Where each request had one call of the model and the replies after errors are all empty, those are the failures;
    else all empty ones are, if the last try of a request or any of several failed.
    """
    texts = [_reply_text(reply) for reply in replies]
    empty = {place for place, text in enumerate(texts) if text == ""}
    failed = {place: text for place, text in enumerate(texts) if text.startswith(_failure_texts(module))}
    # gpt4v's, of which the harness would make the word "None", a reply like any other.
    failed.update({place: "a message without content" for place, reply in enumerate(replies) if reply is None})
    errors = [error for error in ended if error is not None]
    if errors:
        at = {place: error for place, error in enumerate(ended) if error is not None}
        if len(ended) == len(replies) and at.keys() <= empty:
            failed.update({place: describe_error(error) for place, error in at.items()})
        elif len(replies) > 1 or ended[-1] is not None:
            failed.update(dict.fromkeys(empty, describe_error(errors[-1])))
    if why := runners.load_runners()["empty_is_a_failure"].get(module):
        failed.update({place: why for place in empty - failed.keys()})
    elif module in runners.load_runners()["empty_after_the_budget"] and _budget_is_used_up():
        failed.update({place: "the budget of tokens is used up" for place in empty - failed.keys()})
    return [failed_request_text(failed[place]) if place in failed else reply for place, reply in enumerate(replies)]


def describe_error(error: Exception) -> str:
    """An error in a line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


@functools.cache
def _failure_texts(module: str) -> tuple[str, ...]:
    return tuple(runners.load_runners()["failure_texts"].get(module, ()))


def _reply_text(reply: Any) -> str:
    from lmms_eval.api.instance import unwrap_generation_output

    text, _ = unwrap_generation_output(reply)
    return text.strip() if isinstance(text, str) else "None"


def _budget_is_used_up() -> bool:
    from lmms_eval.models.model_utils import usage_metrics

    return bool(usage_metrics.is_budget_exceeded())


@contextlib.contextmanager
def keep_out_of_cache(cache: Any) -> Iterator[None]:
    """Let the harness's ``ResponseCache`` neither store nor find failed requests, until the end; nothing without one.

    That cache (``--use_cache``) takes any text that is not empty for a reply, and would give the mark of a failed
    request back in later runs.
    """
    if cache is None:
        yield
        return
    is_valid, look_up = cache._is_valid_response, cache._lookup

    @functools.wraps(is_valid)
    def is_valid_response(response: Any, request_type: str) -> bool:
        return bool(is_valid(response, request_type)) and not _is_failed(response)

    @functools.wraps(look_up)
    def lookup_reply(cache_key: str) -> Any:
        response = look_up(cache_key)
        return None if _is_failed(response) else response

    with (
        replace_attribute(cache, "_is_valid_response", is_valid_response),
        replace_attribute(cache, "_lookup", lookup_reply),
    ):
        yield


def _is_failed(response: Any) -> bool:
    text = getattr(response, "text", response)
    return isinstance(text, str) and is_failed_request(text)
