"""The options of a multiple-choice question as a release has them, and the letter of the right one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.sources import RejectedRow


def filled(texts: Sequence[str]) -> list[str]:
    """The texts of the columns A, B, C ... up to the last that is filled; ``RejectedRow`` for a gap or one option."""
    found = list(texts)
    while found and not found[-1]:
        found.pop()
    gaps = [LETTERS[place] for place, text in enumerate(found) if not text]
    if gaps:
        raise RejectedRow(f"option {', '.join(gaps)} is empty, but {LETTERS[len(found) - 1]} is not")
    if len(found) < 2:
        raise RejectedRow(f"there are {len(found)} options, expected at least 2")
    return found


def right_letter(answer: str, options: Sequence[str]) -> str:
    """The letter of the right option: ``answer`` is the letter ("B", "b.", "(B)"), "B. text", or the option's text.

    Raises:
        RejectedRow: it is none of these, or the text of several options.
    """
    letters = LETTERS[: len(options)]
    bare = re.fullmatch(r"[(\[]?([A-Za-z])[)\].:]?", answer)
    if bare and bare.group(1).upper() in letters:
        return bare.group(1).upper()
    texts = [" ".join(option.casefold().split()) for option in options]
    wanted = " ".join(answer.casefold().split())
    labelled = re.fullmatch(r"[(\[]?([a-z])[)\].:]\s*(.+)", wanted)
    if labelled and labelled.group(1).upper() in letters:
        letter = labelled.group(1).upper()
        if texts[letters.index(letter)] == labelled.group(2):
            return letter
    places = [letter for letter, text in zip(letters, texts, strict=True) if text == wanted]
    if len(places) > 1:
        raise RejectedRow(f"answer {answer[:40]!r} is the text of several options: {', '.join(places)}")
    if not places:
        raise RejectedRow(f"answer {answer[:40]!r} is not among the options A to {letters[-1]}, nor one's text")
    return places[0]
