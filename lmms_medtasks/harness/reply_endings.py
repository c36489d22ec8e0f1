"""Find out why each reply ended: the replies become :class:`SentReply`.

Our own runner and those with a client of the ``openai`` package get it from the server. For others the number of tokens
decides: the runner's count, or, if it has a tokenizer, that of the reply's text. A reply whose tokens reach the
request's limit was ended by it ("length"); for all others the ending is unknown.

A warning comes early and once if the limit cuts a model's replies. The limit itself stays: changing it in the middle of
a run would make numbers depend on the order of the questions.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from lmms_medtasks.harness import chosen_settings
from lmms_medtasks.harness.calls import PADDING, reply_length_limit
from lmms_medtasks.harness.failed_requests import failed_request_text
from lmms_medtasks.harness.replacing import replace_attribute, wrap_method
from lmms_medtasks.parsing.reply import Ending, Reply, SentReply, Tags, is_failed_request
from lmms_medtasks.parsing.texts import LONGEST_BODY, describe_too_long_reply
from lmms_medtasks.progress import print_message
from lmms_medtasks.suites import paper

_TOKENIZERS = ("tokenizer", "_tokenizer", "processor.tokenizer", "_processor.tokenizer")
_OF_AN_ENGINE = "client.get_tokenizer"  # vLLM

_LOST = 128
"""One in so many tokens may be missing in a reply's text: runners leave out special tokens and blanks."""

_PADDED = 0.9
"""Some runners count a batch's padding too: a reply was cut only if its own tokens are this share of the limit."""

Count = Callable[[str], int | None]


def note_reply_endings(
    lm: Any, tasks: Collection[str], look: Callable[[str, SentReply], object] = lambda task, reply: None
) -> contextlib.AbstractContextManager[None]:
    """Let ``lm``'s ``generate_until`` give :class:`SentReply` for requests of these tasks, until the end.

    Each call has requests of one task. ``look`` gets each reply with its task's name, as soon as it is there. A reply
    of more than :data:`LONGEST_BODY` characters is a failed request.
    """
    count = _token_counter(lm)

    def generate_until(original: Any, requests: list[Any]) -> list[Any]:
        if not requests or requests[0].task_name not in tasks:
            return list(original(requests))
        task, looked_at = requests[0].task_name, set[int]()
        on_replies: Any = getattr(lm, "on_replies", None)

        def look_at_replies(replies: Mapping[int, Any]) -> None:
            looked_at.update(replies)
            for reply in replies.values():
                look(task, _reply_text(reply))
            if on_replies is not None:
                on_replies(replies)

        with contextlib.ExitStack() as changed:
            if hasattr(lm, "on_replies"):
                changed.enter_context(replace_attribute(lm, "on_replies", look_at_replies))
            replies = original(requests)
        sent = [_as_sent_reply(lm, reply, request, count) for reply, request in zip(replies, requests, strict=True)]
        for index, (reply, request) in enumerate(zip(sent, requests, strict=True)):
            if index not in looked_at and not (getattr(request, "metadata", None) or {}).get(PADDING):
                look(task, _reply_text(reply))
        return sent

    return wrap_method(lm, "generate_until", generate_until)


def _reply_text(reply: Any) -> SentReply:
    text = reply[0] if isinstance(reply, tuple) else getattr(reply, "text", reply)
    return text if isinstance(text, SentReply) else SentReply(str(text))


def _as_sent_reply(lm: Any, reply: Any, request: Any, count: Count | None) -> Any:
    """The reply with its text as :class:`SentReply`; one without a text is returned unchanged."""
    from lmms_eval.api.instance import GenerationResult, unwrap_generation_output

    text, counts = unwrap_generation_output(reply)
    if text is None and isinstance(reply, GenerationResult):
        text = ""  # a message without content
    if not isinstance(text, str):
        return reply
    if not isinstance(text, SentReply):
        limit, written = reply_length_limit(request), getattr(counts, "output_tokens", None)
        text = SentReply(text, _reply_ending(lm, text, limit, written, count), limit)
    elif text.limit is None:
        text = SentReply(text, text.ended, reply_length_limit(request))
    if len(text) > LONGEST_BODY:
        text = SentReply(failed_request_text(describe_too_long_reply(text)), "error", text.limit)
    if isinstance(reply, GenerationResult):
        return dataclasses.replace(reply, text=text)
    return (text, *reply[1:]) if isinstance(reply, tuple | list) else text


