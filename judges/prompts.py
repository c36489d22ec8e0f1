"""From a protocol and an item to the text that a judge is asked, and from a protocol to the form of its verdict.

Each field stands between two lines that hold a fence: a token made of a digest of all the fields and the protocol. A
text can't close its own fence, since writing the fence into it would change the fence; and the same texts give the same
prompt, as the cache of verdicts needs. Nothing random, nothing secret.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks import fingerprints
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.escaping import escaped
from lmms_medtasks.judges.protocol import Dimension, Item, Protocol

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_FRAME, _AGAIN = "frame.txt", "again.txt"


class Rendered(NamedTuple):
    """A prompt, and the names of the fields that were too long for it."""

    text: str
    cut: tuple[str, ...]


@functools.cache
def text_of(name: str) -> str:
    """A prompt file's text without its last line break: an absolute path, or a file in ``judges/prompts``.

    Raises UserError when there is no such file, or it is no UTF-8 text.
    """
    path = Path(name)
    folder = importlib.resources.files("lmms_medtasks.judges").joinpath("prompts")
    resource = path if path.is_absolute() else folder.joinpath(name)
    if not resource.is_file():
        raise UserError(f"No judge prompt {name!r}, looked for {resource}. Give an absolute path or one in {folder}.")
    try:
        return resource.read_text("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"Judge prompt {resource}: not UTF-8 text ({error.reason} at byte {error.start:,}).") from error


def check(protocol: Protocol) -> None:
    """Raise UserError unless the places in the protocol's prompt are its fields, each at least once."""
    places = set(_PLACE.findall(text_of(protocol.prompt)))
    if places != set(protocol.fields):
        raise UserError(
            f"Judge protocol {protocol.name!r}: the prompt {protocol.prompt!r} has the places {sorted(places)}, the "
            f"protocol the fields {sorted(protocol.fields)}: they must be the same."
        )


def digest(protocol: Protocol) -> str:
    """12 hexadecimal digits that change with everything that a judge is told, the texts that it judges apart.

    And with the rule that settles answers in place of the protocol's own.
    """
    scale = [[dimension.name, dict(dimension.labels)] for dimension in protocol.dimensions]
    texts = [text_of(protocol.prompt), text_of(_FRAME), text_of(_AGAIN), json.dumps(scale, ensure_ascii=True)]
    texts += [form(protocol)] if protocol.checklist else []
    texts += [f"rule {protocol.rule}"] if protocol.rule else []
    return fingerprints.digest(*(text.encode() for text in texts), str(defaults()["longest_field"]).encode())


def render(protocol: Protocol, item: Item) -> Rendered:
    """The prompt for ``item``. Raises UserError when the item's fields are not the protocol's."""
    if set(item.fields) != set(protocol.fields):
        raise UserError(
            f"Item {item.id!r} has the fields {sorted(item.fields)}, protocol {protocol.name!r} wants "
            f"{sorted(protocol.fields)}."
        )
    fence = fence_of(protocol, item)
    shown = {name: escaped(text, fence, defaults()["longest_field"]) for name, text in item.fields.items()}
    blocks = {
        name: f"<<<{name.upper()} {fence}>>>\n{text}\n<<<END {name.upper()} {fence}>>>"
        for name, (text, _) in shown.items()
    }
    prompt = _filled(text_of(protocol.prompt), blocks)
    whole = _filled(text_of(_FRAME), {"fence": fence, "prompt": prompt, "format": form(protocol)})
    return Rendered(whole, tuple(name for name, (_, cut) in shown.items() if cut))


def again(protocol: Protocol, problem: str) -> str:
    """What a judge is told whose reply could not be read; ``problem`` may repeat words of the reply: it is escaped."""
    told = escaped(problem.replace("\n", " "), "", 300).text
    return _filled(text_of(_AGAIN), {"problem": told, "format": form(protocol)})


def fence_of(protocol: Protocol, item: Item) -> str:
    """24 hexadecimal digits: a digest of the protocol and all texts of the item."""
    content = json.dumps([protocol.name, protocol.version, sorted(item.fields.items())], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def form(protocol: Protocol) -> str:
    """The verdict's form in words: ``{"accuracy": <1, 2, 3, 4 or 5>}``. It is no verdict itself."""
    parts = [f'"{dimension.name}": <{_one_of(dimension)}>' for dimension in protocol.dimensions]
    if protocol.checklist:
        parts.append(f'"{protocol.checklist.name}": [<numbers of the points, nothing if none>]')
    return "{" + ", ".join(parts) + "}"


def schema(protocol: Protocol) -> dict[str, Any]:
    """The verdict's form as JSON schema; labels that are numbers are asked for as numbers."""
    properties = {dimension.name: _property(dimension) for dimension in protocol.dimensions}
    if protocol.checklist:
        properties[protocol.checklist.name] = {"type": "array", "items": {"type": "integer"}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _property(dimension: Dimension) -> dict[str, Any]:
    if not are_numbers(dimension):
        return {"type": "string", "enum": list(dimension.labels)}
    numbers = [json.loads(label) for label in dimension.labels]
    whole = all(isinstance(number, int) for number in numbers)
    return {"type": "integer" if whole else "number", "enum": numbers}


def are_numbers(dimension: Dimension) -> bool:
    """Whether all labels of a dimension are numbers as JSON writes them."""
    return all(re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", label, re.ASCII) for label in dimension.labels)


def _one_of(dimension: Dimension) -> str:
    quoted = [json.dumps(label, ensure_ascii=False) for label in dimension.labels]
    labels = list(dimension.labels) if are_numbers(dimension) else quoted
    return f"{', '.join(labels[:-1])} or {labels[-1]}"


def _filled(template: str, values: Mapping[str, str]) -> str:
    """One pass: what is filled in is not looked through for places."""
    return _PLACE.sub(lambda match: values[match.group(1)], template)
