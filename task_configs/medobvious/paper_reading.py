"""MedObvious' paper rule: whether a reply is right as the authors' evaluation scripts have it.

The scripts lie beside the authors' data. Those for open-weight models look for a letter from A to E, so that F to J of
a 3x3 grid are never read; that for hosted models looks for any letter. All else is the same in both. What they do is
kept to the letter, with its mistakes: that is what the numbers of Table 2 are. Our own reading is in
:func:`lmms_medtasks.task_configs.medobvious.measures.read`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_FIRST_TO_FIFTH = (re.compile(r"\b[A-E]\b"), re.compile(r"[A-E]"))
"""A letter that stands alone, else any; looked for in the reply in capitals, where "an apple" holds two."""

_ANNOUNCED = re.compile(r"\b(?:answer|option|choice)\s*[:\-]?\s*([A-Z])\b", re.IGNORECASE)
_ALONE = re.compile(r"\b[A-Z]\b")
_YES_NO = re.compile(r"\b(?:yes|no)\b")
_DASHES = str.maketrans("_—–", "---")


def is_right(doc: Mapping[str, Any], reply: str, *, hosted: bool = False) -> bool:
    """Whether a reply to the question ``doc`` counts as right; ``hosted``: as the script for hosted models reads it.

    Multiple choice: the letter that is read is the answer's. A highlighted panel: the first yes or no is the answer.
    Open questions: the right place, or "none", occurs anywhere in the reply.
    """
    if doc["options"]:
        return letter(reply, hosted=hosted) == doc["answer"]
    if doc["task_type"] == "visual_referring":
        found = _YES_NO.search(_plain(reply))
        return found is not None and found[0] == doc["answer"]
    return _joined(doc["answer_position"]) in _joined(reply)


def letter(reply: str, *, hosted: bool = False) -> str | None:
    """The option's letter that is read from a reply, None for none.

    >>> letter("The answer is B"), letter("The answer is B", hosted=True)
    ('B', 'B')
    >>> letter("G"), letter("G", hosted=True), letter("Image G differs")
    (None, 'G', 'A')
    """
    text = reply.strip()
    if hosted:
        announced = _ANNOUNCED.search(text)
        found = None if announced else _ALONE.search(text.upper())
        return announced[1].upper() if announced else found and found[0]
    found = next((match for rule in _FIRST_TO_FIFTH if (match := rule.search(text.upper()))), None)
    return found and found[0]


def _plain(text: str) -> str:
    """Small letters, digits, hyphens and single spaces."""
    return " ".join(re.sub(r"[^a-z0-9 \-]", " ", " ".join(text.lower().translate(_DASHES).split())).split())


def _joined(text: str) -> str:
    """The same with hyphens in place of spaces, no two of them in a row."""
    return re.sub("-+", "-", _plain(text).replace(" ", "-"))
