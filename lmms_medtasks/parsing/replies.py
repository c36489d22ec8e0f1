"""What stands in for a reply when a request failed, and the reasoning that comes before an answer."""

from __future__ import annotations

import re
from typing import Literal

# What lmms-eval 0.7.3 returns in place of a reply when a request failed for good, when the token budget was used up,
# and when a server sent a message without content (async_openai; openai's reaches a hook as an empty text). The word
# "None" is a reply like any other. What single runners put in the place of a reply becomes the first of these before it
# gets here (harness/failed_requests.py).
_FAILURES = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED", "Error: can only concatenate str (not")
_OPEN_TAG = re.compile(r"<(think|thinking|analysis|reasoning)>", re.IGNORECASE)


Outcome = Literal["empty", "cut", "failed"]
"""Why a reply has no text to read an answer from. empty: it says nothing. cut: reasoning that was cut off before
an answer. failed: no reply, the request itself failed."""


def is_failed_request(reply: str | None) -> bool:
    """Whether the harness put a failure text in place of a reply. An empty reply is none: the model said nothing."""
    return reply is None or reply.lstrip().startswith(_FAILURES)


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


def text_or_outcome(reply: str | None) -> tuple[str, Outcome | None]:
    """The text after a reply's reasoning and None; or "" and why there is none.

    A reply is "empty" if it has no text, white space only, or closed reasoning and nothing after it.
    """
    if is_failed_request(reply):
        return "", "failed"
    text = after_reasoning(str(reply))
    if text is None:
        return "", "cut"
    return (text, None) if text.strip() else ("", "empty")


_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010-\u2013](?=[^\W\d_])")  # between letters only: "1-2" is not "1 2"
_MARKUP = re.compile(r"[*`_$\\#>]+")


def folded(text: str) -> str:
    """``text`` in one case, with single blanks (lines stay), and without markup and hyphens between letters."""
    text = _MARKUP.sub(" ", _HYPHEN.sub(" ", text.casefold()))
    return "\n".join(" ".join(line.split()) for line in text.splitlines())
