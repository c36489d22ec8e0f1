"""Replies of the harness's runners as they stand in a line of a journal: texts, results with token counts, pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_medtasks.parsing import is_failed_request
from lmms_medtasks.parsing.reply import SentReply


def packed(reply: Any) -> dict[str, Any]:
    """A reply in JSON's types, under "reply", with why it ended and its limit where that is known.

    {"failed": True} for what stands for a failed request or is no reply.
    """
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    text, made = reply, reply
    if isinstance(reply, GenerationResult):
        counts = reply.token_counts
        text, made = reply.text, {"text": reply.text, "tokens": None if counts is None else counts.to_dict()}
    elif isinstance(reply, tuple) and len(reply) == 2 and isinstance(reply[0], str):
        text, more = reply
        made = {"text": text, "more": more.to_dict() if isinstance(more, TokenCounts) else more}
    if not isinstance(text, str) or is_failed_request(text):
        return {"failed": True}
    sent = {name: value for name in ("ended", "limit") if (value := getattr(text, name, None))}
    return {"failed": True} if sent.get("ended") == "error" else {"reply": made, **sent}


def unpacked(line: Mapping[str, Any]) -> Any:
    """The reply that :func:`packed` made this line of."""
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    made = line["reply"]

    def sent(text: str) -> SentReply:
        return SentReply(text, line.get("ended", ""), line.get("limit"))

    if isinstance(made, str):
        return sent(made)
    if "more" in made:
        return sent(made["text"]), made["more"]
    tokens = made["tokens"]
    return GenerationResult(sent(made["text"]), None if tokens is None else TokenCounts(**tokens))
