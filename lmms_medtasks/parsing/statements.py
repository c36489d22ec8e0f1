"""Where a reply states an answer: one list, in the text's order, for all readers.

A statement is a place where something is said to be the answer: a wrapper (a box, a tag, a value of JSON), words that
announce it ("the answer is", "I choose", "so,"), a correction ("no, C"), or a last line of its own. What is said there
each reader makes out for itself. Between statements place decides: the last one that is not taken back.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Generic, TypeVar

from lmms_medtasks.parsing.reply import StatementRule
from lmms_medtasks.parsing.sentences import sentence_before
from lmms_medtasks.parsing.words import any_of, lazy_pattern, word_pattern

Value = TypeVar("Value")

MOST = 1000
"""Of a reply that repeats itself for ever the last statements are enough."""
REACH = 400
"""Characters behind an announcement in which what it announces stands."""
LETTER = r"(?:(?-i:[A-Z])|[b-hj-z])"
"""A letter that is no word: "a" and "i" are words."""

_IN_A_TAG = 2000
_BEFORE = 60  # characters before a statement in which it may be negated
_LAST = 60  # characters of a last line that is a letter
# Names of tags and of JSON's keys.
_KEY = (
    r"(?:(?:final|correct|selected)[ _]?)?"
    r"(?:answers?|choices?|options?|letters?|prediction|conclusion|solution|label|outlier|odd[ _]one[ _]out|position"
    r"|correct|richtig|respuestas?|opci[oó]n|r[eé]ponses?|antwort(?:en)?|答案|选项)"
    r"(?:[ _](?:letter|choice|option|text))?"
)
_JSON_VALUE = r"(?:[\"']([^\"'\n]{0,500})[\"']|(\[[^\]\n]{0,200}\])|([^\s,}\]\"'\[]{1,40}))"
_BOX = re.compile(rf"\\?\bboxed\s*\{{([^{{}}]{{0,500}})\}}|[\"']{_KEY}[\"']\s*:\s*{_JSON_VALUE}", re.IGNORECASE)
_TAG = re.compile(rf"<(/?){_KEY}>", re.IGNORECASE)
_QUOTED_LETTER = r"[\"'`*_(\[]{0,4}[A-Za-z][\"'`*_)\]]{0,4}"
_ASKED = re.compile(r"[\"'(*]{0,2}[A-Za-z][\"')*]{0,2}\?\s+\S")


@dataclass(frozen=True)
class Statement:
    """A place where an answer is stated.

    ``start``: where the statement begins. ``said``, ``end``: between which offsets its answer may stand. ``rule``: what
    makes it a statement. ``names_option``: the word before names an option, so that "option 2" counts.
    """

    start: int
    _: KW_ONLY
    said: int
    end: int
    rule: StatementRule
    names_option: bool = False


@dataclass(frozen=True)
class Stated(Generic[Value]):
    """What the last statement that says something says. ``taken_back``: what follows it takes it back."""

    value: Value
    statement: Statement
    taken_back: bool


def find_statements(text: str, letters: bool = True, grid: bool = False) -> list[Statement]:
    """Find the statements of a :func:`~lmms_medtasks.parsing.texts.normalise_characters` text, in its order.

    None is negated, doubted, a question, a condition's consequence, or what others would say.

    Args:
        text: The text, or a :func:`~lmms_medtasks.parsing.texts.to_plain_text` one.
        letters: Letters are answered with. Then "so", "it is", "but" and corrections announce only a letter on its own,
            since they may stand before anything; else "so" announces all that follows.
        grid: "The outlier is" announces an answer, too.
    """
    statements = [*_find_boxes(text), *_find_tags(text), *_find_announcements(text, letters, grid)]
    if letters and (last := _find_last_letter(text)) is not None:
        statements.append(last)
    return sorted(statements, key=lambda statement: statement.said)[-MOST:]


def last_standing(
    text: str, statements: Sequence[Statement], resolve: Callable[[Statement], tuple[Value, int] | None]
) -> Stated[Value] | None:
    """What the last statement says of which ``resolve`` makes something out, and whether it is taken back after.

    ``resolve`` gives a value and where in the text it ends, None for a statement that says nothing to this reader.
    """
    for statement in reversed(statements):
        resolved = resolve(statement)
        if resolved is not None:
            value, end = resolved
            return Stated(value, statement, is_taken_back(text, end) or gives_up(text, end))
    return None


def is_taken_back(text: str, offset: int) -> bool:
    """Whether words behind ``offset`` take back what was said."""
    return word_pattern("taken_back").search(text, offset) is not None


def last_correction(text: str) -> int:
    """Where the last words end that correct what was said before ("no, wait,"), 0 for none."""
    return max((match.end() for match in _correction_pattern(letters=False).finditer(text)), default=0)


def gives_up(text: str, offset: int = 0) -> bool:
    """Whether words behind ``offset`` give the answer up."""
    return word_pattern("gives_up").search(text, offset) is not None


def is_left_open(sentence: str) -> bool:
    """Whether a sentence doubts, supposes, or tells what somebody else would say."""
    return any(word_pattern(name).search(sentence) for name in ("open_before", "first_thought"))


def is_negated(text: str, offset: int) -> bool:
    """Whether what stands right before ``offset`` turns what follows into its opposite."""
    return _negation_pattern().search(sentence_before(text, offset)[-_BEFORE:]) is not None


# --- Where statements stand -------------------------------------------------------------------------------------------


def _find_boxes(text: str) -> Iterator[Statement]:
    for match in _BOX.finditer(text):
        said, end = match.span(match.lastindex or 0)
        yield Statement(match.start(), said=said, end=end, rule="boxed")


def _find_tags(text: str) -> Iterator[Statement]:
    tags = list(_TAG.finditer(text))
    for opening, closing in zip(tags, [*tags[1:], None], strict=False):
        if not opening[1] and (closing is None or closing[1]):
            end = len(text) if closing is None else closing.start()
            end = min(end, opening.end() + _IN_A_TAG)
            yield Statement(opening.start(), said=opening.end(), end=end, rule="boxed")


def _find_announcements(text: str, letters: bool, grid: bool) -> Iterator[Statement]:
    for pattern in (_announcement_pattern(letters, grid), _correction_pattern(letters)):
        for match in list(pattern.finditer(text))[-MOST:]:
            if is_negated(text, match.start()) or _leaves_open(text, match):
                continue
            rule: StatementRule = match.lastgroup or "statement"  # type: ignore[assignment]
            names_option = (
                word_pattern("names_option", before=r"(?:image|panel|", after=r")\s*$").search(match[0]) is not None
            )
            end = min(len(text), match.end() + REACH)
            yield Statement(match.start(), said=match.end(), end=end, rule=rule, names_option=names_option)


def _find_last_letter(text: str) -> Statement | None:
    last = _last_letter().search(text[-_LAST:])
    if last is None:
        return None
    offset = max(0, len(text) - _LAST) + last.start(1)
    before = sentence_before(text, offset)
    if is_left_open(before) or _is_guessed(text, offset) or _excluded_label().search(before):
        return None
    # "Incorrect answer: B": what announces it was turned down.
    for match in _announcement_pattern(letters=True, grid=False).finditer(text, max(0, offset - _LAST), offset + 2):
        if match.end() == offset and (is_negated(text, match.start()) or _is_guessed(text, match.start())):
            return None
    return Statement(offset, said=offset, end=len(text), rule="last")


def _leaves_open(text: str, match: re.Match[str]) -> bool:
    """Whether a statement is a question, a condition's consequence, doubted, or what others would say."""
    before = _contrast_pattern().split(sentence_before(text, match.start()))[-1]
    return bool(
        _ASKED.match(text[match.end() : match.end() + 10])
        or is_left_open(before + match[0])
        or _condition_pattern().match(text, match.end())
        or _is_guessed(text, match.start())
        or (word_pattern("would_be").search(match[0]) and _contrast_behind().match(text, match.end()))
    )


