"""Where sentences and clauses end: one rule for all readers. A point within a number or a word ends nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lmms_medtasks.parsing.words import lazy_pattern

WINDOW = 400
"""Characters looked at around a place: a model that repeats itself for ever must not cost for ever."""

_END = re.compile(r"[.!?;]+(?=\s|$)|\n")
_BREAK = re.compile(r"(?<=[.;!?])(?<!\b[A-Z]\.)\s+|\n+")  # an initial ends none: "E. coli"


class Clause(NamedTuple):
    """A part of a sentence, and the mark or the first letter of the word that ends it, "" at the text's end."""

    text: str
    mark: str


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, each with the mark that ends it; blank ones left out."""
    return [sentence for part in _BREAK.split(text) if (sentence := part.strip())]


def first_sentence(text: str) -> str:
    """What stands before the first end of a sentence, without its mark."""
    return _END.split(text, maxsplit=1)[0]


def iter_beginnings(text: str) -> Iterator[str]:
    """The beginnings of a text that end where a sentence does, the shortest first, of 1,000 characters at most.

    What ends with a question mark is none: a question states nothing.
    """
    for match in _END.finditer(text[:1000]):
        if "?" not in match[0]:
            yield text[: match.start()]


def sentence_start(text: str, offset: int) -> int:
    """Where the sentence around ``offset`` starts, :data:`WINDOW` characters before at most."""
    first = max(0, offset - WINDOW)
    return max((match.end() for match in _END.finditer(text, first, offset)), default=first)


def sentence_end(text: str, offset: int) -> int:
    """Where the sentence around ``offset`` ends, :data:`WINDOW` characters on at most."""
    match = _END.search(text, offset, offset + WINDOW)
    return match.start() if match else min(len(text), offset + WINDOW)


def sentence_before(text: str, offset: int) -> str:
    """What stands before ``offset`` in its sentence."""
    return text[sentence_start(text, offset) : offset]


def split_clauses(text: str) -> list[Clause]:
    """The clauses of a text: what stands between marks (no commas) and words that turn ("but", "however")."""
    clauses, start = [], 0
    for match in _clause_end().finditer(text):
        clauses.append(Clause(text[start : match.start()], match[0].strip()[:1]))
        start = match.end()
    return [*clauses, Clause(text[start:], "")]


def clause_before(text: str, offset: int) -> str:
    """What stands before ``offset`` in its clause."""
    return split_clauses(sentence_before(text, offset))[-1].text


_clause_end = lazy_pattern(r"[;:!?\n]+|\.(?=\s|$)|,?\s*(?:{turn}|(?<!\w)so(?!\w))")
