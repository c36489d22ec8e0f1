"""Errors that the user can fix: the command line shows one message without a traceback."""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(ValueError):
    """What was wrong, the value got, what is allowed, where, and the way out, in one message."""


class ConcurrentPreparation(UserError):
    """Another process is preparing the same data and did not finish within the time we wait."""


class DataNotFound(UserError):
    """Data that a task needs is neither prepared nor can it be prepared now."""


class UnwritableFile(UserError, OSError):
    """A file that could not be written; no part of it exists."""


MOST_NAMES = 30  # Allowed names that a message lists; of more it lists the nearest
_NEAREST = 6


def check_count(value: object, what: str) -> None:
    """Raise UserError unless ``value`` is a whole number, 0 or more."""
    if type(value) is not int or value < 0:
        raise UserError(f"{what} must be a whole number, 0 or more, got {value!r:.80}.")


def unknown_name_error(
    kind: str, got: object, allowed: Iterable[str], where: str = "", listed_by: str = ""
) -> UserError:
    """Make the :class:`UserError` for a name that is not in ``allowed``, with the nearest match if there is one.

    ``kind``: what the name is of ("degradation"). ``where``: its location ("severity.yaml", "row 7"). ``listed_by``: a
    command that lists all names; then of more than :data:`MOST_NAMES` names only those nearest to ``got`` are listed.
    """
    names = sorted(allowed)
    hint = nearest_match(got, names)
    location = f" in {where}" if where else ""
    sentence = f"Unknown {kind} {got!r}{location}.{hint}"
    if not listed_by or len(names) <= MOST_NAMES:
        return UserError(f"{sentence} Allowed: {', '.join(names) or '(none)'}.")
    near = difflib.get_close_matches(str(got), names, n=_NEAREST, cutoff=0.0)
    return UserError(f"{sentence} Nearest of {len(names)}: {', '.join(near)}. All of them: {listed_by}")


def nearest_match(got: object, names: Iterable[str]) -> str:
    """ " Did you mean NAME?" for the name most similar to ``got``; "" if none is similar."""
    near = nearest_name(got, names)
    return f" Did you mean {near!r}?" if near else ""


def nearest_path(path: Path) -> str:
    """ " Did you mean PATH?" for the most similar name beside a missing path; "" if none is similar."""
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    near = nearest_name(path.name, [entry.name for entry in beside], likeness=0.6)
    return f" Did you mean {str(path.parent / near)!r}?" if near else ""


def nearest_name(got: object, names: Iterable[str], likeness: float = 0.5) -> str:
    """The name most similar to ``got``; "" if none is similar. ``likeness``: least ratio of SequenceMatcher, 0 to 1."""
    matches = difflib.get_close_matches(str(got), sorted(names), n=1, cutoff=likeness)
    return matches[0] if matches else ""


@contextmanager
def user_errors(*, every_rank: bool = False) -> Iterator[None]:
    """Under the harness's command line, end with the message of a :class:`UserError` and status 2.

    The harness would print a traceback, retry for seconds, and exit with status 0. As a library (``simple_evaluate``)
    the error is raised as it is. Of several processes only the first one prints it, with ``every_rank`` each: a fault
    while a model answers may occur in one of them only.
    """
    try:
        yield
    except UserError as error:
        if not is_command_line():
            raise
        if every_rank or os.environ.get("RANK", "0") == "0":
            print(f"lmms-medtasks: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def is_command_line() -> bool:
    """Whether this process is the harness's command, not a program that uses it as a library."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return "lmms_eval.__main__" in sys.modules or getattr(spec, "name", "") == "lmms_eval.__main__"


def line_of(error: BaseException) -> str:
    """The line of custom code that raised an error: ``, parts.py line 7``; "" if unknown."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return f", {Path(frames[0].filename).name} line {frames[0].lineno}" if frames else ""


def line_in_file(error: BaseException, file: Path | str | None) -> int | None:
    """The line of ``file`` that was executed last when an error was raised; None if the error was raised elsewhere."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None)
