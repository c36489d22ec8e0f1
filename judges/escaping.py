"""Text of others made harmless for a prompt: nothing is dropped, what could act on a judge is written visibly.

The fence around a text is what holds (:mod:`lmms_medtasks.judges.prompts`); this is the second line, for judges that
read special tokens out of running text, or that fall for what looks like the end of a text or like a verdict.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# "<" as in a tag, a comment or a special token, not as in "pO2 < 60"; look-alikes of "<" and "|" count as they do.
_TAG = re.compile(r"[<\uff1c\ufe64\u2039\u27e8\u3008](?=\s*[A-Za-z/|!?<>\uff5c\uff1c\ufe64\u2039\u27e8\u3008\u2581])")
# "[INST]" and the like.
_TOKEN = re.compile(r"\[(?=/?[A-Z_]{2,}\])")
# A JSON object's beginning, or a prompt's place; look-alikes count as well.
_OBJECT = re.compile(
    r"[{\uff5b\ufe5b](?=\s*[\"'{\uff02\uff07\uff5b\ufe5b\u201c\u2018\u00ab])|(?<=[{\uff5b\ufe5b])[{\uff5b\ufe5b]"
)
# A key and its colon, as in a verdict.
_KEY = re.compile(r"[\"'\uff02\uff07\u201d\u2019\u00bb](?=\s*[:\uff1a])")
# Control and format characters (bidirectional overrides, zero width, tags), lone surrogates, private use, separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_UNUSUAL = re.compile(r"[^\n\t\x20-\x7e]")
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\u115f\u1160\u3164\uffa0]")


class Escaped(NamedTuple):
    """A text that may stand in a prompt, and how many characters of the original were left out of it."""

    text: str
    cut: int


def escaped(text: str, fence: str, limit: int) -> Escaped:
    """``text`` with everything that could act written visibly, cut to ``limit`` characters of the original.

    Letters, digits, punctuation, line breaks and tabs stay as they are, also ``<`` before a number or a blank. What is
    changed: tag-like ``<`` and ``[``, object-like ``{`` and a quote before a colon as ``&#60;``, ``&#91;``, ``&#123;``,
    ``&#34;``; control, format, private-use and invisible characters as ``\\uXXXX``; the fence's own token. A cut is
    written into the text.
    """
    cut = max(0, len(text) - limit)
    text = text[:limit].replace("\r\n", "\n")
    if fence:
        text = text.replace(fence, "[fence]")
    text = _UNUSUAL.sub(lambda match: _visible(match.group()), text)
    for pattern in (_TAG, _TOKEN, _OBJECT, _KEY):
        text = pattern.sub(lambda match: f"&#{ord(match.group())};", text)
    return Escaped(f"{text}\n[cut here: {cut} more characters are not shown]" if cut else text, cut)


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN and not _VARIATION.match(character):
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
