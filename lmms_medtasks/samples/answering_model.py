"""Whether a server's replies are of the model that was asked for, by the name that each of them has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lmms_medtasks.short_texts import join_with_and
from lmms_medtasks.visible_text import replace_invisible

_DATE = re.compile(r"[-@:._]v?\d[\d.-]*|[-:@]latest")
"""The end of a name that gives the version of a model: gpt-4o answers as gpt-4o-2024-08-06."""
_FILE = re.compile(r"\.(gguf|safetensors)$", re.IGNORECASE)
_MOST, _LONGEST = 4, 80


def describe_answering_model(told: Mapping[str, Any]) -> str:
    """``asked for 'a', answered as 'b'``; "" if the model answered as asked, or nothing is known.

    ``told``: the metadata of a task, with the ``server`` that its run recorded.
    """
    server = told.get("server") or {}
    serves = server.get("serves") or {}
    requested_names = [
        name for name in (server.get("model"), serves.get("id"), serves.get("root")) if isinstance(name, str) and name
    ]
    requested = set(map(_plain_name, requested_names))
    names = sorted(set(server.get("answers_as") or ()))
    answering = set(map(_plain_name, names))
    same = requested.union(*map(_without_dates, requested))
    if (
        not requested
        or not answering
        or (len(answering) == 1 and (answering <= same or _without_dates(*answering) & requested))
    ):
        return ""
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    answered = join_with_and([*map(_quote_name, names[:_MOST]), *more])
    return f"asked for {_quote_name(requested_names[0])}, answered as {answered}{' in turn' if len(names) > 1 else ''}"


def _plain_name(name: str) -> str:
    """A name in lower case without its folder or provider and without the ending of a file."""
    return _FILE.sub("", name.rstrip("/").rpartition("/")[2]).lower()


def _without_dates(name: str) -> set[str]:
    return {name[:end] for end in range(1, len(name)) if _DATE.fullmatch(name, end)}


def _quote_name(name: str) -> str:
    return repr(replace_invisible(name)[:_LONGEST])
