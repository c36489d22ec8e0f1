"""Which option the statements of a reply choose: "the answer is C", ``\\boxed{C}``, "C is correct"."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from lmms_medtasks.parsing.option_reading import (
    CLOSING,
    MARKUP,
    OPENING,
    OfferedOptions,
    OptionReading,
    Rule,
    ambiguous_reading,
    first_line,
    says_no_more,
)
from lmms_medtasks.parsing.sentences import clause_before, first_sentence
from lmms_medtasks.parsing.statements import Statement, find_statements, is_negated, is_taken_back, last_standing
from lmms_medtasks.parsing.words import any_of, lazy_pattern, word_pattern

_QUESTION = re.compile(
    r"[^.!\n]{0,40}\?|[ \w]{0,12}(?:is|would be) (?:an? )?(?:common |frequent )?(?:mistake|error|wrong)"
)
_ARROW = re.compile(r"\s*[\"'(*]{0,3}([A-Z])[\"')*]{0,3}\s*(?:->|→|=>|⇒)\s*(?=[\"'(*]{0,3}[A-Z](?![^\W_]))")
_BARE_LETTER = re.compile(rf"{OPENING}([A-Za-z])(?![^\W_]|-\w|['’]\w)")
_ARTICLE_A = re.compile(r"\s*A [a-z]+ (?:is|are)")
_LONGEST = 200
_NEAR = 40


class Choice(NamedTuple):
    """What a part of a reply chooses, and where in the part the words end that choose it (1 for its first sentence)."""

    reading: OptionReading
    end: int


def read_stated(text: str, offered: OfferedOptions) -> OptionReading | None:
    """What the last statement says that is not taken back; None where a reply states nothing.

    "C is correct" counts as said of C, and not against an answer that was announced before; two letters that are both
    said to be right are ambiguous, and so are two of "it is B".
    """
    resolve = functools.partial(_resolve_statement, text, offered)
    announced = find_statements(text, grid=offered.grid)
    predicates = _find_predicates(text, offered.grid)
    stated = last_standing(text, sorted([*announced, *predicates], key=lambda statement: statement.said), resolve)
    if stated is None:
        return None
    statement = stated.statement
    if stated.taken_back:
        return ambiguous_reading(text[statement.start :])
    if statement.rule == "boxed" and _contradicts_neighbour(stated.value, statement, announced, resolve):
        return ambiguous_reading(text)
    if statement.rule == "it_is":
        rivals = [announcement for announcement in announced if announcement.rule == "it_is"]
        values = {known[0].value for rival in rivals if (known := resolve(rival))}
        if len(values - {""}) > 1 and not is_taken_back(text[: statement.said], 0):
            return ambiguous_reading(text[statement.start : statement.end])
    if statement.rule == "predicate":
        earlier = [announcement for announcement in announced if announcement.said < statement.said]
        before = last_standing(text, earlier, resolve)
        if before is not None and not before.taken_back:
            return before.value
        if _letters_differ(text, predicates, offered):
            return ambiguous_reading(text[statement.start : statement.end])
    return stated.value


def read_choice(part: str, rule: Rule, offered: OfferedOptions) -> Choice | None:
    """What ``part`` begins with or says: an option's letter and text, its text, a letter; None for none."""
    begin, part = len(part), _skip_rejected(part)
    skipped = begin - len(part)
    for lettered in (True, False):
        exact = offered.texts.match_beginning(part, lettered)
        if exact is not None and (lettered or says_no_more(part[exact.end :])):
            return Choice(offered.read_place(exact.place, rule, part[:80].strip()), skipped + exact.end)
    line = first_line(part)
    # The text of an option may begin with a letter of its own: "E. coli", "B-cell lymphoma".
    if (text_reading := offered.read_text(line, rule)) is not None:
        return Choice(text_reading, 1)
    match = _BARE_LETTER.match(part)
    if match is not None and offered.is_letter(match[1], part[match.end() :]):
        return Choice(_read_letter(match, part, rule, offered), skipped + match.end())
    sentence_reading = _read_said(line, rule, offered) if rule in ("boxed", "statement") else None
    return None if sentence_reading is None else Choice(sentence_reading, 1)


def _resolve_statement(text: str, offered: OfferedOptions, statement: Statement) -> tuple[OptionReading, int] | None:
    if statement.rule == "predicate":
        return _read_predicate(text, statement, offered), statement.end
    part = text[statement.said : min(statement.end, statement.said + offered.reach)]
    if statement.names_option and (number := offered.read_number(part)) is not None:
        return number, statement.said + 2
    if repeats_options(text[statement.said : statement.said + offered.reach * 2], offered):
        return None
    choice = read_choice(part, statement.rule, offered)
    return None if choice is None else (choice.reading, statement.said + choice.end)


