"""What looks wrong in the texts of questions and options: a damaged encoding, signs nobody sees, answers given away."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute.loaded import Loaded
from lmms_medtasks.data.table_cells import folded, sign_name
from lmms_medtasks.task_yaml.problems import Findings

LONGEST = 20_000
"""Characters of a question from which on many models would cut it."""
_ENOUGH = 5
"""Questions that hold the text of their right option and of no other, from which on it is told."""
_UNSEEN = ("Cf", "Cc", "Co", "Cn")
_PLAIN = "\n\t\r\u200c\u200d\u200e\u200f\ufe0f"
"""Signs of these kinds that texts need: line breaks, joiners of Arabic, Indic scripts and emoji, marks of direction."""
_SAID = re.compile(r"\banswer\s*(?:is|:|=)\s*[(\[*\"']*([A-Za-z])\b(?![\w'’])", re.IGNORECASE)

Document = Mapping[str, Any]


def check(task: Loaded, docs: Sequence[Document], found: Findings) -> None:
    """Warn of what is found in the texts of a task's questions."""
    for kind, why in _KINDS.items():
        told = [(doc["id"], said) for doc in docs if (said := why(doc))]
        if told and (kind != _GIVEN_AWAY or len(told) >= max(_ENOUGH, len(docs) / 2)):
            first, said = told[0]
            message = f"{len(told)} of {len(docs)} questions {kind}, the first is {first!r}: {said}"
            found.add(task.path, message, key="questions", level="warning")


def _texts(doc: Document) -> list[str]:
    return [str(doc["question"]), *map(str, doc["options"] or ())]


def _damaged(doc: Document) -> str:
    """A text that was UTF-8 and was read as Windows-1252, or lost characters."""
    for text in _texts(doc):
        if "\ufffd" in text:
            return f"{text[:60]!r} holds U+FFFD, which stands for a character that was lost"
        for wrong in ("cp1252", "latin-1"):
            with contextlib.suppress(UnicodeError):
                meant = text.encode(wrong).decode("utf-8")
                if meant != text:
                    return f"{text[:60]!r} was meant to be {meant[:60]!r}: read it as UTF-8 and write the table again"
    return ""


def _unseen(doc: Document) -> str:
    for text in _texts(doc):
        for sign in text:
            if unicodedata.category(sign) in _UNSEEN and sign not in _PLAIN:
                return f"{sign_name(sign)} in {text[:60]!r}. Take it out"
    return ""


def _long(doc: Document) -> str:
    length = len(doc["question"])
    return f"{length:,} characters. Many models would be shown a part of it" if length > LONGEST else ""


def _alike(doc: Document) -> str:
    options = [folded(str(each)) for each in doc["options"] or ()]
    twice = next((each for each in options if options.count(each) > 1), "")
    return f"{twice!r}. A reply in words can't tell them apart" if twice else ""


def _answer_said(doc: Document) -> str:
    match = _SAID.search(str(doc["question"]))
    letters = parsing.option_letters(len(doc["options"])) if doc["options"] else ""
    said = match[1].upper() if match else ""
    return f"{match[0]!r}" if match and said in letters and said in str(doc["answer"]) else ""


def _answer_held(doc: Document) -> str:
    options, answer = doc["options"] or [], str(doc["answer"])
    letters = parsing.option_letters(len(options)) if options else ""
    if len(answer) != 1 or answer not in letters or _listed(doc):
        return ""
    question = folded(str(doc["question"]))
    held = [each for each in options if re.search(rf"\b{re.escape(folded(str(each)))}\b", question)]
    return f"{held[0]!r}" if held == [options[letters.index(answer)]] else ""


def _listed(doc: Document) -> str:
    options = [str(each) for each in doc["options"] or ()]
    listed = len(options) > 1 and all(each in str(doc["question"]) for each in options)
    lettered = listed and re.search(r"\bA[.):]", str(doc["question"]))
    return "a model gets them twice, once from the prompt. Take them out of the question" if lettered else ""


_GIVEN_AWAY = "hold the text of their correct option and of no other"
_KINDS: Mapping[str, Callable[[Document], str]] = {
    "have texts whose encoding is damaged": _damaged,
    "hold characters that nobody sees": _unseen,
    f"are longer than {LONGEST:,} characters": _long,
    "have options that differ in letter case or blanks only": _alike,
    "say their right answer": _answer_said,
    _GIVEN_AWAY: _answer_held,
    "list their options": _listed,
}
"""What is said of questions -> why it is true of a document, "" where it is not."""
