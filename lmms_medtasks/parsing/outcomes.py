"""What the readers of positions and of yes and no have in common: outcomes, refusals, and text made plain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing.replies import text_or_outcome
from lmms_medtasks.parsing.reply import Outcome, Reply

AnswerStatus = Literal["ok", "ambiguous", "refused", "unreadable"] | Outcome
"""ok: an answer was read. ambiguous: several were given, none of them as the final one. refused: the model declined, or
said that it can't tell. unreadable: a reply with words and without an answer."""

_REFUSAL = re.compile(
    r"\b(?:can ?not|can't|unable to|not able to|impossible to|won't|must decline)\b(?: be)?"
    r"(?: \w+){0,3}? ?\b(?:determine|determined|tell|say|answer|help|assist|interpret|analy[sz]e|identify|provide|give|"
    r"view|see|process|diagnose|comment|decide)"
    r"|\bas an ai\b|\bi(?:'m| am) sorry\b|\bi don't see any (?:image|picture|scan|grid)"
    r"|\bno (?:image|picture|grid) (?:was|is|has been) (?:provided|attached|uploaded)"
)


@dataclass(frozen=True)
class Answer:
    """What was read from one reply: ``value`` if ``status`` is "ok", else ""."""

    status: AnswerStatus
    value: str = ""
    rule: str = ""


def prepared(reply: Reply | str | None) -> str | Answer:
    """The reply's text after its reasoning, or the outcome of a reply that has none."""
    text, outcome = text_or_outcome(reply)
    return Answer(outcome) if outcome else text


def plain(text: str) -> str:
    """``text`` in lower case, with one kind of dash, quotation mark and "center", without markup; lines stay."""
    text = re.sub("[\u2010-\u2015\u2212]", "-", text)
    text = re.sub("[\u2018\u2019\u02bc]", "'", re.sub("[\u201c\u201d]", '"', text))
    text = re.sub(r"[*`#\\]", "", text).replace("_", " ").casefold()
    text = re.sub(r"\bcent(?:re|ral|er)\b", "center", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def refuses(text: str) -> bool:
    """Whether a :func:`plain` text declines to answer, or says that it can't be told."""
    return bool(_REFUSAL.search(text))
