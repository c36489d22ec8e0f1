"""The parsers that a task can name: how an answer is read out of a reply, and what the right one is."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from lmms_medtasks import parsing
from lmms_medtasks.errors import UserError
from lmms_medtasks.extensions import load, located
from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.parsing.choice import read_first_capital
from lmms_medtasks.parsing.letter_sets import read_letters
from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.positions import NONE, read_option_position, read_position
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.yes_no import read_yes_no
from lmms_medtasks.suites.templates.own_parsers import parser_of
from lmms_medtasks.suites.templates.parser_form import Document, Parser, Read

__all__ = ["PARSERS", "Document", "Parser", "Read", "get", "is_own"]


def get(name: str, folder: Path | None = None) -> Parser:
    """The parser that a task names: one of ours, an installed package's, ``FILE.py:NAME`` or ``package.module:NAME``.

    Args:
        name: As the YAML says it.
        folder: Where the YAML lies; files are looked for there.

    Raises:
        UserError: There is none, or it is no parser.
    """
    return PARSERS[name] if name in PARSERS else _own(located(name, folder))


def is_own(name: str) -> bool:
    """Whether a parser's name is not one of ours."""
    return name not in PARSERS


@functools.cache
def _own(reference: str) -> Parser:
    return parser_of(load("parser", reference, tuple(PARSERS)))


def _letters(doc: Document) -> tuple[str, ...]:
    if not doc["options"]:
        raise UserError(f"Question {doc['id']!r} has no options to read a letter of.")
    return tuple(parsing.option_letters(len(doc["options"])))


def _answer(doc: Document) -> str:
    return str(doc["answer"])


def _read_letter(doc: Document, reply: Reply | str | None) -> Read:
    found = read_first_capital(reply, len(_letters(doc)))
    return Read(found.status, found.value, found.rule)


def _read_option(doc: Document, reply: Reply | str | None) -> Read:
    found = read_option(reply, doc["options"])
    return Read(found.status, found.value, found.rule)


MOST_OPTIONS = 10
"""Options of a question with several right answers, at most: 1,023 answers."""


def _letter_sets(doc: Document) -> tuple[str, ...]:
    letters = _letters(doc)
    if len(letters) > MOST_OPTIONS:
        raise UserError(f"Question {doc['id']!r} has {len(letters)} options; where several are right at most "
                        f"{MOST_OPTIONS} are allowed.")  # fmt: skip
    counts = range(1, len(letters) + 1)
    return tuple("".join(each) for count in counts for each in combinations(letters, count))


def _read_letters(doc: Document, reply: Reply | str | None) -> Read:
    found = read_letters(reply, doc["options"])
    return Read(found.status, found.value, found.rule)


def _accepted_letters(doc: Document) -> str:
    """All letters that are right; each of them is an option's."""
    expected, letters = _answer(doc), _letters(doc)
    if not expected or not set(expected) <= set(letters):
        raise UserError(f"Question {doc['id']!r}: {expected!r} are not letters of its {len(letters)} options.")
    return expected


def _is_accepted(answer: str, expected: str) -> bool:
    return bool(answer) and answer in expected


def _read_yes_no(doc: Document, reply: Reply | str | None) -> Read:
    found = read_yes_no(reply, str(doc["question"]))
    return Read(found.status, found.value, found.rule)


def _read_position(doc: Document, reply: Reply | str | None) -> Read:
    size = parse_size(doc["grid"])
    found = read_option_position(reply, doc["options"], size) if doc["options"] else read_position(reply, size)
    return Read(found.status, found.value, found.rule)


def _positions(doc: Document) -> tuple[str, ...]:
    return (*parse_size(doc["grid"]).positions, NONE)


def _position(doc: Document) -> str:
    """The right position: the answer, or the text of the option whose letter it is."""
    text = str(doc["options"][_letters(doc).index(doc["answer"])]) if doc["options"] else _answer(doc)
    text = text.strip().casefold()
    found = NONE if text.startswith(NONE) else text
    if found not in _positions(doc):
        raise UserError(
            f"Question {doc['id']!r}: the answer {text!r} is no position of a {doc['grid']} grid. Allowed: "
            f"{', '.join(_positions(doc))}."
        )
    return found


def _said(doc: Document) -> str:
    return _answer(doc).strip().casefold()


PARSERS: Mapping[str, Parser] = {
    "option": Parser(
        "An option's letter or text as the reply states it; what is ambiguous is no answer.", _read_option, _letters,
        _answer,
    ),
    "letter": Parser(
        "MedQ-Deg's rule, literally: a single letter, else the first capital letter. Only to compare with its paper.",
        _read_letter, _letters, _answer,
    ),
    "several_letters": Parser(
        "The letters of several options, where several are right together: all of them and no other must be named.",
        _read_letters, _letter_sets, _answer,
    ),
    "any_letter": Parser(
        "An option's letter or text, read as `option` reads it, where several are right and one of them is asked for: "
        "any of the right ones is right.", _read_option, _letters, _accepted_letters, _is_accepted,
    ),
    "yes_no": Parser("Yes or no, as the reply's final word has it.", _read_yes_no, lambda doc: ("yes", "no"), _said),
    "position": Parser(
        "A position in a grid, or that there is no outlier; the document's `grid` is its size, as in 2x2.",
        _read_position, _positions, _position,
    ),
}  # fmt: skip
"""Name -> parser."""
