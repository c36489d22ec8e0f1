"""The letters of a question's options."""

from __future__ import annotations


def option_letters(count: int) -> str:
    """The letters of ``count`` options: "ABCD" for 4. Raises ValueError outside 1 to 26."""
    if not 1 <= count <= 26:
        raise ValueError(f"A question can have 1 to 26 options, got {count}.")
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count]