def _is_guessed(text: str, offset: int) -> bool:
    return word_pattern("maybe_before", after=r"\s*$").search(text[max(0, offset - 30) : offset]) is not None


# --- Their patterns ---------------------------------------------------------------------------------------------------


# Repetitions are bounded: behind each of many beginnings an endless one would take quadratic time.


def _filler_pattern() -> str:
    return rf"(?:{any_of('filler')}[\s,:]{{0,3}}){{0,8}}"


def _lone_letter() -> str:
    """Looks ahead for a letter that has nothing behind it but a sentence's end, a reason, or "and not"."""
    ends = (
        rf"\s*(?:[.;:!,]|$)|\s+(?:{any_of('reason')}|{any_of('sure')})"
        rf"|\s+{any_of('and')}\s+(?:against|not|gegen|nicht|kein|non|contre|contra)\b"
    )
    return rf"(?=[(*\[\"']{{0,3}}{LETTER}[)*\]\"']{{0,3}}(?:{ends}))"


@functools.cache
def _announcement_pattern(letters: bool, grid: bool) -> re.Pattern[str]:
    """What announces an answer; the group that matched last is the statement's rule, no group for "statement"."""
    answer = rf"(?:{any_of('answer')}|{any_of('outlier')})" if grid else any_of("answer")
    filler, lone = _filler_pattern(), _lone_letter()
    dash_before_letter = r"[-–—](?=\s*[(*\[\"']{0,3}[A-Z](?![^\W_]))"
    sign = rf"(?::|=|->|→|⇒|=>|{dash_before_letter})"
    in_brackets = rf"[(\[]\s?{answer}\s?[)\]]\s*(?:{sign})?\s*"
    once_more = rf"{any_of('that_is')}[,:\s]{{0,3}}{filler}"
    announced = (
        rf"{answer}(?:\s*\(?{any_of('sure')}\)?){{0,2}}[\"'`*_)\]】]{{0,6}}\s*"
        rf"(?:{sign}|{any_of('is')}|\n+)(?:\s*{any_of('is')})?[\s:\"'`*_]*{filler}"
    )
    chosen = rf"{any_of('choose')}[:\s]\s*{filler}|{any_of('choose', 'zh', 'ja', 'ko')}\s*{filler}"
    alone = rf"(?:{lone}|(?=[*]{{0,2}}\([a-z]\)))" if letters else ""
    no_answer = rf"(?!(?:the |la |le |l['’]|die )?{any_of('answer')})"
    so = rf"(?:{any_of('so')}[,:]?\s*{no_answer}|(?:→|⇒|⟹|->|=>|✅)[ \t]*){filler}{alone}"
    kinds = [rf"(?:{in_brackets}|{once_more}|{announced}|{chosen})(?:->|→|:|=)?\s{{0,3}}", rf"(?P<so>{so})"]
    if letters:
        it_is = rf"\b{any_of('it_is')}\s*{filler}{lone}"
        contrast = rf"(?:{any_of('but')}|{any_of('left_over')})\s*{filler}{lone}"
        also = rf"\balso\s+(?:die |option |antwort )*{lone}"  # German: "so"
        kinds += [rf"(?P<it_is>{it_is})", contrast, also]
    return re.compile("|".join(kinds), re.IGNORECASE | re.MULTILINE)


