"""When two answers are the same but for how they are written."""

from __future__ import annotations

_AROUND = " .,;:!\"'`*"


def folded(text: str) -> str:
    """What of an answer counts when two are compared: no case, single spaces, no punctuation or marks around it.

    >>> folded(" **Yes.** "), folded("Left  lung"), folded("2.5 cm.")
    ('yes', 'left lung', '2.5 cm')
    """
    return " ".join(text.casefold().split()).strip(_AROUND)
