"""What a parser is: how an answer is read out of a reply, and what the right one is."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lmms_medtasks.parsing import Reply

Document = Mapping[str, Any]


class Read(NamedTuple):
    """``status`` is "ok" if an answer was read, which then is ``value``. ``rule``: what read it, "" if nobody says."""

    status: str
    value: str = ""
    rule: str = ""


class Parser(NamedTuple):
    """``read``: what a reply to a document says. ``answers``: all answers that there are, in these terms; () where
    nobody knows. ``expected``: the right one. ``accepts``: whether an answer is right where this is expected."""

    about: str
    read: Callable[[Document, Reply | str | None], Read]
    answers: Callable[[Document], tuple[str, ...]]
    expected: Callable[[Document], str]
    accepts: Callable[[str, str], bool] = operator.eq
