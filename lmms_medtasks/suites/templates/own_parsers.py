"""A parser of someone's own: a function of a reply and its question, or an object with all that ours have.

The function gets a reply without its reasoning, which has a word at least, and the question as the task's adapter makes
it. It returns the answer that the reply gives, or None where it gives none::

    def read_finding(reply: str, doc: Mapping) -> str | None: ...

Of a question with options an answer is an option's letter. Of others it is a text, compared with the right answer
letter by letter, case and white space around it apart. :func:`reads` says which answers there are, so that chance is
known.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks import parsing
from lmms_medtasks.errors import UserError, line_of
from lmms_medtasks.extensions import Part, check_arguments
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.suites.templates.parser_form import Document, Parser, Read

ReadReply = Callable[[str, Document], "str | None"]
_STATUSES = ("ok", *NO_ANSWER, FAILED)
_WANTED = (
    "Expected a function of (reply, doc) that returns a text or None, or an object with about, read, answers and "
    "expected as lmms_medtasks.suites.templates.parsers.Parser has them."
)
_LONGEST = 60


@dataclass(frozen=True)
class Declared:
    """A function with the answers that it may return, see :func:`reads`."""

    read: ReadReply
    answers: tuple[str, ...]

    def __call__(self, reply: str, doc: Document) -> str | None:
        """What the function returns."""
        return self.read(reply, doc)


def reads(*answers: str) -> Callable[[ReadReply], Declared]:
    """Say of a parser's function which answers there are to a question without options.

    >>> @reads("benign", "malignant")
    ... def read_finding(reply, doc):
    ...     return "benign" if "benign" in reply.casefold() else None
    >>> read_finding.answers
    ('benign', 'malignant')

    Raises:
        UserError: Fewer than two answers, or one twice.
    """
    folded = {str(each).strip().casefold() for each in answers}
    if len(folded) < max(2, len(answers)) or not all(folded):
        raise UserError(f"reads{answers!r}: expected two or more different answers, none of them empty.")
    return lambda read: Declared(read, tuple(answers))


def parser_of(part: Part) -> Parser:
    """The parser that a part is, its mistakes told with the file and the question.

    Raises:
        UserError: It is neither a function of two arguments nor an object with what a parser has.
    """
    value, where = part.value, f"{part.origin}: the parser {part.name!r}"
    if all(callable(getattr(value, name, None)) for name in ("read", "answers", "expected")):
        return _checked(value, where)
    if inspect.isclass(value) or not callable(value):
        raise UserError(f"{where} is no function ({type(value).__name__}). {_WANTED}")
    function = value.read if isinstance(value, Declared) else value
    check_arguments(function, ("a reply", {}), "(reply, doc)", where, _WANTED)
    possible = value.answers if isinstance(value, Declared) else ()
    about = (inspect.getdoc(function) or "").partition("\n")[0] or f"{part.name} of {part.origin}."
    answers = functools.partial(_answers, possible)
    return Parser(
        about,
        functools.partial(_read, function, answers, where),
        answers,
        functools.partial(_expected, possible),
    )


def _answers(declared: Sequence[str], doc: Document) -> tuple[str, ...]:
    return tuple(parsing.option_letters(len(doc["options"]))) if doc.get("options") else tuple(declared)


def _expected(declared: Sequence[str], doc: Document) -> str:
    """The right answer: an option's letter, else the text as it is declared, else as it stands."""
    answer = str(doc["answer"])
    if doc.get("options"):
        return answer
    return next((each for each in declared if _folded(each) == _folded(answer)), _folded(answer))


def _folded(text: str) -> str:
    return text.strip().casefold()


def _read(
    function: ReadReply, answers: Callable[[Document], tuple[str, ...]], where: str, doc: Document,
    reply: Reply | str | None,
) -> Read:  # fmt: skip
    taken = Reply.of(reply)
    if taken.outcome is not None:
        return Read(taken.outcome)
    text = taken.answer
    said = f"{where} on question {doc.get('id')!r}, reply {text[:_LONGEST]!r}"
    try:
        found = function(text, doc)
    except Exception as error:  # anyone's function may raise anything
        raise UserError(
            f"{said}: {type(error).__name__}: {error}{line_of(error)}. A reply may say anything: return None for one "
            "without an answer."
        ) from error
    if found is None:
        return Read(taken.unread)
    if not isinstance(found, str):
        raise UserError(f"{said}: returns {found!r:.40} ({type(found).__name__}). Expected a text, or None.")
    possible = answers(doc)
    folded = _folded(found)
    if not folded:
        raise UserError(f"{said}: returns an empty text. Return None for a reply without an answer.")
    if not possible:
        return Read("ok", folded)
    same = next((each for each in possible if _folded(each) == folded), None)
    if same is None:
        raise UserError(f"{said}: returns {found!r:.40}, which is no answer. Allowed: {', '.join(possible)}, or None.")
    return Read("ok", same)


def _checked(value: Any, where: str) -> Parser:
    """The parser of an object, what it gives checked at each call."""
    about = str(getattr(value, "about", "") or where.partition(": ")[2])
    return Parser(
        about,
        functools.partial(_read_of, value.read, where),
        functools.partial(_answers_of, value.answers, where),
        functools.partial(_expected_of, value.expected, where),
    )


def _call(function: Callable[..., Any], said: str, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except UserError as error:
        raise UserError(f"{said}: {error}") from error
    except Exception as error:
        raise UserError(f"{said}: {type(error).__name__}: {error}{line_of(error)}.") from error


def _read_of(read: Callable[..., Any], where: str, doc: Document, reply: Reply | str | None) -> Read:
    taken = Reply.of(reply)
    if taken.outcome is not None:
        return Read(taken.outcome)
    said = f"{where} on question {doc.get('id')!r}, reply {taken.answer[:_LONGEST]!r}"
    found = _call(read, f"{said}: read", doc, taken.answer)
    status, value = getattr(found, "status", None), getattr(found, "value", "")
    if status not in _STATUSES or not isinstance(value, str):
        raise UserError(
            f"{said}: read gives {found!r:.60}, expected Read(status, value) with a status of {', '.join(_STATUSES)} "
            "and a text."
        )
    return Read(taken.unread if status == "unreadable" else status, value, str(getattr(found, "rule", "")))


def _answers_of(answers: Callable[..., Any], where: str, doc: Document) -> tuple[str, ...]:
    said = f"{where}, answers to question {doc.get('id')!r}"
    found = _call(answers, said, doc)
    if isinstance(found, str) or not all(isinstance(each, str) and each for each in found):
        raise UserError(f"{said}: got {found!r:.60}, expected a list of texts.")
    return tuple(found)


def _expected_of(expected: Callable[..., Any], where: str, doc: Document) -> str:
    said = f"{where}, the correct answer to question {doc.get('id')!r}"
    found = _call(expected, said, doc)
    if not isinstance(found, str):
        raise UserError(f"{said}: got {found!r:.60}, expected a text.")
    return found
