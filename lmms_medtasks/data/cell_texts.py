"""What a cell that should hold one text holds instead, and characters that look like others, for messages."""

from __future__ import annotations

import datetime
import io
import tokenize
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

SEVERAL = (
    'Where options can be right together, say several="all" and `parser: several_letters`: a reply then must name all '
    'of them and no other. Where any of them is right, say several="any": with options and `parser: any_letter`, or '
    "for an open question with several references."
)
_NAMED = 3


def no_text(value: Any, way_out: str = SEVERAL) -> str:
    """What is wrong with a value that is no text, and the way out; ``way_out`` is that of lists and mappings."""
    kind = type(value).__name__
    if isinstance(value, list | Mapping):
        return f"{value!r} is a {kind}, expected one text. {way_out}"
    if isinstance(value, datetime.date):
        return (
            f"{value!r} is a {kind}, expected a text: how it was written is lost. The reader of JSON takes the "
            f"texts of "
            "a column for dates where all look like dates: store the table as CSV, or as parquet with a column of text."
        )
    return (
        f"{value!r} is a {kind}, expected a text or a whole number: how it was written is lost. Store the "
        f"column as text "
        "(in JSON: in quotation marks)."
    )


def unlike(text: str, others: Sequence[str]) -> str:
    """Why ``text`` is none of ``others`` though it looks like one, as a sentence with a blank before it; "" otherwise.

    >>> unlike("CAT", ["dog", "cat"])
    ' It differs from 'cat' in letter case or blanks only: write both alike.'
    """
    alike = [other for other in others if folded(other) == folded(text)]
    if alike:
        return f" It differs from {alike[0]!r} in letter case or blanks only: write both alike."
    known = set("".join(others))
    strange = [sign for sign in dict.fromkeys(text) if not sign.isascii() and sign not in known]
    same = [sign for sign in strange if not sign.isprintable() or unicodedata.normalize("NFKC", sign) != sign]
    same += [sign for sign in strange if sign not in same and len(text.strip("().: ")) == 1]
    named = ", ".join(sign_name(sign) for sign in same[:_NAMED])
    return f" It holds {named}, which only looks like another character: type it again." if same else ""


def sign_name(sign: str) -> str:
    """A character by its code and its name: ``U+0410 (CYRILLIC CAPITAL LETTER A)``."""
    return f"U+{ord(sign):04X} ({unicodedata.name(sign, 'no name')})"


def folded(text: str) -> str:
    """``text`` without differences of letter case and blanks."""
    return " ".join(text.casefold().split())


def joined_by_python(text: str) -> bool:
    """Whether two texts stand side by side, as NumPy prints arrays; Python would join them into one.

    >>> joined_by_python("['a' 'b']"), joined_by_python("['a', 'b']")
    (True, False)
    """
    before = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and before == tokenize.STRING:
                return True
            if token.type != tokenize.NL:
                before = token.type
    except (tokenize.TokenError, SyntaxError):
        return False
    return False
