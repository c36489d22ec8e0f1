"""The right answers as a table's cells have them: letters, options' texts, counts, several of these, references."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lmms_medtasks import parsing
from lmms_medtasks.data.cell_texts import unlike
from lmms_medtasks.data.option_cells import letter_and_text
from lmms_medtasks.errors import UserError

AnswerIs = Literal["letter", "text", "index", "number", ""]
ANSWER_IS = ("letter", "text", "index", "number")
Several = Literal["all", "any", ""]

WHOLE = re.compile(r"-?[0-9]+")
_COUNTS = 'Say whether they count options from 0 (answer_is="index") or from 1 (answer_is="number").'
_TOGETHER = re.compile(r"\s*(?:[,;/|&+]|\band\b|\s)\s*")
_EITHER = re.compile(r"\s*(?:[,;/|]|\bor\b|\s)\s*", re.IGNORECASE)
_LETTER = r"\(?[A-Za-z][).:]?"
SAYS_OR = re.compile(rf"{_LETTER}(?:\s*,\s*{_LETTER})*\s*,?\s*\bor\b\s*{_LETTER}", re.IGNORECASE)
"""An answer that names several letters and says that either is right."""
SAYS_NEITHER = re.compile(rf"{_LETTER}(?:\s*[/|]\s*{_LETTER})+")
"""Several letters with a sign between them that some mean as "and" and others as "or"."""


def one_of_one(value: Any) -> Any:
    """A value that stands alone in a list, without the list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def written_list(value: Any) -> list[Any] | None:
    """The items of a list that is written as JSON text; None for anything else."""
    if not isinstance(value, str) or not value.strip().startswith("["):
        return None
    try:
        found = json.loads(value, parse_int=str, parse_float=str)
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def references(value: Any) -> list[Any]:
    """The references in a cell: a list, also as JSON, of texts or of VQA v2's mappings with ``answer``."""
    found = written_list(value) or (value if isinstance(value, list) else [value])
    return [each["answer"] if isinstance(each, Mapping) and "answer" in each else each for each in found]


def parts(value: Any, options: Sequence[str], several: Several) -> list[Any]:
    """The single answers in a cell with several: items of a list, or letters and numbers with signs between them."""
    if isinstance(value, list):
        return value
    found = written_list(value)
    if found is not None:
        return found
    text = str(value).strip()
    if text in options:
        return [text]
    if re.fullmatch(r"[A-Z]{2,26}", text) and all(is_letter(each, options) for each in text):
        return list(text)
    signs = _EITHER if several == "any" else _TOGETHER
    split = [each for each in signs.split(text) if each]
    return split if all(is_letter(each, options) or WHOLE.fullmatch(each) for each in split) else [text]


def kind_of(values: list[str], options: list[list[str]], column: str) -> str:
    """What the answers of a column are, where only one reading fits all of them."""
    pairs = list(zip(values, options, strict=True))
    places = {kind: [place_of(value, offered, kind) for value, offered in pairs] for kind in ANSWER_IS}
    fitting = [kind for kind in ANSWER_IS if None not in places[kind]]
    if "text" in fitting and "letter" in fitting:
        raise UserError(
            f'Column {column!r} could be letters or options\' texts. Say answer_is="letter" or answer_is="text".'
        )
    whole = all(WHOLE.fullmatch(value.strip()) for value in values)
    if whole and "text" not in fitting:
        raise UserError(f"Column {column!r} holds whole numbers such as {values[0]!r}. {_COUNTS}")
    others = [kind for kind in ("index", "number") if kind in fitting and places[kind] != places.get("text")]
    if whole and others:
        raise UserError(
            f"Column {column!r} holds whole numbers such as {values[0]!r}, which could be options' texts or count "
            f'options. Say answer_is="text"{"".join(f" or answer_is={kind!r}" for kind in others)}.'
        )
    letters = sum(place is not None for place in places["letter"])
    return "text" if "text" in fitting or letters < len(pairs) / 2 else "letter"


def _bare(value: str) -> str:
    """A letter without brackets and signs: "(A)" and "A." are "A"."""
    return value.strip().strip("().:").upper()


def is_letter(value: str, options: Sequence[str]) -> bool:
    """Whether an answer is one of the options' letters."""
    text = _bare(value)
    return len(text) == 1 and text in parsing.option_letters(len(options))


def place_of(value: Any, options: Sequence[str], kind: str) -> int | None:
    """The place of the option that an answer of this kind names, from 0; None if it names none.

    A letter may stand before its own option's text: "A. cat".
    """
    place: int | None = None
    letters = parsing.option_letters(len(options))
    if kind == "letter" and isinstance(value, str):
        both = letter_and_text(value)
        if is_letter(value, options):
            place = letters.index(_bare(value))
        elif both and both[0] in letters and options[letters.index(both[0])] == both[1]:
            place = letters.index(both[0])
    elif kind == "text" and str(value).strip() in options:
        place = list(options).index(str(value).strip())
    elif kind in ("index", "number") and WHOLE.fullmatch(str(value).strip()):
        place = int(value) - (kind == "number")
    return place if place is not None and 0 <= place < len(options) else None


def letter_of(value: Any, options: Sequence[str], kind: str) -> str:
    """The letter of the option that an answer of this kind names. Raises UserError where it names none."""
    letters = parsing.option_letters(len(options))
    place = place_of(value, options, kind)
    if place is None:
        hint = unlike(str(value), options)
        if re.fullmatch(r"[0-9]+\.0", str(value).strip()):
            hint = " Some programs write whole numbers so where a cell of the column is empty: write them without .0."
        if SAYS_OR.fullmatch(str(value).strip()):
            hint = ' Is any of them right? Say several="any" and `parser: any_letter`.'
        raise UserError(
            f"the answer {value!r} is not among the options, read as {kind}.{hint} Options: "
            + ", ".join(f"{letter}. {text}" for letter, text in zip(letters, options, strict=True))
        )
    return letters[place]