@functools.cache
def _correction_pattern(letters: bool) -> re.Pattern[str]:
    # Where yes and no are answers, "no" alone takes nothing back.
    no = r"no|nein|non|不|" if letters else r"no,? (?=wait|actually)|"
    once_more = r"(?:[\s,.:;!…—–-]{1,6}(?:wait|no|actually|it is|it['’]s|make that|rather|就是)){0,4}"
    return re.compile(
        rf"(?P<correction>(?:^|[.,;:!?…—–\n-])\s*(?:{no}{any_of('corrects')}){once_more}[\s,.:;!…—–-]{{1,6}}{_filler_pattern()}"
        rf"{_lone_letter() if letters else ''})",
        re.IGNORECASE | re.MULTILINE,
    )


_last_letter = lazy_pattern(
    r"(?:\n|(?<!e\.g)[.?!;:]\s|(?<!(?-i:[A-Z])),\s)\s*"
    r"(?:(?:option|answer|choice|letter|opci[oó]n|respuesta|r[eé]ponse|antwort)\s)?"
    rf"[(\[*\"'_]{{0,3}}({LETTER})(?:[ ,]{{1,2}}\1){{0,5}}[)\]*\"'_]{{0,3}}[.!]?\s*$",
    re.IGNORECASE,
)


_excluded_label = lazy_pattern(r"{runner_up}\s*:[\s*]*$|{denied_before}[\w ]{0,12}:[\s*]*$", re.IGNORECASE)
"""Before a letter: it is one of those that are out, "ruled out: A"."""


_negation_pattern = lazy_pattern(r"{not_before}(?:\s*{not_fill})*\s*$", re.IGNORECASE)


_condition_pattern = lazy_pattern(rf"{_QUOTED_LETTER},?\s+{{if}}|[^.\n]{{2,40}}\?", re.IGNORECASE)


_contrast_pattern = lazy_pattern(r"{but}|{turn}|,\s*{so}", re.IGNORECASE)


_contrast_behind = lazy_pattern(rf"{_QUOTED_LETTER},?\s+(?:{{turn}}|{{but}})", re.IGNORECASE)
