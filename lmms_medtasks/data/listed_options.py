"""Options that stand in the text of a question: "Which side? (a) left (b) right"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARKS = tuple(
    re.compile(rf"(?:^|(?<=[\s,;:?.])){mark}")
    for mark in (r"\(([A-Za-z])\)", r"\[([A-Za-z])\]", r"([A-Za-z])\)", r"([A-Za-z])[.:](?=\s)")
)
_LABEL = re.compile(r"[\s(]*\b(?:the\s+)?(?:answer\s+)?(?:options|choices)(?:\s+are)?\s*:?\s*$", re.IGNORECASE)
SPEAKS_OF_OPTIONS = re.compile(r"\b(?:options|choices)\s*:|\b1[.)]\s.*\b2[.)]\s", re.IGNORECASE | re.DOTALL)
"""What stands in questions whose options are in a form that is not read."""
_INSTRUCTION = re.compile(
    r"(?:\n|(?<=[.?!])\s+)\s*(?:please\s+)?(?:answer|respond|reply|choose|select|pick|give)\b[^\n]*$", re.IGNORECASE
)
"""A last line or sentence on how to answer, which the prompt says itself."""
_BETWEEN = re.compile(r"[\s,;]*(?:\b(?:or|and))?\s*$")


def split_listed_options(text: str) -> tuple[str, list[str]] | None:
    """The question and its options if it ends with a list of them, with letters from A or a on; None for any other."""
    for mark in _MARKS:
        matches = list(mark.finditer(text))
        for start, match in enumerate(matches):
            first = match[1]
            letters = [found[1] for found in matches[start:]]
            if first in "Aa" and len(letters) > 1 and letters == [chr(ord(first) + n) for n in range(len(letters))]:
                ends = [found.start() for found in matches[start + 1 :]] + [len(text)]
                texts = [text[found.end() : end] for found, end in zip(matches[start:], ends, strict=True)]
                question = _LABEL.sub("", text[: match.start()]).strip()
                options = _trim_options(texts)
                has_more = "\n" in options[-1] and not any("\n" in option for option in options[:-1])
                if question and all(options) and len(set(options)) == len(options) and not has_more:
                    return question, options
    return None


def _trim_options(texts: Sequence[str]) -> list[str]:
    """Options without what stands between them, and without the mark that ends the sentence behind the last."""
    options = [_BETWEEN.sub("", text).strip() for text in texts[:-1]]
    last = _INSTRUCTION.sub("", texts[-1].rstrip()).strip()
    for mark in ("?", "."):
        if last.endswith(mark) and not any(option.endswith(mark) for option in options):
            last = last.removesuffix(mark).rstrip()
    return [*options, last]
