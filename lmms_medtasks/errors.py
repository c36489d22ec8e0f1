"""Errors that are the user's to mend: shown as one message, without a traceback, by the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """What was wrong, the value got, what is allowed, where, and the way out, in one message."""


class ConcurrentPreparation(UserError):
    """Another process is preparing the same data and did not finish within the time we wait."""


class DataNotFound(UserError):
    """Data that a task needs is neither prepared nor can it be prepared now."""


def unknown(kind: str, got: object, allowed: Iterable[str], where: str = "") -> UserError:
    """A :class:`UserError` for a name that is not among ``allowed``, with the nearest match if there is one.

    ``kind`` says what the name is of ("degradation"), ``where`` where it was found ("severity.yaml", "row 7").
    """
    names = sorted(allowed)
    near = difflib.get_close_matches(str(got), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    place = f" in {where}" if where else ""
    return UserError(f"Unknown {kind} {got!r}{place}.{hint} Allowed: {', '.join(names) or '(none)'}.")
