"""From a protocol and an item to the text that a judge is asked, and from a protocol to the form of its verdict.

What is the same for all items of a protocol stands first, so that a server's prefix cache has it: the frame, the rules,
the form of the reply. A prompt file's rules are what stands before the paragraph with its first place; from there on it
is different with each item.

Each field stands between two lines that hold a fence: a token made of a digest of all the fields and the protocol, told
where the fixed part ends. A text can't close its own fence, since writing the fence into it would change the fence; and
the same texts give the same prompt, as the cache of verdicts needs. Nothing random, nothing secret.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lmms_medtasks import digests
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import verdicts
from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.escaping import escaped
from lmms_medtasks.judges.protocol import Dimension, Item, Mode, Protocol

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_FRAME, _AGAIN, _PROBE = "frame.txt", "again.txt", "probe.txt"
_REPLY: Mapping[Mode, str] = {"schema": "reply_schema.txt", "free": "reply_free.txt"}


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


def told_of(protocol: Protocol) -> str:
    """The text of the protocol's prompt, with the meanings of the labels where it has a place for them."""
    text = text_of(protocol.prompt)
    return text.replace("{{scale}}", protocol.scale) if protocol.scale else text


def check(protocol: Protocol) -> None:
    """Raise UserError unless the places in the protocol's prompt are its fields, each at least once."""
    places = set(_PLACE.findall(told_of(protocol)))
    if places != set(protocol.fields):
        raise UserError(
            f"Judge protocol {protocol.name!r}: the prompt {protocol.prompt!r} has the places {sorted(places)}, the "
            f"protocol the fields {sorted(protocol.fields)}: they must be the same."
        )


def digest(protocol: Protocol) -> str:
    """12 hexadecimal digits that change with everything that a judge is told, the texts that it judges apart.

    And with the rule that settles answers in place of the protocol's own.
    """
    files = (_FRAME, _AGAIN, *_REPLY.values())
    scale = [[dimension.name, dict(dimension.labels)] for dimension in protocol.dimensions]
    told = [
        told_of(protocol),
        *map(text_of, files),
        *(form(protocol, mode) for mode in _REPLY),
        json.dumps(scale, ensure_ascii=True),
    ]
    told += [json.dumps(verdicts.schema(protocol), ensure_ascii=True), str(defaults()["longest_field"])]
    told += [f"rule {protocol.rule}"] if protocol.rule else []
    return digests.digest(*(text.encode() for text in told))


def render(protocol: Protocol, item: Item, mode: Mode | None = None) -> Rendered:
    """The prompt for ``item``, asked in ``mode``, the protocol's own if None.

    Raises UserError when the item's fields are not the protocol's.
    """
    if set(item.fields) != set(protocol.fields):
        raise UserError(
            f"Item {item.id!r} has the fields {sorted(item.fields)}, protocol {protocol.name!r} wants "
            f"{sorted(protocol.fields)}."
        )
    mode = mode or protocol.reply
    fence, keys = fence_of(protocol, item), _keys(protocol, mode)
    shown = {name: escaped(text, fence, defaults()["longest_field"], keys) for name, text in item.fields.items()}
    blocks = {
        name: f"<<<{name.upper()} {fence}>>>\n{text}\n<<<END {name.upper()} {fence}>>>"
        for name, (text, _) in shown.items()
    }
    rules, texts = _parts(told_of(protocol))
    told = {"rules": rules, "reply": text_of(_REPLY[mode]), "format": form(protocol, mode), "fence": fence}
    whole = _filled(text_of(_FRAME), {**told, "texts": _filled(texts, blocks)})
    return Rendered(whole, tuple(name for name, (_, cut) in shown.items() if cut))


def _parts(template: str) -> tuple[str, str]:
    """A prompt file's text before the paragraph with the first place, and from there on."""
    first = _PLACE.search(template)
    end = template.rfind("\n\n", 0, first.start()) if first else len(template)
    return (template[:end], template[end:].lstrip("\n")) if end >= 0 else ("", template)


def again(protocol: Protocol, problem: str, mode: Mode | None = None) -> str:
    """What a judge is told whose reply could not be read; ``problem`` may repeat words of the reply: it is escaped."""
    mode = mode or protocol.reply
    told = escaped(problem.replace("\n", " "), "", 300, _keys(protocol, mode)).text
    return _filled(text_of(_AGAIN), {"problem": told, "format": form(protocol, mode)})


def probe(protocol: Protocol) -> str:
    """What is asked before the first question, to learn whether the server replies by schema."""
    return _filled(text_of(_PROBE), {"format": form(protocol, "schema")})


def fence_of(protocol: Protocol, item: Item) -> str:
    """24 hexadecimal digits: a digest of the protocol and all texts of the item."""
    content = json.dumps([protocol.name, protocol.version, sorted(item.fields.items())], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def form(protocol: Protocol, mode: Mode | None = None) -> str:
    """The verdict's form in words: ``{"accuracy": <1, 2, 3, 4 or 5>}``. It is no verdict itself."""
    allowed = {dimension.name: f"<{_one_of(dimension)}>" for dimension in protocol.dimensions}
    if protocol.checklist:
        allowed[protocol.checklist.name] = "[<numbers of the points, nothing if none>]"
    allowed[verdicts.EXPLANATION] = "<a text>"
    return "{" + ", ".join(f'"{name}": {allowed[name]}' for name in _keys(protocol, mode)) + "}"


def _keys(protocol: Protocol, mode: Mode | None) -> list[str]:
    """The keys of a verdict, in its order."""
    return [str(field.alias) for field in verdicts.model_of(protocol, mode).model_fields.values()]


def _one_of(dimension: Dimension) -> str:
    quoted = [json.dumps(label, ensure_ascii=False) for label in dimension.labels]
    labels = list(dimension.labels) if dimension.is_numeric else quoted
    return f"{', '.join(labels[:-1])} or {labels[-1]}"


def _filled(template: str, values: Mapping[str, str]) -> str:
    """One pass: what is filled in is not looked through for places."""
    return _PLACE.sub(lambda match: values[match.group(1)], template)
