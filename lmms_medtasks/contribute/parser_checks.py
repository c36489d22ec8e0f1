"""Whether a parser of someone's own copes with any reply: it never raises, says the same twice, guesses nothing.

And whether it reads an answer that is said plainly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.contribute.loaded import Loaded
from lmms_medtasks.errors import UserError
from lmms_medtasks.parsing.reply import Answer
from lmms_medtasks.suites.templates.parsers import Parser
from lmms_medtasks.task_yaml.problems import Findings

_LONG = 1_000_000
HOSTILE: Mapping[str, str | None] = {
    "no reply": None,
    "the text None": "None",
    "an empty reply": "",
    "white space": " \n\t\u00a0\u3000",
    "reasoning that was cut off": "<think>The answer",
    "a million letters": "x" * _LONG,
    "a million brackets": "(" * _LONG,
    "a line break a letter": "\n".join("answer") * 1_000,
    "other scripts": "答案是左边。 الجواب يسار 🫁 \u202eabc",
    "a null character": "a\x00b",
    "half a surrogate pair": "\ud800",
    "markup": '**<b>$\\boxed{}$</b>** {"answer": null}',
    "a number": "1e309",
    "braces": "{question} %s {0}",
}
"""Replies that a parser must cope with, by what they are."""

_EMPTY = ("no reply", "an empty reply", "white space", "reasoning that was cut off")
_SAID_NOTHING = ("I don't know.", "I cannot tell from this picture.")
_SLOW = 5.0
"""Seconds for a reply, at most."""


def forms(doc: Mapping[str, Any], answer: str, options: Sequence[str]) -> list[str]:
    """Ways in which a model may say ``answer`` plainly. ``options``: the texts of a question's, by letters."""
    said = [answer, f"{answer}.", f"The answer is {answer}."]
    place = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find(answer) if len(answer) == 1 else -1
    if 0 <= place < len(options):
        said += [f"{answer}. {options[place]}", str(options[place])]
    return said


def plain_form(parser: Parser, doc: Mapping[str, Any], answer: str) -> str:
    """The first of :func:`forms` that the parser reads as the answer; UserError where it reads none, or another one."""
    read = {said: parser.read(doc, said) for said in forms(doc, answer, doc.get("options") or ())}
    right = [said for said, each in read.items() if (each.status, each.value) == ("ok", answer)]
    if not right:
        got = ", ".join(f"{said!r} as {each.value or each.status}" for said, each in list(read.items())[:3])
        raise UserError(
            f"it does not read the answer {answer!r} where it is said plainly: {got}. It must read one of "
            f"{', '.join(map(repr, read))}"
        )
    return right[0]


def check(task: Loaded, name: str, parser: Parser, docs: Sequence[Mapping[str, Any]], found: Findings) -> bool:
    """Whether a parser copes with :data:`HOSTILE`, reads nothing out of nothing, and says the same twice."""
    before = len(found.errors)
    doc = docs[0]
    for kind, reply in HOSTILE.items():
        read = _read(task, name, parser, doc, reply, kind, found)
        if read is None:
            return False
        if kind in _EMPTY and read.status == "ok":
            _add(task, found, doc, f"the parser {name!r} finds the answer {read.value!r} in {kind}")
        if _read(task, name, parser, doc, reply, kind, found) != read:
            _add(task, found, doc, f"the parser {name!r} reads {kind} otherwise the second time: use no random numbers "
                 "and keep no state")  # fmt: skip
    for row, each in enumerate(docs):
        said = _SAID_NOTHING[row % len(_SAID_NOTHING)]
        read = _read(task, name, parser, each, said, repr(said), found)
        if read is None:
            return False
        if read.status == "ok":
            message = f"the parser {name!r} finds the answer {read.value!r} in {said!r}: it guesses"
            found.add(task.path, message, key=f"question {each['id']!r}", level="warning")
            break
    if len(found.errors) == before:
        _tell(task, name, parser, doc, found)
    return len(found.errors) == before


def _read(
    task: Loaded, name: str, parser: Parser, doc: Mapping[str, Any], reply: str | None, kind: str, found: Findings
) -> Answer | None:
    import time

    started = time.monotonic()
    what = f"the parser {name!r} fails on {kind}"
    key = f"question {doc['id']!r}"
    read: Answer | None = task.attempt(parser.read, doc, reply, what=what, found=found, key=key)
    took = time.monotonic() - started
    if read is not None and took > _SLOW:
        found.add(task.path, f"the parser {name!r} takes {took:.0f} s for {kind}", key=key)
        return None
    return read


def _tell(task: Loaded, name: str, parser: Parser, doc: Mapping[str, Any], found: Findings) -> None:
    """What it makes of a few replies, for the reader to see."""
    answer = parser.expected(doc)
    replies = [answer, f"The answer is {answer}.", _SAID_NOTHING[0]]
    said = [f"{reply!r} as {read.value or read.status}" for reply in replies for read in [parser.read(doc, reply)]]
    found.told.append(f"{task.name}: the parser {name!r} reads {', '.join(said)}")


def _add(task: Loaded, found: Findings, doc: Mapping[str, Any], message: str) -> None:
    found.add(task.path, message, key=f"question {doc['id']!r}")
