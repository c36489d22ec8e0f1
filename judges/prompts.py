"""From a protocol and an item to the prompt of a judge, and from a protocol to the form of its verdict.

What is the same for all items of a protocol comes first, for a server's prefix cache: frame, rules, form of the reply.
A prompt file's rules end before the paragraph with its first place.

Each field stands between two lines with a fence: a digest of all the fields and the protocol. A text can't close its
own fence, since writing the fence into it would change the fence; and the same texts give the same prompt, as the cache
of verdicts needs.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lmms_medtasks import digests, prompt_files
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import verdicts
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, Mode, ScoreDimension
from lmms_medtasks.judges.settings import default_settings

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_FRAME, _AGAIN, _PROBE = "frame.txt", "again.txt", "probe.txt"
_REPLY: Mapping[Mode, str] = {"schema": "reply_schema.txt", "free": "reply_free.txt"}


class RenderedPrompt(NamedTuple):
    """A prompt, and the names of the fields that were too long for it."""

    text: str
    cut: tuple[str, ...]


def read_prompt_file(name: str) -> str:
    """A judge prompt's text (:func:`lmms_medtasks.prompt_files.read_prompt_file`): a path, or a file in our folder."""
    return prompt_files.read_prompt_file(name, "lmms_medtasks.judges", "judge prompt", "prompts")


def prompt_template(protocol: JudgeProtocol) -> str:
    """The text of the protocol's prompt, with the meanings of the labels filled in."""
    text = read_prompt_file(protocol.prompt)
    return text.replace("{{scale}}", protocol.scale) if protocol.scale else text


def check_prompt_fields(protocol: JudgeProtocol) -> None:
    """Raise UserError unless the places in the protocol's prompt are exactly its fields."""
    places = set(_PLACE.findall(prompt_template(protocol)))
    if places != set(protocol.fields):
        raise UserError(
            f"Judge protocol {protocol.name!r}: the prompt {protocol.prompt!r} has the places {sorted(places)}, the "
            f"protocol the fields {sorted(protocol.fields)}: they must be the same."
        )


def prompt_digest(protocol: JudgeProtocol) -> str:
    """Digest (12 hex digits) of everything in the prompt except the judged texts, and of a replaced ``settle`` rule."""
    files = (_FRAME, _AGAIN, *_REPLY.values())
    scale = [[dimension.name, dict(dimension.labels)] for dimension in protocol.dimensions]
    texts = [
        prompt_template(protocol),
        *map(read_prompt_file, files),
        *(describe_verdict_form(protocol, mode) for mode in _REPLY),
        json.dumps(scale, ensure_ascii=True),
    ]
    texts += [
        json.dumps(verdicts.make_verdict_schema(protocol), ensure_ascii=True),
        str(default_settings()["longest_field"]),
    ]
    texts += [f"rule {protocol.rule}"] if protocol.rule else []
    return digests.content_digest(*(text.encode() for text in texts))


def render_prompt(protocol: JudgeProtocol, item: JudgedItem, mode: Mode | None = None) -> RenderedPrompt:
    """The prompt for ``item`` in ``mode`` (default: the protocol's). UserError if it has other fields."""
    if set(item.fields) != set(protocol.fields):
        raise UserError(
            f"Item {item.id!r} has the fields {sorted(item.fields)}, protocol {protocol.name!r} wants "
            f"{sorted(protocol.fields)}."
        )
    mode = mode or protocol.reply
    fence, keys = make_fence(protocol, item), _verdict_keys(protocol, mode)
    shown = {
        name: escape_judged_text(text, fence, default_settings()["longest_field"], keys)
        for name, text in item.fields.items()
    }
    blocks = {
        name: f"<<<{name.upper()} {fence}>>>\n{text}\n<<<END {name.upper()} {fence}>>>"
        for name, (text, _) in shown.items()
    }
    rules, texts = _split_prompt(prompt_template(protocol))
    values = {
        "rules": rules,
        "reply": read_prompt_file(_REPLY[mode]),
        "format": describe_verdict_form(protocol, mode),
        "fence": fence,
    }
    whole = _fill_places(read_prompt_file(_FRAME), {**values, "texts": _fill_places(texts, blocks)})
    return RenderedPrompt(whole, tuple(name for name, (_, cut) in shown.items() if cut))


