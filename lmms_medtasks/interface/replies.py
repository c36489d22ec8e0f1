"""Reading answers out of replies: one, or a column of them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, overload

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.interface.columns import is_missing, to_list
from lmms_medtasks.parsing.reply import ParsedAnswer
from lmms_medtasks.suites.templates import parsers
from lmms_medtasks.suites.templates.parsers import ReplyParser

_NEEDED = {
    "option": "options",
    "letter": "options",
    "several_letters": "options",
    "any_letter": "options",
    "position": "grid",
}
"""Our parser -> the argument that it needs beside the reply."""


@overload
def parse(  # type: ignore[overload-overlap]  # a text is iterable too
    replies: str | None, parser: str = ..., *, options: Sequence[str] | None = ..., question: str = ..., grid: str = ...
) -> str | None: ...
@overload
def parse(
    replies: Iterable[str | None], parser: str = ..., *, options: Any = ..., question: Any = ..., grid: Any = ...
) -> list[str | None]: ...
def parse(
    replies: Any, parser: str = "option", *, options: Any = None, question: Any = "", grid: Any = ""
) -> str | list[str | None] | None:
    """The answer that a reply gives, None where none could be read. Nothing is guessed.

    Args:
        replies: A reply, or a column of them: a list, an array, a pandas Series. A missing value (None, NaN) is a
            request that failed.
        parser: ``option`` (the letter of one option, from a letter or a text), ``letter`` (MedQ-Deg's rule, taken
            literally), ``several_letters`` ("AC"), ``any_letter`` (as ``option``, where several are right),
            ``yes_no`` ("yes", "no"), ``position`` ("top-left", "none"), or one of your own, "oct/parts.py:NAME": it
            gets a question with these options and no other columns.
        options: The options' texts in the order shown, at most 26, for every parser of letters; also for ``position``
            where positions were offered with letters. For a column: one list for all replies, or a list for each.
        question: The question's text, for ``yes_no``: it settles what "true" and "no nodule" mean. One for all, or one
            for each reply.
        grid: The grid's size, such as "2x2", for ``position``. One for all, or one for each reply.

    Returns:
        For one reply the answer or None; for a column a list as long as it, in its order.

    Raises:
        UserError: An unknown parser; options or grid that are missing, more than 26 options, a mapping of options;
            another number of options, questions or grids than replies; a reply that is no text.

    Example:
        >>> parse("The answer is (B).", options=["cyst", "nodule"])
        'B'
        >>> parse(["B or A", "a nodule", None], options=["cyst", "nodule"])
        [None, 'B', None]
        >>> parse("No, I see none.", "yes_no", question="Is there a nodule?")
        'no'
    """
    answers = [parsed.value or None for parsed in _parse_all(replies, parser, options, question, grid)]
    return answers[0] if _is_single(replies) else answers


def count_outcomes(
    replies: Any, parser: str = "option", *, options: Any = None, question: Any = "", grid: Any = ""
) -> dict[str, int]:
    """How many replies of a column could be read ("ok"), and why the others could not, most common first.

    Takes what :func:`parse` takes. Outcomes: ``ok``; ``ambiguous`` (several answers), ``refused``, ``unreadable``,
    ``cut`` (reasoning that was cut off), ``empty``, ``failed`` (no reply).

    Raises:
        UserError: As :func:`parse`.

    Example:
        >>> count_outcomes(["B", "A or B", "", None], options=["cyst", "nodule"])
        {'ok': 1, 'ambiguous': 1, 'empty': 1, 'failed': 1}
    """
    all_parsed = _parse_all(replies, parser, options, question, grid)
    return dict(Counter(parsed.status for parsed in all_parsed).most_common())


def _is_single(replies: Any) -> bool:
    return isinstance(replies, str) or is_missing(replies)


def _parse_all(replies: Any, name: str, options: Any, question: Any, grid: Any) -> list[ParsedAnswer]:
    """The parsed answer of a reply, or of each reply of a column; ``value`` is "" unless the status is ok."""
    is_single = _is_single(replies)
    column = [replies] if is_single else to_list(replies, "replies")
    choices = [] if is_missing(options) else to_list(options, "options")
    shared = is_single or all(isinstance(choice, str) for choice in choices)
    columns = {"options": [choices] * len(column) if shared else choices}
    for label, value in (("questions", question), ("grids", grid)):
        columns[label] = [value] * len(column) if is_single or isinstance(value, str) else to_list(value, label)
    for label, values in columns.items():
        if len(values) != len(column):
            raise UserError(f"{len(values)} {label} for {len(column)} replies; give one for all, or one for each.")
    parser = _get_parser(name)
    return [
        _parse_one(name, parser, row if len(column) > 1 else None, *each)
        for row, each in enumerate(zip(column, *columns.values(), strict=True))
    ]


def _parse_one(
    name: str, parser: ReplyParser, row: int | None, reply: Any, options: Any, question: Any, grid: Any
) -> ParsedAnswer:
    """``row``: the number of a reply of several."""
    prefix = "" if row is None else f"Reply {row}: "
    if not _is_single(reply):
        raise UserError(f"{prefix}a reply must be a text, got {reply!r:.40} ({type(reply).__name__}).")
    doc = {
        "id": row or 0,
        "options": [] if is_missing(options) else list(map(str, to_list(options, "options"))),
        "question": "" if is_missing(question) else str(question),
        "grid": "" if is_missing(grid) else str(grid),
    }
    if name in _NEEDED and not doc[_NEEDED[name]]:
        example = {"options": '["cyst", "nodule"]', "grid": '"2x2"'}[_NEEDED[name]]
        raise UserError(f"{prefix}the parser {name!r} needs {_NEEDED[name]}, such as {_NEEDED[name]}={example}.")
    read = parser.read(doc, None if is_missing(reply) else reply)
    return ParsedAnswer(read.status, read.value if read.status == "ok" else "")


def _get_parser(name: str) -> ReplyParser:
    if isinstance(name, str) and (name in parsers.PARSERS or set(name) & set(".:")):
        with contextlib.suppress(KeyError):
            return parsers.get(name)
    raise unknown_name_error("parser", name, parsers.PARSERS)
