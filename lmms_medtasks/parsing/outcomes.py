"""What all readers have in common: how reading a reply can end, and whether it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lmms_medtasks.parsing.reply import Outcome
from lmms_medtasks.parsing.words import word_pattern

AnswerStatus = Literal["ok", "ambiguous", "refused", "unreadable"] | Outcome
"""ok: an answer was read. ambiguous: several were given, none of them as the final one. refused: the model declined, or
said that it can't tell. unreadable: a reply with words and without an answer; "cut" where the limit of new tokens ended
it."""


StatementRule = Literal["boxed", "statement", "so", "it_is", "correction", "last", "predicate"]
"""What makes a statement: a wrapper; words that announce an answer; "so"; "it is" before a letter; a correction; a last
sentence or line that is a letter; words behind a letter that say that it is right."""


@dataclass(frozen=True)
class Answer:
    """What was read from one reply: ``value`` if ``status`` is "ok", else "". ``rule``: what it was read from."""

    status: AnswerStatus
    value: str = ""
    rule: str = field(default="", compare=False)


def find_refusal(text: str) -> str | None:
    """The words by which a text declines to answer, or says that it can't be told; None for a text that does not."""
    match = word_pattern("refusal").search(text)
    return match[0] if match else None