def _split_prompt(template: str) -> tuple[str, str]:
    """A prompt file's text before the paragraph with the first place, and from there on."""
    first = _PLACE.search(template)
    end = template.rfind("\n\n", 0, first.start()) if first else len(template)
    return (template[:end], template[end:].lstrip("\n")) if end >= 0 else ("", template)


def render_repeated_prompt(protocol: JudgeProtocol, problem: str, mode: Mode | None = None) -> str:
    """The second request after an unreadable reply. ``problem`` may repeat words of the reply: it is escaped."""
    mode = mode or protocol.reply
    escaped_problem = escape_judged_text(problem.replace("\n", " "), "", 300, _verdict_keys(protocol, mode)).text
    return _fill_places(
        read_prompt_file(_AGAIN), {"problem": escaped_problem, "format": describe_verdict_form(protocol, mode)}
    )


def render_probe(protocol: JudgeProtocol) -> str:
    """The request sent before the first question, to learn whether the server replies by schema."""
    return _fill_places(read_prompt_file(_PROBE), {"format": describe_verdict_form(protocol, "schema")})


def make_fence(protocol: JudgeProtocol, item: JudgedItem) -> str:
    content = json.dumps([protocol.name, protocol.version, sorted(item.fields.items())], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def describe_verdict_form(protocol: JudgeProtocol, mode: Mode | None = None) -> str:
    """The verdict's form in words: ``{"accuracy": <1, 2, 3, 4 or 5>}``. It is no verdict itself."""
    allowed = {dimension.name: f"<{_one_of(dimension)}>" for dimension in protocol.dimensions}
    if protocol.checklist:
        allowed[protocol.checklist.name] = "[<numbers of the points, nothing if none>]"
    allowed[verdicts.EXPLANATION] = "<a text>"
    return "{" + ", ".join(f'"{name}": {allowed[name]}' for name in _verdict_keys(protocol, mode)) + "}"


def _verdict_keys(protocol: JudgeProtocol, mode: Mode | None) -> list[str]:
    return [str(field.alias) for field in verdicts.make_verdict_model(protocol, mode).model_fields.values()]


def _one_of(dimension: ScoreDimension) -> str:
    quoted = [json.dumps(label, ensure_ascii=False) for label in dimension.labels]
    labels = list(dimension.labels) if dimension.is_numeric else quoted
    return f"{', '.join(labels[:-1])} or {labels[-1]}"


def _fill_places(template: str, values: Mapping[str, str]) -> str:
    """One pass: what is filled in is not looked through for places."""
    return _PLACE.sub(lambda match: values[match.group(1)], template)


_LESS = "[<\uff1c\ufe64\u2039\u27e8\u3008]"  # with its look-alikes
_TAG = r"[A-Za-z][\w.:-]*(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?[>\uff1e]"
_TOKEN = r"(?:\w+_\w+|s|bos|eos|pad|unk|think|answer|system|user|assistant)[>\uff1e]"
_PATTERNS = tuple(
    map(
        re.compile,
        (
            # A closing tag, a comment, "<|end|>", the last but one of several: no comparison has these.
            rf"{_LESS}(?=\s*/\s*[A-Za-z!]|!--|[!?][A-Za-z\[]|[|\uff5c\u2581]|{_LESS}(?:[A-Za-z/]|{_LESS}))",
            # An opening tag, where it is no comparison ("T1<T2>T3"); a token of chat templates anywhere.
            rf"(?<![\w)\]]){_LESS}(?={_TAG})|{_LESS}(?={_TOKEN})",
            # "[INST]", "[/INST]", "[TOOL_CALLS]" and the like; not "[MRI]".
            r"\[(?=/[A-Z_]{2,}\]|(?:INST|IMG|THINK|[A-Z]+_[A-Z_]+)\])",
            # A JSON object's beginning, a prompt's place.
            r"[{\uff5b\ufe5b](?=\s*[\"'\uff02\uff07\u201c\u2018\u00ab])"
            r"|[{\uff5b\ufe5b](?=[{\uff5b\ufe5b]\w+[}\uff5d\ufe5e]{2})|(?<=[{\uff5b\ufe5b])[{\uff5b\ufe5b](?=\w+[}\uff5d\ufe5e]{2})",
        ),
    )
)
_QUOTE = "[\"'\uff02\uff07\u201d\u2019\u00bb]"
# Control and format characters (bidirectional overrides, zero width, tags), lone surrogates, private use, separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_UNUSUAL = re.compile(r"[^\n\t\x20-\x7e]")
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\u115f\u1160\u3164\uffa0]")


