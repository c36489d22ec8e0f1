"""Mark failed requests, which many runners hide: they catch errors and return "" (gpt4v) or a text (gemini).

Counted as replies these would be wrong answers that the model never gave. Here they become the harness's own text for a
failed request, which our hooks count separately (:mod:`lmms_medtasks.parsing.reply`). ``runners.yaml`` says what a
runner does; an error within the model's ``generate`` or ``chat`` is noticed for every runner. An empty reply of the
model itself stays empty.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from lmms_medtasks.harness import runners
from lmms_medtasks.harness.replacing import wrap_method
from lmms_medtasks.parsing import is_failed_request

MARK = "[LMMS_EVAL_REQUEST_FAILED]"  # begins as the harness's own does

_MODEL = ("model.generate", "model.chat")


def failed_request_text(why: object) -> str:
    """The text of a request that failed."""
    return f"{MARK} {str(why) or type(why).__name__:.200}"


@contextlib.contextmanager
def watch_model_calls(lm: Any, module: str) -> Iterator[list[Exception | None]]:
    """Yield a list that gets the error of each of the runner's calls for a reply, None for a success.

    Watched are its model's ``generate`` and ``chat`` (the outer one, if one calls the other), and for the runner in
    ``module`` what ``runners.yaml`` names (``fails_in``).
    """
    ended: list[Exception | None] = []
    depth = 0

    def note_outcome(original: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1
        error: Exception | None = None
        try:
            return original(*args, **kwargs)
        except Exception as raised:
            error = raised
            raise
        finally:
            depth -= 1
            if not depth:
                ended.append(error)

    rule = runners.load_runners()["one_request_a_call"].get(module, {})
    with contextlib.ExitStack() as watching:
        for path in {*_MODEL, *([rule["fails_in"]] if "fails_in" in rule else ())} if module else ():
            holder_path, _, name = path.rpartition(".")
            with contextlib.suppress(AttributeError):
                holder = operator.attrgetter(holder_path)(lm)
                if hasattr(holder, "__dict__"):
                    watching.enter_context(wrap_method(holder, name, note_outcome))
        yield ended


def mark_failed_replies(replies: Sequence[Any], ended: Sequence[Exception | None], module: str) -> list[Any]:
    """The replies to the requests of one call, failures marked. ``ended`` is what :func:`watch_model_calls` gave.

    Where each request had one call of the model and the replies after errors are all empty, those are the failures;
    else all empty ones are, if the last try of a request or any of several failed.
    """
    table = runners.load_runners()
    texts = [_reply_text(reply) for reply in replies]
    empty = {index for index, text in enumerate(texts) if text == ""}
    failure_texts = tuple(table["failure_texts"].get(module, ()))
    failed = {index: text for index, text in enumerate(texts) if text.startswith(failure_texts)}
    # gpt4v's, of which the harness would make the word "None", a reply like any other.
    failed.update({index: "a message without content" for index, reply in enumerate(replies) if reply is None})
    errors = {index: describe_error(error) for index, error in enumerate(ended) if error is not None}
    if errors and len(ended) == len(replies) and errors.keys() <= empty:
        failed.update(errors)
    elif errors and (len(replies) > 1 or ended[-1] is not None):
        failed.update(dict.fromkeys(empty, errors[max(errors)]))
    why = table["empty_is_a_failure"].get(module)
    if not why and module in table["empty_after_the_budget"] and _budget_is_used_up():
        why = "the budget of tokens is used up"
    failed.update(dict.fromkeys(empty - failed.keys(), why) if why else {})
    return [failed_request_text(failed[index]) if index in failed else reply for index, reply in enumerate(replies)]


def describe_error(error: Exception) -> str:
    """An error in a line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _reply_text(reply: Any) -> str:
    from lmms_eval.api.instance import unwrap_generation_output

    text, _ = unwrap_generation_output(reply)
    return text.strip() if isinstance(text, str) else "None"


def _budget_is_used_up() -> bool:
    from lmms_eval.models.model_utils import usage_metrics

    return bool(usage_metrics.is_budget_exceeded())


@contextlib.contextmanager
def keep_out_of_cache(cache: Any) -> Iterator[None]:
    """Let the harness's ``ResponseCache`` neither store nor find failed requests until the end; None is no cache.

    That cache (``--use_cache``) takes any text that is not empty for a reply, and would return the mark of a failed
    request in later runs.
    """

    def is_valid_response(original: Any, response: Any, request_type: str) -> bool:
        return bool(original(response, request_type)) and not _is_failed(response)

    def look_up(original: Any, cache_key: str) -> Any:
        response = original(cache_key)
        return None if _is_failed(response) else response

    with wrap_method(cache, "_is_valid_response", is_valid_response), wrap_method(cache, "_lookup", look_up):
        yield


def _is_failed(response: Any) -> bool:
    text = getattr(response, "text", response)
    return isinstance(text, str) and is_failed_request(text)
