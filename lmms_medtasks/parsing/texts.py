"""The forms of a text in which words are looked for: one way to write each character, one case, no markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lmms_medtasks.errors import UserError

LONGEST_BODY = 4_000_000
"""Bytes that a completion may have for each reply in it; no more is read. A reply of so many is none that answers."""

CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKENS = re.compile(r"</?s>|<\|[\w ]{1,30}\|>|<(?:end_of_turn|eos|bos|pad|image)>", re.IGNORECASE)
_BOX = re.compile(r"<\|begin_of_(box|solution)\|>(.{0,2000}?)<\|end_of_\1\|>", re.IGNORECASE | re.DOTALL)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(s|del|strike)>[^<>]{1,200}</\1>", re.IGNORECASE)
_HTML = re.compile(
    r"<(b|i|u|em|strong|p|span|div|sub|sup|code|center|font|h\d|li)(?:\s[^<>]{0,80})?>(.{0,300}?)</\1>|<br\s?/?>",
    re.I | re.DOTALL,
)
_LATEX = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|rm|bf)\s{0,8}\{([^{}]{0,500})\}")
_LATEX_MATH = re.compile(r"\\[\[\]()]")
_BARE_POINT = re.compile(r"(?<![^\s(\[{\"'=<>≤≥±+-])\.(?=\d)")
_SPREAD = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff]) (?=[\u3040-\u30ff\u3400-\u9fff])")  # "正 确 答 案"
_CJK_EDGE = re.compile(rf"(?<=[{CJK}])(?=[A-Za-z0-9(])|(?<=[A-Za-z0-9)])(?=[{CJK}])")
_SAME_MARKS = str.maketrans(
    {
        **dict.fromkeys("「」『』«»„“”‟", '"'),
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        **{"。": ". ", "、": ",", "【": "[", "】": "]", "،": ",", "؛": ";", "؟": "?"},
    }
)
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63]")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-/\u2010-\u2013](?=[^\W\d_])")  # between letters only: "1-2" is not "1 2"
_PREFIX = re.compile(
    r"(?<!\w)(?:(non|not)[\s-]+|(pre|post|anti|sub|supra|infra|intra|extra|inter|trans|un|hyper|hypo|micro|macro|peri|para|"
    r"pseudo|semi|bi|uni|poly|mono|ante|retro|dis|in|re|co)-)(?=[^\W\d_])"
)
_GENUS = re.compile(r"(?<![^\W_])([a-z])\.\s?(?=[a-z]{3})")  # "E. coli": no sentence ends there
SIZE = re.compile(r"(?<=\d)\s?[x×*]\s?(?=\d)", re.IGNORECASE)
"""The sign of a size: "2 × 3 cm"."""
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['\u2019]s\b")  # "Crohn's disease" is also written without it
_MARKUP = re.compile(r"[*`_$\\#>]+")
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "λ": "lambda", "μ": "u", "µ": "u"}
_SPELLING = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?<=[^\W\d_])(?:ae|oe)|(?:ae|oe)(?=[^\W\d_]{3})", "e"),
        (r"(?<=[^\W\d_]{3})our\b", "or"),
        (r"(?<=[cbt])re\b", "er"),
        (r"isation", "ization"),
        (r"\bgrey", "gray"),
        (r"sulph", "sulf"),
    )
)

_CIRCLED = re.compile(r"[①-⑳](?=\s*(?:$|[.,;:。，、；)）]|[①-⑳]|和|与|and\b|y\b|et\b|und\b))")


def normalise_characters(text: str) -> str:
    """``text`` with one form of each character (NFKC), without struck-out words, tokens and LaTeX's commands for fonts.

    ".5" becomes "0.5". A space is put between Chinese, Japanese or Korean characters and Latin letters or digits, so
    that the letter of "答案是B" stands alone. What a model put into a box of its own becomes ``<answer>...</answer>``.
    """
    text = _STRUCK.sub(" ", _BOX.sub(r"<answer>\2</answer>", text))
    if "</" in text or "<br" in text:
        for _ in range(3):  # one within the other
            text = _HTML.sub(lambda match: match[2] or "\n", text)
    text = unicodedata.normalize("NFKC", _TOKENS.sub(" ", text)).translate(_SAME_MARKS)
    text = _BARE_POINT.sub("0.", _LATEX_MATH.sub(" ", _LATEX.sub(r"\1", text)))
    return _CJK_EDGE.sub(" ", _SPREAD.sub("", text))


def to_plain_text(text: str) -> str:
    """``text`` in lower case, with one kind of dash, quotation mark and "center", without markup; lines stay."""
    text = _DASHES.sub("-", text)
    text = re.sub("[\u2018\u2019\u02bc]", "'", re.sub("[\u201c\u201d]", '"', text))
    text = re.sub(r"[*`#\\]", "", text).replace("_", " ").casefold()
    text = re.sub(r"\bcent(?:re|ral|er)\b", "center", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def fold_text(text: str) -> str:
    """``text`` in one case and spelling, with single blanks (lines stay), without markup, hyphens and slashes in words.

    "PET/CT" is "pet ct", "β-thalassaemia" "beta thalassemia". A prefix stays part of its word: "non-displaced" is
    "nondisplaced", so that it is not found to say "displaced". Signs of numbers stay.
    """
    text = "".join(_GREEK.get(character, character) for character in _DASHES.sub("-", text.casefold()))
    text = _PREFIX.sub(lambda match: (match[1] or match[2]).replace("not", "not "), text)
    text = _GENUS.sub(r"\1.", _POSSESSIVE.sub("", text))
    text = _MARKUP.sub(" ", _HYPHEN.sub(" ", SIZE.sub("x", text)))
    for pattern, new in _SPELLING:
        text = pattern.sub(new, text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def without_accents(text: str) -> str:
    """``text`` with its Latin letters' accents left out, character by character, so that places stay the same."""
    return "".join(
        unicodedata.normalize("NFD", character)[0] if "\u00c0" <= character <= "\u024f" else character
        for character in text
    )


def replace_half_characters(text: str) -> str:
    """A text that can be sent and stored: JSON may hold halves of characters (U+FFFD here), which no file takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def option_letters(count: int) -> str:
    """The letters of ``count`` options: "ABCD" for 4. Raises UserError outside 1 to 26."""
    if not 1 <= count <= 26:
        raise UserError(f"A question can have 1 to 26 options, got {count}.")
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count]


def circled_as_letters(text: str, options: Sequence[str]) -> str:
    """A text with "C" in place of "③" where that stands for an option, and heads no item of a list."""
    letters = option_letters(len(options))
    if any(_CIRCLED.search(option) for option in options):
        return text
    return _CIRCLED.sub(lambda match: letters[ord(match[0]) - 0x2460 : ord(match[0]) - 0x245F] or match[0], text)


def describe_too_long_reply(text: str) -> str:
    return f"The reply has {len(text):,} characters, more than {LONGEST_BODY:,}."
