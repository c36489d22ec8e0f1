"""Which options a reply names, where several can be right together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_medtasks.parsing.choice import Reading, option_letters
from lmms_medtasks.parsing.replies import text_or_outcome
from lmms_medtasks.parsing.reply import Reply

_SIGN = r"(?:\s*(?:,|;|/|&|\+|\band\b)\s*|\s+)+"
_MARKED = r"[(\[*\"'`]*([A-Z])[)\]*\"'`.:]*"
_FINAL = re.compile(r"answers?(?:\s+(?:is|are)\b|\s*:)\s*:?", re.IGNORECASE)
_LABEL = re.compile(r"^[\s*]*(?:the\s+)?(?:(?:right|correct)\s+)?options?(?:\s+(?:is|are)\b|\s*:)?\s*", re.IGNORECASE)


def read_letters(reply: Reply | str | None, options: Sequence[str]) -> Reading:
    """The letters that a reply names, in the order of the alphabet: "AC".

    What follows the last "answer is" or "answer:" counts, else the whole reply where it is one line, else its last
    line. That must be letters with commas, blanks, slashes or "and" between them ("A, C"), letters in one word ("AC"),
    letters with their options' texts ("A. cat, C. dog"), or the texts themselves. Anything else is "unreadable", as is
    a letter beyond the last option or one that is named twice.
    """
    text, outcome = text_or_outcome(reply)
    if outcome:
        return Reading(outcome)
    finals = list(_FINAL.finditer(text))
    rest = text[finals[-1].end() :].strip() if finals else text.strip()
    lines = [line.strip() for line in rest.splitlines() if line.strip()]
    if not lines:
        return Reading("unreadable")
    said = " ".join(lines) if finals or _named(" ".join(lines), options) else lines[-1]
    letters = _named(said, options) or _named(lines[0] if finals else lines[-1], options)
    return Reading("ok", letters) if letters else Reading("unreadable")


def _named(said: str, options: Sequence[str]) -> str:
    """The letters that a line names, "" if it can't be read."""
    letters = option_letters(len(options))
    line = _LABEL.sub("", said).strip().rstrip(".").strip("*_ ")
    if re.fullmatch(r"[A-Z]{2,26}", line):
        found = list(line)
    elif re.fullmatch(rf"{_MARKED}(?:{_SIGN}{_MARKED})*", line):
        found = re.findall(r"[A-Z]", re.sub(r"\band\b", "", line))
    else:
        found = _with_texts(line, letters, options)
    right = found and len(set(found)) == len(found) and all(each in letters for each in found)
    return "".join(sorted(found)) if right else ""


def _with_texts(line: str, letters: str, options: Sequence[str]) -> list[str]:
    """Letters of a line that is options' texts, each with or without its letter, and signs between them."""
    by_length = sorted(zip(letters, options, strict=True), key=lambda pair: -len(pair[1]))
    found, rest = [], line
    while rest:
        for letter, text in by_length:
            match = re.match(rf"(?:[(\[*]*{letter}[)\].:*]*\s*)?{re.escape(text)}(?!\w)", rest, re.IGNORECASE)
            if match and text:
                found.append(letter)
                rest = re.sub(rf"^{_SIGN}", "", rest[match.end() :].lstrip(".)*]")).strip()
                break
        else:
            return []
    return found
