"""Reading a verdict out of a judge's reply: as it must be, or not at all. Nothing is repaired, nothing is guessed.

A verdict is the last JSON object of the reply and nothing follows it (a closing code fence apart). It has all the
dimensions of the protocol and no other key, and each value is one of the dimension's labels: the label as text, or a
number equal to it. A protocol's checklist is one more key, with a list of numbers of the item's points. What is not so
is missing, with a reason that begins with one of :data:`REASONS`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from lmms_medtasks.judges import checklists
from lmms_medtasks.judges.protocol import Dimension, Item, Protocol, Verdict
from lmms_medtasks.parsing import after_reasoning

REASONS = (
    "refused", "cut off", "empty reply", "no verdict", "text after the verdict", "broken verdict", "dimension missing",
    "dimension not asked", "label not allowed", "points not there",
)  # fmt: skip
"""What can be wrong with a reply; in a verdict's reason each is followed by ": " and what was found."""

LONGEST_REPLY = 100_000
"""Characters; a longer reply holds no verdict that we look for."""

_REFUSAL = re.compile(
    r"\s*(?:i['\u2019]?m sorry|i am sorry|sorry,|i apologi[sz]e|as an ai|(?:unfortunately, )?i "
    r"(?:cannot|can['\u2019]t|can not|am unable|am not able|won['\u2019]t|will not|must decline))",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[\s`]*\Z")


class _Invalid(ValueError):
    """Why a reply holds no verdict."""


def read(protocol: Protocol, reply: str, *, item: Item | None = None, finish: str = "", refusal: str = "") -> Verdict:
    """The verdict in ``reply``: "judged" with a label for each dimension, or "missing" with the reason.

    ``finish`` is the endpoint's word on why the reply ended ("stop", "length", "content_filter"), ``refusal`` what it
    gave in place of a reply; "" where it says nothing. ``item``: what was judged, needed where there is a checklist.
    """
    try:
        labels = _labels(protocol, item, _last_object(reply, finish, refusal))
    except _Invalid as error:
        return Verdict("missing", reason=str(error), reply=reply or refusal)
    return Verdict("judged", labels, reply=reply)


def _last_object(reply: str, finish: str, refusal: str) -> dict[str, Any]:
    if refusal or finish == "content_filter":
        raise _Invalid(f"refused: {_short(refusal or finish)}")
    if finish in ("length", "max_tokens"):
        raise _Invalid(f"cut off: the reply ended at the limit of tokens, {_short(reply[-60:])}")
    text = after_reasoning(reply)
    if text is None:
        raise _Invalid("cut off: the judge's reasoning was never closed")
    if not text.strip():
        raise _Invalid("empty reply: the judge said nothing")
    if len(text) > LONGEST_REPLY:
        raise _Invalid(f"no verdict: the reply has {len(text)} characters")
    return _object_at_end(text)


def _object_at_end(text: str) -> dict[str, Any]:
    """The JSON object that ends ``text``, the outermost one; raises :class:`_Invalid`."""
    place, found, end = 0, None, 0
    while (start := text.find("{", place)) >= 0:
        try:
            found, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            if isinstance(error, _Invalid):
                raise
            # An object that was begun and is none: if it can't be left out as prose, nothing in it counts either.
            place = _after_prose(text, start, str(error))
            continue
        place = end
    if found is None:
        kind = "refused" if _REFUSAL.match(text) else "no verdict"
        raise _Invalid(f"{kind}: {_short(text)}")
    if not _CLOSING.match(text, end):
        raise _Invalid(f"text after the verdict: {_short(text[end:])}")
    return found


def _after_prose(text: str, start: int, problem: str) -> int:
    """Where to look on after a brace that begins no JSON: behind its partner; raises where that was to be JSON."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            if '"' in text[start:place]:
                raise _Invalid(f"broken verdict: {problem}, in {_short(text[start : place + 1])}")
            return place + 1
    raise _Invalid(f"broken verdict: {problem}, in {_short(text[start:])}")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise _Invalid(f"broken verdict: {_short(key)} is given {keys.count(key)} times")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise _Invalid(f"broken verdict: {name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_twins, parse_constant=_no_constant)


def _labels(protocol: Protocol, item: Item | None, found: dict[str, Any]) -> dict[str, str]:
    names = [dimension.name for dimension in protocol.dimensions]
    names += [protocol.checklist.name] if protocol.checklist else []
    for name in found:
        if name not in names:
            raise _Invalid(f"dimension not asked: {_short(name)}, asked: {', '.join(names)}")
    for name in names:
        if name not in found:
            raise _Invalid(f"dimension missing: {name}")
    labels = {dimension.name: _label(dimension, found[dimension.name]) for dimension in protocol.dimensions}
    if protocol.checklist:
        labels[protocol.checklist.name] = _ticked(protocol.checklist, item, found[protocol.checklist.name])
    return labels


def _ticked(checklist: checklists.Checklist, item: Item | None, value: Any) -> str:
    if item is None:
        raise ValueError(f"The checklist {checklist.name!r} can't be read without the item that was judged.")
    if reason := checklists.problem(value, checklist.count(item.fields)):
        raise _Invalid(f"points not there: {checklist.name} is {_short(json.dumps(value))}, {reason}")
    return checklists.label(value)


def _label(dimension: Dimension, value: Any) -> str:
    if isinstance(value, str) and value in dimension.labels:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        for label in dimension.labels:
            if _as_number(label) == value:
                return label
    allowed = ", ".join(dimension.labels)
    raise _Invalid(f"label not allowed: {dimension.name} is {_short(json.dumps(value))}, allowed: {allowed}")


def _as_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def _short(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:117]}...")