def _reply_ending(lm: Any, text: str, limit: int | None, written: int | None, count: Count | None) -> Ending:
    if is_failed_request(text):
        return "error"
    if not limit:
        return ""
    if written is not None and (written < limit or count is None or _batch_size(lm) == 1):
        return "length" if written >= limit else ""
    reached = limit - limit // _LOST if written is None else int(_PADDED * limit)
    # A token has one byte at least.
    if count is None or len(text.encode("utf-8", "surrogatepass")) < reached:
        return ""
    token_count = count(text)
    return "length" if token_count is not None and token_count >= reached else ""


def _batch_size(lm: Any) -> int:
    try:
        return int(getattr(lm, "batch_size", 1))
    except (TypeError, ValueError, NotImplementedError):
        return 2  # "auto"


def _token_counter(lm: Any) -> Count | None:
    """A function that counts a text's tokens with the runner's tokenizer; None if it has none."""
    for path in (*_TOKENIZERS, _OF_AN_ENGINE):
        with contextlib.suppress(Exception):  # properties of runners raise what they like
            tokenizer = operator.attrgetter(path)(lm)
            tokenizer = tokenizer() if path == _OF_AN_ENGINE else tokenizer
            if callable(getattr(tokenizer, "encode", None)):
                return functools.partial(_count_tokens, tokenizer)
    return None


def _count_tokens(tokenizer: Any, text: str) -> int | None:
    try:
        return len(tokenizer.encode(text, add_special_tokens=False))
    except Exception:  # noqa: BLE001 (a checkpoint's own code; the ending is unknown then)
        return None


FIRST_REPLIES = 20
"""Number of replies of a task after which a warning comes if more than half were cut."""


class CutReplies:
    """Counts the first replies of each task that were cut; warns in the first process, once a run.

    ``tasks``: task -> its configuration in this run; ``tags``: task -> the user's marks of thoughts.
    """

    def __init__(self, tasks: Mapping[str, Mapping[str, Any]], tags: Mapping[str, Tags]) -> None:
        self._tasks, self._tags = tasks, tags
        self._seen: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._limits: dict[str, int | None] = {}
        self._told = os.environ.get("RANK", "0") != "0"

    def count_reply(self, task: str, reply: SentReply) -> None:
        """Count a reply; after the first :data:`FIRST_REPLIES` of a task, warn if too many were cut."""
        if self._told or self._seen[task] >= FIRST_REPLIES:
            return
        self._seen[task] += 1
        self._limits[task] = reply.limit or self._limits.get(task)
        self._cut[task] += is_cut_reply(SentReply(reply, reply.ended, reply.limit, self._tags.get(task, ())))
        if self._seen[task] == FIRST_REPLIES:
            self._tell_cut(task)

    def tell_rest(self) -> None:
        """At the end of the run, warn of a task with fewer replies too."""
        for task in self._seen:
            self._tell_cut(task)

    def _tell_cut(self, task: str) -> None:
        seen, cut, limit = self._seen[task], self._cut[task], self._limits[task]
        if self._told or 2 * cut <= seen:
            return
        self._told = True
        thinking = f"--settings {paper.THINKING} (up to {paper.THINKING_TOKENS:,} new tokens) or "
        helps = chosen_settings.thinking_raises_reply_limit(self._tasks[task], limit)
        print_message(
            f"lmms-medtasks: {task}: {cut} of the first {seen} replies were cut"
            f"{f' at {limit:,} new tokens' if limit else ''} before an answer. Such a model is measured by its limit. "
            f"The way out is another run with {thinking if helps else ''}--gen_kwargs max_new_tokens=N. "
            "This run goes on with the limit that it has."
        )


def is_cut_reply(reply: SentReply) -> bool:
    """Whether the limit ended a reply before an answer: within thoughts, or without closed thoughts."""
    parsed = Reply.of(reply)
    return parsed.outcome == "cut" or (parsed.ended == "length" and not parsed.thoughts)
