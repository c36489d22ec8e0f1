"""Text of others made harmless for a prompt: nothing is dropped, what could act on a judge is written visibly.

The fence around a text is what holds (:mod:`lmms_medtasks.judges.prompts`); this is the second line, for judges that
read special tokens out of running text, or that fall for what looks like the end of a text or like a verdict. What
medical texts hold stays as it is: ``T1<T2``, ``[CT]``, ``"halo sign": seen``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

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


class Escaped(NamedTuple):
    """A text that may stand in a prompt, and how many characters of the original were left out of it."""

    text: str
    cut: int


def escaped(text: str, fence: str, limit: int, keys: Iterable[str] = ()) -> Escaped:
    """``text`` with everything that could act written visibly, cut to ``limit`` characters of the original.

    Letters, digits, punctuation, line breaks and tabs stay as they are, comparisons too. What is changed: the ``<`` of
    tags and special tokens, ``[`` of such tokens, ``{`` of JSON objects and of a prompt's places, and the quote between
    one of ``keys`` (those of a verdict) and a colon, as ``&#60;``, ``&#91;``, ``&#123;``, ``&#34;``; control, format,
    private-use and invisible characters as ``\\uXXXX``; the fence's own token. A cut is written into the text.
    """
    cut = max(0, len(text) - limit)
    text = text[:limit].replace("\r\n", "\n")
    if fence:
        text = text.replace(fence, "[fence]")
    text = _UNUSUAL.sub(lambda match: _visible(match.group()), text)
    for pattern in _PATTERNS:
        text = pattern.sub(lambda match: f"&#{ord(match.group())};", text)
    if names := "|".join(map(re.escape, keys)):
        key = re.compile(rf"({names})({_QUOTE})(?=\s*[:\uff1a])", re.IGNORECASE)
        text = key.sub(lambda match: f"{match[1]}&#{ord(match[2])};", text)
    return Escaped(f"{text}\n[cut here: {cut} more characters are not shown]" if cut else text, cut)


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN and not _VARIATION.match(character):
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
