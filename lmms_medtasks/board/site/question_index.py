"""What a task's questions are filtered by: ids, beginnings of their texts, tags, and what the models were.

Scores stand beside it, a file a model, and are loaded when somebody filters by that model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.short_texts import short

_TAG_VALUES = 40
_HEAD = 120
_BETWEEN = 8
RIGHT, WRONG, MIDDLE, MISSING = 1, 2, 4, 8
"""What any model was, as bits."""
NONE_RIGHT, ALL_RIGHT, SPLIT = 1, 2, 4
"""What the models were together, as bits."""


def digits(shares: np.ndarray, places: np.ndarray) -> str:
    """A character a question: 0 worst, 9 best, 1 to 8 between, - none. ``places``: of its score among ``shares``."""
    found = np.array([ord(digit(value)) for value in shares.tolist()], dtype=np.uint8)
    return bytes(found[places]).decode()


def digit(value: float) -> str:
    """The character of a score from 0 to 1, NaN of none."""
    if np.isnan(value):
        return "-"
    return "0" if value <= 0 else "9" if value >= 1 else str(1 + min(_BETWEEN - 1, int(value * _BETWEEN)))


def verdicts(normals: Iterable[np.ndarray], count: int) -> tuple[str, str]:
    """For each question what any model was, and what they were together: a hexadecimal digit of bits each.

    ``normals``: of each model the scores of the ``count`` questions from 0 to 1; one is in memory at a time.
    """
    anyone = np.zeros(count, dtype=int)
    highest, lowest = np.full(count, -np.inf), np.full(count, np.inf)
    for normal in normals:
        right, wrong, none = normal >= 1, normal <= 0, np.isnan(normal)
        for bit, kind in ((RIGHT, right), (WRONG, wrong), (MIDDLE, ~right & ~wrong & ~none), (MISSING, none)):
            anyone[kind] |= bit
        np.fmax(highest, normal, out=highest)
        np.fmin(lowest, normal, out=lowest)
    some = highest >= lowest
    together = (
        NONE_RIGHT * (some & (anyone & RIGHT == 0))
        + ALL_RIGHT * (some & (anyone & (WRONG | MIDDLE) == 0))
        + SPLIT * (some & (highest != lowest))
    )
    return "".join(map("{:x}".format, anyone)), "".join(map("{:x}".format, together))


def tags(entries: Sequence[Entry], ids: np.ndarray, order: np.ndarray) -> dict[str, dict[str, list[Any]]]:
    """The tags that divide the questions into a few groups: their values, "" first for none, and each question's code.

    ``words``: the values for people. Of the entry with most questions. ``ids``: sorted. ``order``: their places in the
    list that the codes are of.
    """
    most = max(entries, key=lambda entry: len(entry.questions)).questions
    found = {}
    about = suite_words.about(entries[0].suite)
    place = np.searchsorted(ids, most.ids)
    for name in most.tags:
        own = most.codes(name)
        if 1 < len(np.unique(own)) <= _TAG_VALUES:
            codes = np.zeros(len(ids), dtype=int)
            codes[place] = own
            values = ["", *(str(value) for value in most.tag(name).dictionary.to_pylist())]
            words = [about.value_of(name, value) for value in values]
            found[name] = {"values": values, "words": words, "codes": codes[order].tolist()}
    return found


def beginning(text: str) -> str:
    """The last line with a question mark, else the first: what stands before is often the same in all prompts."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    asked = next((line for line in reversed(lines) if "?" in line), lines[0] if lines else "")
    return short(asked, _HEAD)


def coded(texts: Sequence[str]) -> Mapping[str, list[Any]]:
    """Texts of which many are the same: each once, and for each place its number."""
    known: dict[str, int] = {}
    codes = [known.setdefault(text, len(known)) for text in texts]
    return {"values": list(known), "codes": codes}
