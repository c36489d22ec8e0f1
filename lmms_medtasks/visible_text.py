"""Texts of others for a page, a table file and a terminal: nothing in them is invisible."""

from __future__ import annotations

_KEPT = "\n\t"
_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that Unicode calls printable and that no font draws."""


def replace_invisible(text: str) -> str:
    """``text`` with U+FFFD for each invisible character, except line feeds and tabs.

    These are control characters (escape sequences of a terminal), marks that turn the direction of a text, characters
    without width, and letters that are drawn as nothing. Every writer of pages, CSV files and terminal lines calls it.
    """
    if text.isprintable() and (text.isascii() or not any(each in text for each in _BLANK_LETTERS)):
        return text
    plain = text.replace("\r\n", "\n")
    return "".join(
        each if each in _KEPT or (each.isprintable() and each not in _BLANK_LETTERS) else "\ufffd" for each in plain
    )
