"""A chat server's completion, read alike for models, whoever asks them, and for judges."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks import folders
from lmms_medtasks.parsing.reply import Ending, SentReply
from lmms_medtasks.parsing.texts import LONGEST_BODY, describe_too_long_reply, replace_half_characters

_PARTS = ("text", "output_text")
_SHOWN = 200  # characters of a server's words in a message


class MissingReply(Exception):
    """A choice of a completion that is no reply. ``again``: the same request may bring one."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.again = again


def parse_finish_reason(finish: object) -> Ending | Literal["withheld"]:
    """What a ``finish_reason`` means, by ``finish_reasons.yml``; "" for an unknown word, and for none."""
    return _load_endings().get(finish.casefold(), "") if isinstance(finish, str) else ""


@functools.cache
def _load_endings() -> Mapping[str, Any]:
    endings = folders.read_yaml(Path(__file__).with_name("finish_reasons.yml"))
    return {word: kind for kind, words in endings.items() for word in words}


def content_text(content: Any) -> str | None:
    """The text of a message, also of a list of parts; "" for none, None for anything else. Thoughts are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    texts = [part.get("text") for part in content if part.get("type", "text") in _PARTS]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None


def server_error_text(error: Any) -> str:
    """A server's own words in the field ``error`` of a body or a choice, on one line; "" if there are none."""
    said = error.get("message") or error if isinstance(error, Mapping) else error
    return " ".join(str(said or "").split())[:_SHOWN]


def parse_choice(choice: Any, limit: int | None) -> SentReply:
    """The text of a choice of the ``openai`` package, why it ended, and its ``limit``.

    ``reasoning_content`` beside the content is thoughts, and never the answer. Without content the reply is empty if
    the model or the limit ended it. Raises MissingReply if it broke off, was withheld, or has no text.
    """
    finish, message = choice.finish_reason, choice.message
    ended = parse_finish_reason(finish)
    if ended == "error":
        said = server_error_text(getattr(choice, "error", None))
        raise MissingReply(f"The reply broke off (finish_reason {finish}){f': {said}' if said else '.'}", again=True)
    if ended == "withheld":
        raise MissingReply(f"The server withheld the reply (finish_reason {finish}).", again=False)
    text = content_text(message.content)
    if text is None:
        raise MissingReply(f"The content is no text, but a {type(message.content).__name__}.", again=False)
    if message.content is None:
        text = str(getattr(message, "refusal", None) or "")
        if not text and not ended:
            raise MissingReply(f"No content, finish_reason {finish}.", again=False)
    if len(text) > LONGEST_BODY:
        raise MissingReply(describe_too_long_reply(text), again=False)
    return SentReply(replace_half_characters(text), ended, limit)
