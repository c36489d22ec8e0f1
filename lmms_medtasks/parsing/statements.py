"""Where a reply states an answer: one list, in the text's order, for all readers.

A statement is a place where something is said to be the answer: a wrapper (a box, a tag, a value of JSON), words that
announce it ("the answer is", "I choose", "so,"), a correction ("no, C"), or a last line of its own. What is said there
each reader makes out for itself. Between statements place decides: the last one that is not taken back.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lmms_medtasks.parsing.words import any_of

Value = TypeVar("Value")

MOST = 1000
"""Of a reply that repeats itself for ever the last statements are enough."""
REACH = 400
"""Characters behind an announcement in which what it announces stands."""

_IN_A_TAG = 2000
_NUMBERED = (
    "option",
    "choice",
    "opción",
    "opcion",
    "opção",
    "opzione",
    "alternative",
    "选项",
    "選択肢",
    "선택지",
    "image",
    "panel",
)

LETTER = r"(?:(?-i:[A-Z])|[b-hj-z])"  # not "a" and "i", which are words
_SENTENCE_END = re.compile(r"[.!?;\n]")


@dataclass(frozen=True)
class Statement:
    """``start``: where it begins. ``said``, ``end``: from where to where what it states may stand. ``rule``: "boxed",
    "statement", "so", "it_is", "correction" or "last". ``option``: whether the word before names an option, so that "option 2" counts."""

    start: int
    said: int
    end: int
    rule: str
    option: bool = False


@dataclass(frozen=True)
class Stated(Generic[Value]):
    """What the last statement that stands says. ``taken_back``: what follows it takes it back."""

    value: Value
    statement: Statement
    taken_back: bool


@dataclass(frozen=True)
class _Patterns:
    boxed: re.Pattern[str]
    tag: re.Pattern[str]
    cue: re.Pattern[str]
    correction: re.Pattern[str]
    last: re.Pattern[str]
    negated: re.Pattern[str]
    left_open: re.Pattern[str]
    maybe: re.Pattern[str]
    condition: re.Pattern[str]
    would_be: re.Pattern[str]
    but_after: re.Pattern[str]
    taken_back: re.Pattern[str]
    contrast: re.Pattern[str]
    gives_up: re.Pattern[str]


# Names of tags and of JSON's keys.
_KEY = (
    r"(?:(?:final|correct|selected)[ _]?)?(?:answers?|choices?|options?|letters?|prediction|conclusion|solution|label|final|outlier|"
    r"odd[ _]one[ _]out|position|correct|richtig|respuestas?|opci[oó]n|r[eé]ponses?|antwort(?:en)?|答案|选项)"
    r"(?:[ _](?:letter|choice|option|text))?"
)


@functools.cache
def _patterns(letters: bool = True, grid: bool = False) -> _Patterns:
    answer = rf"(?:{any_of('answer')}|{any_of('outlier')})" if grid else any_of("answer")
    sure, filler = any_of("sure"), rf"(?:{any_of('filler')}[\s,:]{{0,3}})*"
    close = r"[\"'`*_)\]】]{0,6}"
    ends = rf"\s*(?:[.;:!,]|$)|\s+{any_of('reason')}|\s+{any_of('and')}\s+(?:against|not|gegen|nicht|kein|non|contre|contra)\b"
    lone = rf"(?=[(*\[\"']{{0,3}}{LETTER}[)*\]\"']{{0,3}}(?:{ends}))"
    signs = r"(?::|=|->|→|⇒|=>|[-–—](?=\s*[(*\[\"']{0,3}[A-Z](?![^\W_])))"
    of = r"(?:\s+(?:to|of|for) (?:the|this|your) (?:\w+ ){0,2}?\w+)?"
    announced = (
        rf"[(\[]\s?{answer}\s?[)\]]\s*(?:{signs})?\s*|{any_of('that_is')}[,:\s]{{0,3}}{filler}|"
        rf"{sure}\s+{answer}\s+(?={LETTER}{{1}}[)\]]?\s*(?:[(.,;:]|$))|"
        rf"{answer}{of}(?:\s*\(?{sure}\)?){{0,2}}{close}\s*(?:{signs}|{any_of('is')}|\n+)(?:\s*{any_of('is')})?[\s:\"'`*_]*{filler}"
    )
    alone = rf"(?:{lone}|(?=[*]{{0,2}}\([a-z]\)))" if letters else ""
    so = rf"(?:{any_of('so')}[,:]?\s*|(?:→|⇒|⟹|->|=>|✅)[ \t]*){filler}{alone}"
    it_is = (
        r"(?:\b(?:it is|it['’]s|this is|that is|that['’]s|i think|i believe|c['’]est|es ist|ist es|es|i\.e\.,?|d\.h\.,?|这是|是)\s*)"
        rf"{filler}{lone}"
    )
    contrast = rf"(?:{any_of('but')}|{any_of('left_over')})\s*{filler}{lone}"
    chosen = rf"{any_of('choose')}[:\s]\s*{filler}|{any_of('choose', 'zh', 'ja', 'ko')}\s*{filler}"
    german = r"\balso\s+(?:die |option |antwort )*" + lone
    negation = rf"{any_of('not_before')}(?:\s*{any_of('not_fill')})*\s*$"
    return _Patterns(
        boxed=re.compile(
            rf"\\?\bboxed\s*\{{([^{{}}]{{0,500}})\}}|[\"']{_KEY}[\"']\s*:\s*"
            r"(?:[\"']([^\"'\n]{0,500})[\"']|(\[[^\]\n]{0,200}\])|([^\s,}\]\"'\[]{1,40}))",
            re.IGNORECASE,
        ),
        tag=re.compile(rf"<(/?){_KEY}>", re.IGNORECASE),
        cue=re.compile(
            "|".join(
                [
                    rf"(?:{announced}|{chosen})(?:->|→|:|=)?\s{{0,3}}",
                    rf"(?P<so>{so})",
                    *([rf"(?P<it_is>{it_is})", contrast, german] if letters else []),
                ]
            ),
            re.IGNORECASE | re.MULTILINE,
        ),
        correction=re.compile(
            # Where yes and no are answers, "no" alone takes nothing back.
            rf"(?:^|[.,;:!?…—–\n-])\s*(?:{'no|nein|non|不|' if letters else 'no,? (?=wait|actually)|'}{any_of('corrects')})"
            rf"(?:[\s,.:;!…—–-]{{1,6}}(?:wait|no|actually|it is|it['’]s|make that|rather|就是))*[\s,.:;!…—–-]{{1,6}}"
            rf"{filler}{lone if letters else ''}",
            re.IGNORECASE | re.MULTILINE,
        ),
        last=re.compile(
            rf"(?:\n|[.?!;:]\s|(?<!(?-i:[A-Z])),\s)\s*(?:(?:option|answer|choice|letter|opci[oó]n|respuesta|r[eé]ponse|antwort)\s)?[(\[*\"'_]{{0,3}}({LETTER})[)\]*\"'_]{{0,3}}\.?\s*$",
            re.I,
        ),
        negated=re.compile(negation, re.IGNORECASE),
        left_open=re.compile(any_of("open_before"), re.IGNORECASE),
        maybe=re.compile(rf"{any_of('maybe_before')}\s*$", re.IGNORECASE),
        condition=re.compile(
            rf"[\"'`*_(\[]{{0,4}}[A-Za-z][\"'`*_)\]]{{0,4}},?\s+{any_of('if')}|[^.\n]{{2,40}}\?", re.IGNORECASE
        ),
        would_be=re.compile(r"\b(?:would be|ser[ií]a|serait|w[aä]re)\b", re.IGNORECASE),
        but_after=re.compile(
            rf"[\"'`*_(\[]{{0,4}}[A-Za-z][\"'`*_)\]]{{0,4}},?\s+(?:yet|however|{any_of('but')})", re.I
        ),
        taken_back=re.compile(any_of("taken_back"), re.IGNORECASE),
        gives_up=re.compile(any_of("gives_up"), re.IGNORECASE),
        contrast=re.compile(rf"{any_of('but')}|\b(?:however|yet)\b", re.IGNORECASE),
    )


def find_statements(text: str, letters: bool = True, grid: bool = False) -> list[Statement]:
    """The statements of a :func:`~lmms_medtasks.parsing.texts.normalised` or
    :func:`~lmms_medtasks.parsing.texts.plain` text, in its order; none that is negated, doubted, a question, a
    condition's consequence, or what others would say.

    ``letters``: letters are answered with. Then "so", "it is", "but" and corrections announce only a letter on its own,
    since they may stand before anything; else "so" announces all that follows. ``grid``: "the outlier is" does, too.
    """
    known = _patterns(letters, grid)
    found = [
        Statement(match.start(), *match.span(match.lastindex or 0), "boxed") for match in known.boxed.finditer(text)
    ]
    tags = list(known.tag.finditer(text))
    for opening, closing in zip(tags, [*tags[1:], None], strict=False):
        if not opening[1] and (closing is None or closing[1]):
            end = len(text) if closing is None else closing.start()
            found.append(Statement(opening.start(), opening.end(), min(end, opening.end() + _IN_A_TAG), "boxed"))
    for pattern, rule in ((known.cue, "statement"), (known.correction, "correction")):
        for match in list(pattern.finditer(text))[-MOST:]:
            if is_negated(text, match.start()) or _is_left_open(text, match):
                continue
            option = match[0].rstrip().casefold().endswith(_NUMBERED)
            kind = match.lastgroup or rule if rule == "statement" else rule
            found.append(Statement(match.start(), match.end(), min(len(text), match.end() + REACH), kind, option))
    last = known.last.search(text[-60:]) if letters else None
    if last:
        place = max(0, len(text) - 60) + last.start(1)
        before = sentence_before(text, place)
        if not known.left_open.search(before) and not known.maybe.search(text[max(0, place - 30) : place]):
            found.append(Statement(place, place, len(text), "last"))
    return sorted(found, key=lambda each: each.said)[-MOST:]


def last_standing(
    text: str, statements: Sequence[Statement], resolve: Callable[[Statement], tuple[Value, int] | None]
) -> Stated[Value] | None:
    """What the last statement says of which ``resolve`` makes something out, and whether it is taken back after.

    ``resolve`` gives a value and where in the text it ends, None for a statement that says nothing to this reader.
    """
    for statement in reversed(statements):
        found = resolve(statement)
        if found is not None:
            value, end = found
            return Stated(value, statement, is_taken_back(text, end) or gives_up(text, end))
    return None


def is_taken_back(text: str, place: int) -> bool:
    """Whether words behind ``place`` take back what was said."""
    return _patterns().taken_back.search(text, place) is not None


def last_taken_back(text: str) -> int:
    """Where the last words end that take back what was said before, 0 for none."""
    return max((match.end() for match in _patterns(False).correction.finditer(text)), default=0)


def gives_up(text: str, place: int) -> bool:
    """Whether words behind ``place`` give the answer up."""
    return _patterns().gives_up.search(text, place) is not None


def is_left_open(sentence: str) -> bool:
    """Whether a sentence doubts, supposes, or tells what somebody else would say."""
    return _patterns().left_open.search(sentence) is not None


def is_negated(text: str, place: int) -> bool:
    """Whether what stands right before ``place`` turns what follows into its opposite."""
    return _patterns().negated.search(sentence_before(text, place)[-60:]) is not None


def sentence_before(text: str, place: int) -> str:
    """What stands before ``place`` in its sentence, 200 characters at most."""
    return _SENTENCE_END.split(text[max(0, place - 200) : place])[-1]


def _is_left_open(text: str, match: re.Match[str]) -> bool:
    """Whether a statement is a question, a condition's consequence, doubted, or what others would say."""
    known = _patterns()
    before = known.contrast.split(sentence_before(text, match.start()))[-1]
    asked = re.match(r"[\"'(*]{0,2}[A-Za-z][\"')*]{0,2}\?\s+\S", text[match.end() : match.end() + 10])
    return bool(
        asked
        or known.left_open.search(before + match.group())
        or known.condition.match(text, match.end())
        or known.maybe.search(text[max(0, match.start() - 30) : match.start()])
        or (known.would_be.search(match.group()) and known.but_after.match(text, match.end()))
    )
