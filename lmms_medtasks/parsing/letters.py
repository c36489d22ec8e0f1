"""The letters of a question's options."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CIRCLED = re.compile(r"[①-⑳](?=\s*(?:$|[.,;:。，、；)）]|[①-⑳]|和|与|and\b|y\b|et\b|und\b))")


def option_letters(count: int) -> str:
    """The letters of ``count`` options: "ABCD" for 4. Raises ValueError outside 1 to 26."""
    if not 1 <= count <= 26:
        raise ValueError(f"A question can have 1 to 26 options, got {count}.")
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count]


def circled_as_letters(text: str, options: Sequence[str]) -> str:
    """A text with "C" in place of "③" where that stands for an option, and heads no item of a list."""
    letters = option_letters(len(options))
    if any(_CIRCLED.search(option) for option in options):
        return text
    return _CIRCLED.sub(lambda match: letters[ord(match[0]) - 0x2460 : ord(match[0]) - 0x245F] or match[0], text)