class EscapedText(NamedTuple):
    """A text that may stand in a prompt, and how many characters of the original were cut."""

    text: str
    cut: int


def escape_judged_text(text: str, fence: str, limit: int, keys: Iterable[str] = ()) -> EscapedText:
    """``text`` with everything that could act written visibly, cut to ``limit`` characters of the original.

    Letters, digits, punctuation, line breaks, tabs and comparisons stay. Changed are: the ``<`` of tags and special
    tokens, ``[`` of such tokens, ``{`` of JSON objects and of a prompt's places, and the quote between one of ``keys``
    (those of a verdict) and a colon, as ``&#60;`` and so on; control, format, private-use and invisible characters as
    ``\\uXXXX``; the fence's own token. A cut is written into the text.
    """
    cut = max(0, len(text) - limit)
    text = text[:limit].replace("\r\n", "\n")
    if fence:
        text = text.replace(fence, "[fence]")
    text = _UNUSUAL.sub(lambda match: _visible_form(match.group()), text)
    for pattern in _PATTERNS:
        text = pattern.sub(lambda match: f"&#{ord(match.group())};", text)
    if names := "|".join(map(re.escape, keys)):
        key = re.compile(rf"({names})({_QUOTE})(?=\s*[:\uff1a])", re.IGNORECASE)
        text = key.sub(lambda match: f"{match[1]}&#{ord(match[2])};", text)
    return EscapedText(f"{text}\n[cut here: {cut} more characters are not shown]" if cut else text, cut)


def _visible_form(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN and not _VARIATION.match(character):
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def label_anchors(protocol: JudgeProtocol) -> dict[str, dict[str, str]]:
    """Dimension -> label -> its anchor: the prompt's line ``LABEL - anchor`` or ``LABEL: anchor``.

    Of several dimensions, each one's lines follow a line that begins with its name. A dimension without exactly one
    line for each label is left out.
    """
    lines = read_prompt_file(protocol.prompt).splitlines()
    names = [dimension.name for dimension in protocol.dimensions]
    sections: dict[str, list[str]] = {name: [] for name in names}
    current = names[0] if len(names) == 1 else None
    for line in lines:
        current = next((name for name in names if re.match(rf"{re.escape(name)}\b", line)), current)
        if current:
            sections[current].append(line)
    anchors_by_name = {
        dimension.name: _section_anchors(dimension, sections[dimension.name]) for dimension in protocol.dimensions
    }
    return {name: anchors for name, anchors in anchors_by_name.items() if anchors}


def _section_anchors(dimension: ScoreDimension, lines: list[str]) -> dict[str, str] | None:
    anchors_by_label: dict[str, list[str]] = {label: [] for label in dimension.labels}
    for line in lines:
        for label in dimension.labels:
            if match := re.match(rf"{re.escape(label)}\s*[-:\u2013]\s+(?P<anchor>\S.*)", line):
                anchors_by_label[label].append(match["anchor"])
    if any(len(anchors) != 1 for anchors in anchors_by_label.values()):
        return None
    return {label: anchors[0] for label, anchors in anchors_by_label.items()}
