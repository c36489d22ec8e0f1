"""Whether a server's replies are of the model that was asked for, by the name that each of them has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lmms_medtasks.short_texts import join_with_and
from lmms_medtasks.visible_text import replace_invisible

_DATE = re.compile(r"[-@:._]v?\d[\d.-]*|[-:@]latest")
"""The end of a name that says which state of a model: gpt-4o answers as gpt-4o-2024-08-06."""
_FILE = re.compile(r"\.(gguf|safetensors)$", re.IGNORECASE)
_MOST, _LONGEST = 4, 80


def describe_answering_model(told: Mapping[str, Any]) -> str:
    """``asked for 'a', answered as 'b'``; "" where it answered as asked, or nothing is known.

    ``told``: the metadata of a task, with the ``server`` that its run recorded.
    """
    server = told.get("server") or {}
    serves = server.get("serves") or {}
    requested_names = [
        each for each in (server.get("model"), serves.get("id"), serves.get("root")) if isinstance(each, str) and each
    ]
    known = set(map(_plain_name, requested_names))
    names = sorted(set(server.get("answers_as") or ()))
    plain = set(map(_plain_name, names))
    same = known.union(*map(_without_dates, known))
    if not known or not plain or (len(plain) == 1 and (plain <= same or _without_dates(*plain) & known)):
        return ""
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    answered = join_with_and([*map(_quote_name, names[:_MOST]), *more])
    return f"asked for {_quote_name(requested_names[0])}, answered as {answered}{' in turn' if len(names) > 1 else ''}"


def _plain_name(name: str) -> str:
    """A name without its folder or provider, and the ending of a file; letters alike."""
    return _FILE.sub("", name.rstrip("/").rpartition("/")[2]).lower()


def _without_dates(name: str) -> set[str]:
    return {name[:end] for end in range(1, len(name)) if _DATE.fullmatch(name, end)}


def _quote_name(name: str) -> str:
    return repr(replace_invisible(name)[:_LONGEST])
