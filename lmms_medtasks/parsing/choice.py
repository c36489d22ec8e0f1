"""MedQ-Deg's rule for reading an option letter, as its paper states it; :mod:`.option` is the reader that is sound."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.replies import text_or_outcome
from lmms_medtasks.parsing.reply import Outcome, Reply

Status = Literal["ok", "unreadable"] | Outcome
"""ok: an answer was read. unreadable: a reply with words from which the rule reads no option."""

Rule = Literal["single_letter", "first_capital", ""]
"""Which of the paper's rules read the answer."""

_SINGLE = re.compile(r"[\s\"'`*_(\[{<]*([A-Za-z])[\s\"'`*_)\]}>.,:;!]*")
_CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True)
class Reading:
    """What was read from one reply: ``value`` is an option letter if ``status`` is "ok", else ""."""

    status: Status
    value: str = ""
    rule: Rule = ""


def read_first_capital(reply: Reply | str | None, option_count: int) -> Reading:
    """Read the option letter from a reply by MedQ-Deg's priority rule (appendix 0.B), taken literally.

    1. The reply is a single letter (in either case, possibly in quotes, brackets or bold, with a full stop).
    2. Else the first capital letter of the reply, wherever it stands: of "The answer is B" it is T.
    3. Else nothing was read. So it is where the letter is that of no option; the benchmark counts both as incorrect.

    The rule is for comparing with the paper: it reads "Both lungs are clear" as B. It is applied to the text after the
    model's reasoning. Three outcomes are not the paper's: a failed request is "failed", a reply that says nothing
    "empty", and reasoning that was cut off inside its tag "cut".
    """
    answer, outcome = text_or_outcome(reply)
    if outcome:
        return Reading(outcome)
    single = _SINGLE.fullmatch(answer)
    found = single.group(1).upper() if single else capital.group() if (capital := _CAPITAL.search(answer)) else ""
    if not found or found not in option_letters(option_count):
        return Reading("unreadable")
    return Reading("ok", found, "single_letter" if single else "first_capital")
