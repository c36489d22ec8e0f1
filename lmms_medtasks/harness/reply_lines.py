"""Replies of the harness's runners as they stand in a line of a journal: texts, results with token counts, pairs."""

from __future__ import annotations

from typing import Any

from lmms_medtasks.parsing import is_failed_request


def packed(reply: Any) -> dict[str, Any]:
    """A reply in JSON's types, under "reply"; {"failed": True} for what stands for a failed request or is no reply."""
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
    return {"reply": made}


def unpacked(made: Any) -> Any:
    """The reply that :func:`packed` made this of."""
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    if isinstance(made, str):
        return made
    if "more" in made:
        return made["text"], made["more"]
    tokens = made["tokens"]
    return GenerationResult(made["text"], None if tokens is None else TokenCounts(**tokens))
