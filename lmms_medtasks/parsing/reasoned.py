"""Taking a reply apart that was asked for as two lines, ``Reasoning: ...`` and ``Answer: ...``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing.replies import text_or_outcome
from lmms_medtasks.parsing.reply import Outcome, Reply

Status = Literal["both", "no_reasoning", "no_answer", "neither"] | Outcome
"""Which labelled parts were there. "empty" is also a reply of labels alone."""

# Bounded: a search must not take quadratic time over a long run of marks.
_LABEL = re.compile(
    r"(?:^|(?<=[.!?;])[ \t]|[ \t](?=\*\*|__))[ \t>*_#-]{0,16}(?:\d[.)][ \t]{0,4})?[*_]{0,4}"
    r"\b(reasoning|(?:final[ \t]+)?answer)\b[*_]*[ \t]*[:：][*_]*",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Parts:
    """The two parts of a reply. Nothing of it is lost but labels and reasoning tags.

    ``answer`` is what follows the last label "Answer" (to the next label, or the end); without that label it is empty,
    unless there are no labels at all: then it is the whole reply. ``reasoning`` is everything else: the text with the
    label "Reasoning", text without a label, and answers that were given before the last.
    """

    status: Status
    reasoning: str = ""
    answer: str = ""


def read_reasoned(reply: Reply | str | None) -> Parts:
    """Read the two parts of ``reply``. Labels stand at the beginning of a line, perhaps with a number, or after a
    sentence in the same line, in any case, perhaps as a heading, or anywhere if they are bold ("**Answer:**"); "Final
    answer:" counts as "Answer:".

    >>> read_reasoned("Reasoning: a dark round area.\\nAnswer: a cyst")
    Parts(status='both', reasoning='a dark round area.', answer='a cyst')
    """
    text, outcome = text_or_outcome(reply)
    if outcome:
        return Parts(outcome)
    text = text.strip()
    labels = list(_LABEL.finditer(text))
    if not labels:
        return Parts("neither", answer=text)
    ends = [match.start() for match in labels[1:]] + [len(text)]
    sections = [
        (match.group(1).lower().endswith("answer"), text[match.end() : end].strip())
        for match, end in zip(labels, ends, strict=True)
    ]
    last = max((place for place, (is_answer, _) in enumerate(sections) if is_answer), default=-1)
    answer = sections[last][1] if last >= 0 else ""
    front = text[: labels[0].start()].strip()
    rest = [front, *(part for place, (_, part) in enumerate(sections) if place != last)]
    reasoning = "\n".join(part for part in rest if part)
    labelled = any(part for is_answer, part in sections if not is_answer)
    if not labelled and not answer:
        return Parts("neither", answer=reasoning) if reasoning else Parts("empty")
    return Parts("both" if labelled and answer else "no_answer" if labelled else "no_reasoning", reasoning, answer)
