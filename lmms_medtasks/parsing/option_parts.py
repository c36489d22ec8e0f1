"""The parts of options' texts that only one of the options has, by which a sentence can name it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lmms_medtasks.parsing.words import any_of

GENERIC = frozenset(
    "left right both neither none all other others normal abnormal present absent positive negative true false high "
    "low yes no unknown a b c d e i".split()
)
"""Words that a sentence about something else is likely to have, too."""

_DISTINCT = 4
"""Letters from which on a word names an option."""
_ROMAN = re.compile(r"[ivx]{1,4}[ab]?|t?\d{1,2}[a-d]?")


def find_own_parts(shown: Sequence[str], worded: Sequence[str]) -> list[tuple[int, re.Pattern[str]]]:
    """The parts that only one option has, as patterns with their option's place.

    They are words, initials ("RCA" for "right coronary artery", in capitals), and numbers with the word before them
    ("type IV").

    Args:
        shown: The options' texts.
        worded: The same as :func:`~lmms_medtasks.parsing.option_texts.worded_key` gives them.
    """
    tokens = [re.findall(r"[^\W_]+", text) for text in worded]
    found = [
        (place, pattern)
        for place, own in enumerate(tokens)
        for pattern in (*_iter_words(own, _others(tokens, place)), *_iter_initials(shown[place]))
    ]
    counts = Counter(pattern for _, pattern in found)
    return [(place, re.compile(pattern)) for place, pattern in found if counts[pattern] == 1]


def _others(tokens: Sequence[Sequence[str]], place: int) -> set[str]:
    return {token for other, own in enumerate(tokens) if other != place for token in own}


def _iter_words(own: Sequence[str], others: set[str]) -> Iterator[str]:
    """Patterns of the words of one option that are not ``others``'; of one word the whole is looked for anyway."""
    if len(own) < 2:
        return
    for token in dict.fromkeys(own):
        if token in others or token in GENERIC:
            continue
        if _ROMAN.fullmatch(token):
            heads = [re.escape(word) for word in own if word != token and len(word) > 2]
            kind = f"(?:{'|'.join([any_of('kind'), *heads])})"
            yield rf"(?<!\w){kind}\s{{0,2}}{token}(?!\w)|(?<!\w){token}\s?{any_of('kind', 'zh')}"
        elif len(token) >= _DISTINCT and token.isalpha():
            yield rf"(?<![^\W_]){re.escape(token)}(?![^\W_])"


def _iter_initials(text: str) -> Iterator[str]:
    initials = "".join(word[0] for word in re.findall(r"[A-Za-z][\w'-]*", text)).upper()
    if len(initials) > 2:
        yield initials
