"""Reading an option letter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing.replies import Outcome, text_or_outcome

Status = Literal["ok", "unreadable"] | Outcome
"""ok: an answer was read. unreadable: a reply with words and without an answer."""

Rule = Literal["single_letter", "first_capital", ""]
"""Which of the paper's rules read the answer."""

_SINGLE = re.compile(r"[\s\"'`*_(\[{<]*([A-Za-z])[\s\"'`*_)\]}>.,:;!]*")


@dataclass(frozen=True)
class Reading:
    """What was read from one reply: ``value`` is an option letter if ``status`` is "ok", else ""."""

    status: Status
    value: str = ""
    rule: Rule = ""


def option_letters(count: int) -> str:
    """The letters of ``count`` options: "ABCD" for 4. Raises ValueError outside 1 to 26."""
    if not 1 <= count <= 26:
        raise ValueError(f"A question can have 1 to 26 options, got {count}.")
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count]


def read_choice(reply: str | None, option_count: int) -> Reading:
    """Read the option letter from a reply by MedQ-Deg's priority rule (appendix 0.B).

    1. The reply is a single letter (in either case, possibly in quotes, brackets or bold, with a full stop).
    2. Else the first capital letter standing alone that is the letter of an option.
    3. Else nothing was read; the benchmark counts the trial as incorrect.

    The paper's second rule is "first capital letter found in response". Taken to the letter it would read "The answer
    is B" as T, so a letter inside a word is no answer here, nor is a capital beyond the last option. The article of "A
    nodule" is still read as A, as the paper's rule does; :attr:`Reading.rule` lets one count such cases.

    Differs from the paper in three outcomes of their own: a failed request is "failed", a reply that says nothing is
    "empty", and reasoning that was cut off inside its tag is "truncated" rather than searched for letters.
    """
    answer, outcome = text_or_outcome(reply)
    if outcome:
        return Reading(outcome)
    letters = option_letters(option_count)
    single = _SINGLE.fullmatch(answer)
    if single:
        letter = single.group(1).upper()
        return Reading("ok", letter, "single_letter") if letter in letters else Reading("unreadable")
    found = re.search(rf"(?<![^\W_])[{letters}](?![^\W_])", answer)
    return Reading("ok", found.group(), "first_capital") if found else Reading("unreadable")
