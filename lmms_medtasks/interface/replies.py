"""Reading answers out of replies: one, or a column of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, overload

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.interface.columns import is_missing, listed
from lmms_medtasks.suites.templates import parsers
from lmms_medtasks.suites.templates.parsers import Parser, Read

_NEEDED = {"option": "options", "letter": "options", "several_letters": "options", "position": "grid"}
"""What a parser of ours must be told beside the reply."""


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
        options: The options' texts in the order shown, for ``option``, ``letter`` and ``several_letters``; also for
            ``position`` where positions were offered with letters. For a column: one list for all replies, or a list
            for each.
        question: The question's text, for ``yes_no``: it settles what "true" and "no nodule" mean. One for all, or one
            for each reply.
        grid: The grid's size, such as "2x2", for ``position``. One for all, or one for each reply.

    Returns:
        For one reply the answer or None; for a column a list as long as it, in its order.

    Raises:
        UserError: An unknown parser, options or grid that are missing, another number of options, questions or grids
            than replies, a reply that is no text.

    Example:
        >>> parse("The answer is (B).", options=["cyst", "nodule"])
        'B'
        >>> parse(["B or A", "a nodule", None], options=["cyst", "nodule"])
        [None, 'B', None]
        >>> parse("No, I see none.", "yes_no", question="Is there a nodule?")
        'no'
    """
    if isinstance(replies, str) or is_missing(replies):
        return _read_all([replies], parser, [options], [question], [grid])[0].value or None
    return [each.value or None for each in _column(replies, parser, options, question, grid)]


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
    column = [replies] if isinstance(replies, str) or is_missing(replies) else replies
    own = [options] if column is not replies else options
    return dict(Counter(each.status for each in _column(column, parser, own, question, grid)).most_common())


def _column(replies: Any, parser: str, options: Any, question: Any, grid: Any) -> list[Read]:
    column = listed(replies, "replies")
    count = len(column)
    choices = None if is_missing(options) else listed(options, "options")
    shared = choices is None or all(isinstance(each, str) for each in choices)
    each_options = [choices] * count if shared else _as_many("options", choices, count)
    texts = [_as_many(name, [value] * count if isinstance(value, str) else listed(value, name), count)
             for name, value in (("questions", question), ("grids", grid))]  # fmt: skip
    return _read_all(column, parser, each_options, *texts)


def _as_many(name: str, values: Any, count: int) -> list[Any]:
    if len(values) != count:
        raise UserError(f"{len(values)} {name} for {count} replies; give one for all, or one for each.")
    return list(values)


def _read_all(
    replies: Sequence[Any], name: str, options: Sequence[Any], questions: Sequence[Any], grids: Sequence[Any]
) -> list[Read]:
    parser = _parser(name)
    found = []
    for row, (reply, choices, question, grid) in enumerate(zip(replies, options, questions, grids, strict=True)):
        where = f"Reply {row}: " if len(replies) > 1 else ""
        if not isinstance(reply, str) and not is_missing(reply):
            raise UserError(f"{where}a reply must be a text, got {reply!r:.40} ({type(reply).__name__}).")
        doc = {
            "id": row,
            "options": [] if is_missing(choices) else [str(each) for each in listed(choices, "options")],
            "question": "" if is_missing(question) else str(question),
            "grid": "" if is_missing(grid) else str(grid),
        }
        if name in _NEEDED and not doc[_NEEDED[name]]:
            example = {"options": '["cyst", "nodule"]', "grid": '"2x2"'}[_NEEDED[name]]
            raise UserError(f"{where}the parser {name!r} needs {_NEEDED[name]}, such as {_NEEDED[name]}={example}.")
        read = parser.read(doc, None if is_missing(reply) else reply)
        found.append(Read(read.status, read.value if read.status == "ok" else ""))
    return found


def _parser(name: str) -> Parser:
    """The parser of this name: the one place where it is looked up."""
    if not isinstance(name, str) or (name not in parsers.PARSERS and not set(name) & set(".:")):
        raise unknown("parser", name, parsers.PARSERS)
    try:
        return parsers.get(name)
    except KeyError:
        raise unknown("parser", name, parsers.PARSERS) from None