def _contradicts_neighbour(
    value: OptionReading,
    statement: Statement,
    others: list[Statement],
    resolve: Callable[[Statement], tuple[OptionReading, int] | None],
) -> bool:
    """Whether a value of JSON stands right before another: {"answer": "C", "answer_text": "Sinus rhythm"}."""
    near = [other for other in others if other.rule == "boxed" and 0 < statement.said - other.end < _NEAR]
    return any((known := resolve(other)) is not None and known[0].value != value.value for other in near)


def _read_letter(match: re.Match[str], part: str, rule: Rule, offered: OfferedOptions) -> OptionReading:
    """A letter at the beginning of ``part``; ambiguous with another letter, or another option's text, behind it."""
    letter, after = match[1].upper(), part[match.end() :]
    another = _another_behind().match(after)
    if another is not None and another[1] != letter and offered.is_letter(another[1], another[2]):
        return ambiguous_reading(part)
    if offered.has_other_text(letter, after):
        return ambiguous_reading(part)
    return offered.read_letter(letter, rule, part[:80].strip())


def _read_said(line: str, rule: Rule, offered: OfferedOptions) -> OptionReading | None:
    """The only option that the first sentence of a statement says."""
    sentence = first_sentence(line)
    if len(sentence) > _LONGEST or _hedge_pattern().match(sentence):
        return None
    places = offered.texts.find_said(sentence) or offered.texts.find_partly_said(sentence)
    return offered.read_places(places, rule, sentence)


def _skip_rejected(part: str) -> str:
    """A part without what it turns down first: "not B but C", "A -> C"."""
    if (turned := not_but().match(part)) is not None:
        part = part[turned.end() :]
    while (arrow := _ARROW.match(part)) is not None:
        part = part[arrow.end() :]
    return part


def repeats_options(part: str, offered: OfferedOptions) -> bool:
    """Whether a text begins with the list of options: A with its text, and B with its text right behind."""
    first = offered.texts.match_beginning(part, lettered=True)
    if first is None or first.place != 0:
        return False
    rest = re.sub(r"^[\s,;.*/|_-]+", "", part[first.end :])
    second = offered.texts.match_beginning(rest, lettered=True)
    return second is not None and second.place == 1


# --- "C is correct" ---------------------------------------------------------------------------------------------------


def _find_predicates(text: str, grid: bool) -> list[Statement]:
    """Where a letter is said to be right, denied ones and questions left out."""
    statements = []
    for match in _predicate_pattern(grid).finditer(text):
        if is_negated(text, match.start()) or _QUESTION.match(text, match.end()):
            continue
        if word_pattern("nobody").search(clause_before(text, match.start())) or _ARTICLE_A.match(match[0]):
            continue
        letter = 1 if match[1] else 2
        near = text[max(0, match.start() - 20) : match.start(letter)]
        if not grid and word_pattern("lettered_noun", after=r"\s*$").search(near):
            continue
        start, said = match.span(letter)
        statements.append(Statement(start, said=said, end=match.end(), rule="predicate"))
    return statements


def _read_predicate(text: str, statement: Statement, offered: OfferedOptions) -> OptionReading:
    letter = text[statement.start : statement.said].strip(MARKUP).upper()
    return offered.read_letter(letter, "predicate", text[statement.start : statement.end])


def _letters_differ(text: str, predicates: list[Statement], offered: OfferedOptions) -> bool:
    """Whether several letters are said to be right: "B is correct for adults, C is likely in children", "B or C is"."""
    values = {_read_predicate(text, predicate, offered).value for predicate in predicates}
    listed = any(
        _another_before().search(text[max(0, predicate.start - 40) : predicate.start]) for predicate in predicates
    )
    return len(values) > 1 or listed


@functools.cache
def _predicate_pattern(grid: bool) -> re.Pattern[str]:
    right = f"(?:{any_of('is_right')}|{any_of('is_outlier')})" if grid else any_of("is_right")
    capital = rf"(?<![^\W_])({OPENING}[A-Z]{CLOSING})\s*(?i:{right})"
    named_letter = rf"\b(?i:{any_of('option_word')}|choice|letter)\s+({OPENING}[a-z]{CLOSING})\s+(?i:{right})"
    return re.compile(f"{capital}|{named_letter}")


_another_before = lazy_pattern(r"(?<![^\W_])[A-Z][)\]\"'*]{0,3}\s*,?\s*(?:{and}|{or}|[/&])\s*$")


_another_behind = lazy_pattern(
    r"[)\].\"'`*_]*\s*(?:[,/&+|]|{and}|{or})+\s*(?i:{maybe_before}\s*)?(?i:option\s+)?[(\[*\"']*([A-Z])(?![^\W_])(.*)",
    re.DOTALL,
)


not_but = lazy_pattern(r"\s*{not_before}\s+[^.\n]{1,60}?[,\s]+(?:{but})\s+", re.IGNORECASE)
"""At the beginning of a text: what it turns down before it chooses, "not B but"."""


_hedge_pattern = lazy_pattern(r"\s*(?:{maybe_before}|either|both|between)", re.IGNORECASE)
