"""The parsers that a task can name: they parse a reply, and know the expected and all possible answers.

A custom parser is a function. It gets a reply without its reasoning, which has a word at least, and the
question as the task's adapter makes it. It returns the answer that the reply gives, or None where it gives none::

    def read_finding(reply: str, doc: Mapping) -> str | None: ...

Of a question with options an answer is an option's letter. Of others it is a text, compared with the right answer
letter by letter, case and white space around it apart. :func:`reads` says which answers there are, so that chance is
known.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks import parsing
from lmms_medtasks.errors import UserError, line_of
from lmms_medtasks.extensions import Extension, check_arguments, load_extension, resolve_extension_path
from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.parsing.letter_sets import read_letters
from lmms_medtasks.parsing.option import read_first_capital, read_option
from lmms_medtasks.parsing.positions import NONE, read_option_position, read_position
from lmms_medtasks.parsing.reply import ParsedAnswer, Reply
from lmms_medtasks.parsing.yes_no import read_yes_no

Document = Mapping[str, Any]


class ReplyParser(NamedTuple):
    """``read``: parses a reply to a document. ``answers``: all possible values of ``read``, or () if unknown.
    ``expected``: the correct one. ``accepts``: whether an answer is correct, given the expected one."""

    about: str
    read: Callable[[Document, Reply | str | None], ParsedAnswer]
    answers: Callable[[Document], tuple[str, ...]]
    expected: Callable[[Document], str]
    accepts: Callable[[str, str], bool] = operator.eq


def get(name: str, folder: Path | None = None) -> ReplyParser:
    """Get the parser that a task names: built-in, installed, ``FILE.py:NAME`` or ``package.module:NAME``.

    Args:
        name: As the YAML says it.
        folder: Where the YAML lies; files are looked for there.

    Raises:
        UserError: There is none, or it is no parser.
    """
    return PARSERS[name] if name in PARSERS else _load_custom(resolve_extension_path(name, folder))


def is_custom_parser(name: str) -> bool:
    """Whether a parser is custom."""
    return name not in PARSERS


@functools.cache
def _load_custom(reference: str) -> ReplyParser:
    return parser_of(load_extension("parser", reference, tuple(PARSERS)))


# --- Ours -------------------------------------------------------------------------------------------------------------


def _option_letters(doc: Document) -> tuple[str, ...]:
    if not doc["options"]:
        raise UserError(f"Question {doc['id']!r} has no options to read a letter of.")
    return tuple(parsing.option_letters(len(doc["options"])))


def _expected_answer(doc: Document) -> str:
    return str(doc["answer"])


def _read_letter(doc: Document, reply: Reply | str | None) -> ParsedAnswer:
    choice = read_first_capital(reply, len(_option_letters(doc)))
    return ParsedAnswer(choice.status, choice.value, choice.rule)


def _read_option(doc: Document, reply: Reply | str | None) -> ParsedAnswer:
    choice = read_option(reply, doc["options"])
    return ParsedAnswer(choice.status, choice.value, choice.rule)


MOST_OPTIONS = 10
"""Options of a question with several right answers, at most: 1,023 answers."""


def _letter_sets(doc: Document) -> tuple[str, ...]:
    letters = _option_letters(doc)
    if len(letters) > MOST_OPTIONS:
        raise UserError(f"Question {doc['id']!r} has {len(letters)} options; where several are right at most "
                        f"{MOST_OPTIONS} are allowed.")  # fmt: skip
    counts = range(1, len(letters) + 1)
    return tuple("".join(letter_set) for count in counts for letter_set in combinations(letters, count))


def _read_letters(doc: Document, reply: Reply | str | None) -> ParsedAnswer:
    return read_letters(reply, doc["options"])


def _accepted_letters(doc: Document) -> str:
    """All correct letters, checked against the options."""
    expected, letters = _expected_answer(doc), _option_letters(doc)
    if not expected or not set(expected) <= set(letters):
        raise UserError(f"Question {doc['id']!r}: {expected!r} are not letters of its {len(letters)} options.")
    return expected


def _is_accepted(answer: str, expected: str) -> bool:
    return bool(answer) and answer in expected


def _read_yes_no(doc: Document, reply: Reply | str | None) -> ParsedAnswer:
    return read_yes_no(reply, str(doc["question"]))


def _read_position(doc: Document, reply: Reply | str | None) -> ParsedAnswer:
    size = parse_size(doc["grid"])
    return read_option_position(reply, doc["options"], size) if doc["options"] else read_position(reply, size)


def _possible_positions(doc: Document) -> tuple[str, ...]:
    return (*parse_size(doc["grid"]).positions, NONE)


def _expected_position(doc: Document) -> str:
    """The correct position: the answer, or the text of the option with that letter."""
    text = str(doc["options"][_option_letters(doc).index(doc["answer"])]) if doc["options"] else _expected_answer(doc)
    text = text.strip().casefold()
    position = NONE if text.startswith(NONE) else text
    if position not in _possible_positions(doc):
        raise UserError(
            f"Question {doc['id']!r}: the answer {text!r} is no position of a {doc['grid']} grid. Allowed: "
            f"{', '.join(_possible_positions(doc))}."
        )
    return position


def _expected_text(doc: Document) -> str:
    return _fold_text(_expected_answer(doc))


PARSERS: Mapping[str, ReplyParser] = {
    "option": ReplyParser(
        "An option's letter or text as the reply states it; what is ambiguous is no answer.", _read_option,
        _option_letters, _expected_answer,
    ),
    "letter": ReplyParser(
        "MedQ-Deg's rule, literally: a single letter, else the first capital letter. Only to compare with its paper.",
        _read_letter, _option_letters, _expected_answer,
    ),
    "several_letters": ReplyParser(
        "The letters of several options, where several are right together: all of them and no other must be named.",
        _read_letters, _letter_sets, _expected_answer,
    ),
    "any_letter": ReplyParser(
        "An option's letter or text, read as `option` reads it, where several are right and one of them is asked for: "
        "any of the right ones is right.", _read_option, _option_letters, _accepted_letters, _is_accepted,
    ),
    "yes_no": ReplyParser(
        "Yes or no, as the reply's final word has it.", _read_yes_no, lambda doc: ("yes", "no"), _expected_text,
    ),
    "position": ReplyParser(
        "A position in a grid, or that there is no outlier; the document's `grid` is its size, as in 2x2.",
        _read_position, _possible_positions, _expected_position,
    ),
}  # fmt: skip
"""Name -> parser."""


# --- Someone's own ----------------------------------------------------------------------------------------------------

ReadReply = Callable[[str, Document], "str | None"]
_WANTED = "Expected a function of (reply, doc) that returns a text or None."
_LONGEST = 60


@dataclass(frozen=True)
class DeclaredParser:
    """A function with the answers that it may return, see :func:`reads`."""

    read: ReadReply
    answers: tuple[str, ...]

    def __call__(self, reply: str, doc: Document) -> str | None:
        return self.read(reply, doc)


def reads(*answers: str) -> Callable[[ReadReply], DeclaredParser]:
    """Declare the possible answers of a parser function to questions without options.

    >>> @reads("benign", "malignant")
    ... def read_finding(reply, doc):
    ...     return "benign" if "benign" in reply.casefold() else None
    >>> read_finding.answers
    ('benign', 'malignant')

    Raises:
        UserError: Fewer than two answers, or one twice.
    """
    folded = {str(answer).strip().casefold() for answer in answers}
    if len(folded) < max(2, len(answers)) or not all(folded):
        raise UserError(f"reads{answers!r}: expected two or more different answers, none of them empty.")
    return lambda read: DeclaredParser(read, tuple(answers))


def parser_of(part: Extension) -> ReplyParser:
    """Make a parser of a custom function; its mistakes are reported with file and question.

    Raises:
        UserError: It is no function of two arguments.
    """
    value, subject = part.value, f"{part.origin}: the parser {part.name!r}"
    if inspect.isclass(value) or not callable(value):
        raise UserError(f"{subject} is no function ({type(value).__name__}). {_WANTED}")
    function = value.read if isinstance(value, DeclaredParser) else value
    check_arguments(function, ("a reply", {}), "(reply, doc)", subject, _WANTED)
    about = (inspect.getdoc(function) or "").partition("\n")[0] or f"{part.name} of {part.origin}."
    custom = _CustomParser(function, value.answers if isinstance(value, DeclaredParser) else (), subject)
    return ReplyParser(about, custom.read, custom.answers, custom.expected)


def _fold_text(text: str) -> str:
    return text.strip().casefold()


@dataclass(frozen=True)
class _CustomParser:
    """A custom function, the answers that it declares, and its name in messages."""

    function: ReadReply
    declared: tuple[str, ...]
    title: str

    def answers(self, doc: Document) -> tuple[str, ...]:
        return tuple(parsing.option_letters(len(doc["options"]))) if doc.get("options") else self.declared

    def expected(self, doc: Document) -> str:
        """The correct answer: an option's letter, else the declared text, else the text itself."""
        answer = str(doc["answer"])
        if doc.get("options"):
            return answer
        return next((text for text in self.declared if _fold_text(text) == _fold_text(answer)), _fold_text(answer))

    def read(self, doc: Document, reply: Reply | str | None) -> ParsedAnswer:
        taken = Reply.of(reply)
        if taken.outcome is not None:
            return ParsedAnswer(taken.outcome)
        text = taken.answer
        subject = f"{self.title} on question {doc.get('id')!r}, reply {text[:_LONGEST]!r}"
        try:
            answer = self.function(text, doc)
        except Exception as error:  # anyone's function may raise anything
            raise UserError(
                f"{subject}: {type(error).__name__}: {error}{line_of(error)}. A reply may say anything: return None "
                "for one without an answer."
            ) from error
        if answer is None:
            return ParsedAnswer(taken.unread)
        if not isinstance(answer, str):
            raise UserError(f"{subject}: returns {answer!r:.40} ({type(answer).__name__}). Expected a text, or None.")
        folded = _fold_text(answer)
        if not folded:
            raise UserError(f"{subject}: returns an empty text. Return None for a reply without an answer.")
        possible = self.answers(doc)
        if not possible:
            return ParsedAnswer("ok", folded)
        same = next((candidate for candidate in possible if _fold_text(candidate) == folded), None)
        if same is None:
            allowed = ", ".join(possible)
            raise UserError(f"{subject}: returns {answer!r:.40}, which is no answer. Allowed: {allowed}, or None.")
        return ParsedAnswer("ok", same)
