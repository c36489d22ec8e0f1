"""Which closed questions SURE-VQA leaves out: one rule for SLAKE and OVQA.

The paper states the rule once, in Appendix C.1.2, which is about OVQA: "We removed closed-ended questions with more
than two categories to choose from and closed-ended questions where the categories to answer were not exactly contained
in the question." Its text on SLAKE (C.1.1) has no such step. On SLAKE's published annotations the rule gives all eight
sizes of Table 1 and the test set's 1,050 questions; without it none of the nine is met.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_medtasks.data.sure_reader import yes_no

MANY = "closed, names more than two options (the paper's cleaning, C.1.2)"
NOT_NAMED = "closed, its answer does not occur in its question (the paper's cleaning, C.1.2)"
NOT_LISTED = "closed, but its answer is neither yes nor no (the authors' cleaning)"

_BETWEEN = re.compile(r"(,\s*or\b|,|\bor\b)", re.IGNORECASE)
_ASKS = re.compile(r"\b(which|what|where|who|when|how)\b", re.IGNORECASE)
_VERB_FIRST = re.compile(r"\s*(is|are|was|were|does|do|did|has|have|can)\b", re.IGNORECASE)


def options_named(question: str) -> int:
    """How many options a question lists with commas and "or"; 0 for a question without "or".

    >>> options_named("Which is the biggest in this image, spleen,lung, or liver?")
    3
    >>> options_named("Which organ is abnormal, heart or lung?"), options_named("Is this a T1 or T2 weighted image?")
    (2, 2)
    """
    texts = _BETWEEN.split(question)
    parts, separators = texts[::2], texts[1::2]
    if not any("or" in separator.lower() for separator in separators):
        return 0
    asking = [place for place, part in enumerate(parts) if _ASKS.search(part) or _VERB_FIRST.match(part)]
    first = asking[-1] if asking else 0
    # "Which is bigger, A or B": the options start after the comma. "Is this A or B": the first one ends the part.
    if first < len(separators) and separators[first] == "," and _ASKS.search(parts[first]):
        first += 1
    return len(parts) - first


def dropped(question: str, answer: str, kept: Sequence[str] | None = None) -> str:
    """Why the cleaning leaves a *closed* question out; "" for one that stays.

    A question that is answered by yes or no stays. Of the others the paper's sentence (see the top of this file) drops
    those that name more than two options, and those whose answer is not in the question. We differ in two things:

    - "exactly contained" is read as the answer's words in a row, in any case. Most of SLAKE's answers differ from the
      question in case alone ("Lung" of "heart or lung"), and Table 1's sizes have them.
    - ``kept`` (OVQA): where it is given, a question stays only if it contains one of these texts, whatever its answer.
      That is how the authors' public code cleans OVQA. We have not seen OVQA: which of the two gives Table 2's sizes is
      not known.
    """
    if yes_no(answer):
        return ""
    if kept is not None:
        return "" if any(text in question for text in kept) else NOT_LISTED
    if options_named(question) > 2:
        return MANY
    words = " ".join(answer.split()).rstrip(".").casefold()
    if not words:
        return ""  # the reader rejects it as empty
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(question.split()).casefold())
    return "" if found else NOT_NAMED
