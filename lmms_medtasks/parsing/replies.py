"""What stands in for a reply when a request failed, and the reasoning that comes before an answer."""

from __future__ import annotations

import re

# What lmms-eval 0.7.3 returns in place of a reply when a request failed for good, when the token budget was used up,
# and when a server sent a message without content (async_openai; openai, whose None reaches a hook as an empty text).
# What single runners put there becomes the first of these before it gets here (harness/failed_requests.py).
_FAILURES = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED", "Error: can only concatenate str (not")
_NO_CONTENT = "None"
_OPEN_TAG = re.compile(r"<(think|thinking|analysis|reasoning)>", re.IGNORECASE)


def is_failed_request(reply: str | None) -> bool:
    """Whether the harness put a failure text in place of a reply. An empty reply is none: the model said nothing."""
    return reply is None or reply.strip() == _NO_CONTENT or reply.lstrip().startswith(_FAILURES)


def after_reasoning(text: str) -> str | None:
    """The reply without its reasoning blocks, None if one was opened and never closed."""
    opened = _OPEN_TAG.search(text)
    while opened:
        close = re.compile(rf"</{opened.group(1)}>", re.IGNORECASE).search(text, opened.end())
        if close is None:
            return None
        text = text[: opened.start()] + text[close.end() :]
        opened = _OPEN_TAG.search(text)
    # Chat templates that put the opening tag into the prompt leave only the closing one in the reply.
    return re.split(r"</(?:think|thinking|analysis|reasoning)>", text, flags=re.IGNORECASE)[-1]
