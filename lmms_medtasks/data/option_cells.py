"""The options of a question as a table's cells have them: lists, mappings from letters, and texts of either."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks import parsing
from lmms_medtasks.data.cell_texts import joined_by_python
from lmms_medtasks.errors import UserError

Place = Callable[[], str]
"""Says where a cell stands: called only where something is wrong."""

_LETTERED = re.compile(r"\(?([A-Za-z])[.):]\)?\s*(.*)", re.DOTALL)
_LETTER_KEYS = ("label", "labels", "key", "letter", "id")
_TEXT_KEYS = ("text", "texts", "value", "content")


def listed(value: Any, place: Place) -> list[Any]:
    """The options in a cell: a list, a mapping from letters, pairs of both, or any of these as JSON or as Python's.

    Pairs are a list of mappings (``{"label": "A", "text": "cat"}``), or a mapping of lists (``label`` and ``text``).
    """
    given = value
    if isinstance(value, str):
        value = _read(value)
    pairs = _pairs(value)
    if pairs is not None:
        letters = [str(key).strip().upper() for key, _ in pairs]
        if letters != list(parsing.option_letters(len(letters))):
            raise UserError(
                f"{place()}: the options are called {', '.join(str(key) for key, _ in pairs)}, expected A, B, C ... in "
                "this order."
            )
        return [text for _, text in pairs]
    if not isinstance(value, list | tuple):
        hint = " It is an array as NumPy prints it." if isinstance(given, str) and joined_by_python(given) else ""
        raise UserError(
            f'{place()}: expected a list of options, as a list or as JSON (["cat", "dog"]), got '
            f"{str(given)[:80]!r}.{hint}"
        )
    return list(value)


def _pairs(value: Any) -> list[tuple[Any, Any]] | None:
    """Letters and texts of options that have both; None for a plain list, and for what is none."""
    if isinstance(value, Mapping):
        names = {str(key).lower(): each for key, each in value.items()}
        marks = next((names[key] for key in _LETTER_KEYS if isinstance(names.get(key), list | tuple)), None)
        texts = next((names[key] for key in _TEXT_KEYS if isinstance(names.get(key), list | tuple)), None)
        if marks is not None and texts is not None and len(marks) == len(texts):
            return list(zip(marks, texts, strict=True))
        return [(key, each) for key, each in value.items() if each is not None]
    if not isinstance(value, list | tuple) or not value or not all(isinstance(each, Mapping) for each in value):
        return None
    found = []
    for each in value:
        mark = next((each[key] for key in _LETTER_KEYS if key in each), None)
        text = next((each[key] for key in _TEXT_KEYS if key in each), None)
        if mark is None or text is None:
            return None
        found.append((mark, text))
    return found


def _read(text: str) -> Any:
    """A list or mapping that is written as JSON, numbers as they stand, or as Python writes lists; None otherwise."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)  # 2.50 stays as it is written
    except json.JSONDecodeError:
        pass
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    # A number in it would have lost how it was written; texts side by side would be joined into one.
    plain = isinstance(found, list | dict) and all(isinstance(each, str) for each in found)
    return found if plain and not joined_by_python(text) else None


def checked(texts: list[str], place: Place) -> list[str]:
    """The options without empty ones at the end; UserError for fewer than two, gaps, repetitions and too many."""
    while texts and not texts[-1]:
        texts.pop()
    if len(texts) < 2 or "" in texts:
        mixed = "" if texts else " An open question? Those go into a table and a task of their own."
        raise UserError(f"{place()}: the options are {texts}. Expected two or more, none empty before the last.{mixed}")
    if len(texts) > 26:
        raise UserError(f"{place()}: {len(texts)} options, at most 26 have letters.")
    repeated = sorted({each for each in texts if texts.count(each) > 1})
    if repeated:
        raise UserError(f"{place()}: the option {repeated[0]!r} stands there twice: no answer could be told right.")
    return texts


def lettered(options: Sequence[str]) -> list[str]:
    """The letters that the options' texts begin with, in capitals ("A. cat"); [] unless all do."""
    found = [_LETTERED.fullmatch(text) for text in options]
    return [each[1].upper() for each in found if each] if found and all(found) else []


def letter_and_text(answer: str) -> tuple[str, str] | None:
    """The letter in capitals and the text of an answer such as "A. cat"; None for any other."""
    found = _LETTERED.fullmatch(answer.strip())
    return (found[1].upper(), found[2].strip()) if found and found[2].strip() else None


def without_letters(options: list[str], place: Place) -> list[str]:
    """The options without the letters that their texts begin with."""
    letters = list(parsing.option_letters(len(options)))
    if lettered(options) != letters:
        raise UserError(
            f"{place()}: lettered=True takes letters off, but the options {options} do not begin with "
            f"{', '.join(letters)} in this order."
        )
    texts = [_LETTERED.fullmatch(text)[2].strip() for text in options]  # type: ignore[index]  # lettered() has matched
    return checked(texts, place)
