"""Which options a reply names, where several can be right together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lmms_medtasks.parsing.option_lines import read_checked
from lmms_medtasks.parsing.option_statements import not_but
from lmms_medtasks.parsing.option_texts import OptionTexts
from lmms_medtasks.parsing.reply import ParsedAnswer, Reply, find_refusal
from lmms_medtasks.parsing.sentences import first_sentence, split_sentences
from lmms_medtasks.parsing.statements import Statement, find_statements, is_negated, last_standing
from lmms_medtasks.parsing.texts import circled_as_letters, normalise_characters, option_letters
from lmms_medtasks.parsing.words import any_of, lazy_pattern, word_pattern

# Bounded: a search must not take quadratic time over a long run of marks.
_MARKED = r"[(\[*\"'`]{0,8}([A-Z])[)\]*\"'`.:]{0,8}"
_LONGEST = 600


def read_letters(reply: Reply | str | None, options: Sequence[str]) -> ParsedAnswer:
    """Read the letters that a reply names, in the order of the alphabet: "AC".

    The first of these that gives letters counts:

    - ``whole``: the reply, all of its lines together;
    - ``checked``: a list of all options with a mark behind each, "A ✓, B ✗";
    - ``except``: "all of them", or "all except B" in its first sentence;
    - what the last statement says that is not taken back ("answers: A, C", ``\\boxed{A, C}``, JSON), or that says
      letters to be right ("A and C are correct"); "none of the above" is ambiguous there;
    - of a reply that does not break off: ``last``, its last line, also where it says options to be there, "Fever and
      rash are present."; ``said``, the only sentence that denies nothing, or the options' texts that a short reply
      says without a doubt.

    Each must be letters with commas, blanks, slashes or "and" between them ("A, C"), letters in one word ("AC"),
    letters with their options' texts ("A. cat, C. dog"), or the texts themselves. Anything else is "unreadable", as is
    a letter beyond the last option or one that is named twice.

    Raises ValueError for no option, or more than 26.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return ParsedAnswer(reply.outcome)
    text = re.sub(r"```\w*", " ", normalise_characters(circled_as_letters(reply.answer, options))).strip()
    text = not_but().sub("", text, count=1)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if letters := _name_letters(" ".join(lines), options):
        return ParsedAnswer("ok", letters, "whole")
    if checked := read_checked(text, options):
        return ParsedAnswer("ok", checked, "checked")
    if letters := _read_all_but(text, options):
        return ParsedAnswer("ok", letters, "except")
    if (stated := _read_stated(text, options, reply.unfinished)) is not None:
        return stated
    if reply.unfinished:
        return ParsedAnswer(reply.unread)
    if letters := _read_present(lines[-1], options) or _name_letters(lines[-1], options):
        return ParsedAnswer("ok", letters, "last")
    if letters := _read_not_denied(text, options) or "".join(OptionTexts(options).find_all_said(text)):
        return ParsedAnswer("ok", letters, "said")
    return ParsedAnswer("refused" if find_refusal(text) else reply.unread)


def _read_all_but(text: str, options: Sequence[str]) -> str:
    every = option_letters(len(options))
    if word_pattern("all_of_them", after=r"[\s.!]*(?:\(.{1,60}\))?[\s.!]*").fullmatch(text):
        return every
    excepted = word_pattern("all_but", after=r"\s*([^.:;,\n都均全外]{1,40})").search(first_sentence(text))
    excepted_letters = _name_letters(excepted[1], options) if excepted else ""
    return "".join(letter for letter in every if letter not in excepted_letters) if excepted_letters else ""


def _read_not_denied(text: str, options: Sequence[str]) -> str:
    """What the sentences say together that deny nothing: "I see A and C. Not B or D."."""
    affirmed = [sentence for sentence in split_sentences(text) if not word_pattern("not_before").search(sentence)]
    return _name_letters(affirmed[0], options) if len(affirmed) == 1 else ""


def _read_stated(text: str, options: Sequence[str], unfinished: bool) -> ParsedAnswer | None:
    """What the last statement says; ambiguous where it is taken back, or says "none of the above".

    In a reply that breaks off only a line of its own is complete.
    """

    def resolve(statement: Statement) -> tuple[str, int] | None:
        part = text[statement.said : statement.end].strip()
        if word_pattern("all_or_none").match(part):
            return "", statement.end
        if unfinished and statement.rule != "boxed" and "\n" not in part:
            return None
        for beginning in _iter_parts(part):
            if letters := _name_letters(beginning, options):
                return letters, statement.said + len(beginning)
        return None

    statements = sorted([*find_statements(text), *_find_predicates(text)], key=lambda statement: statement.said)
    stated = last_standing(text, statements, resolve)
    if stated is None:
        return None
    return (
        ParsedAnswer("ok", stated.value, stated.statement.rule)
        if stated.value and not stated.taken_back
        else ParsedAnswer("ambiguous")
    )


def _iter_parts(part: str) -> Iterator[str]:
    """The parts of a statement that may be its letters: all, the first line, up to "not", a sentence, up to "since"."""
    yield part.replace("\n", " ")
    yield part.split("\n")[0]
    yield word_pattern("but_not", before=r"[,;(]?\s*").split(part, maxsplit=1)[0]
    yield first_sentence(part)
    yield re.split(r"\s?[:(]", part, maxsplit=1)[0]
    yield word_pattern("reason", before=r"[,;.:(]?\s+").split(part, maxsplit=1)[0]


def _read_present(line: str, options: Sequence[str]) -> str:
    match = _present_pattern().fullmatch(line)
    return _name_letters(match[1], options) if match else ""


def _find_predicates(text: str) -> list[Statement]:
    return [
        Statement(match.start(1), said=match.start(1), end=match.end(1), rule="predicate")
        for match in _are_right().finditer(text)
        if not is_negated(text, match.start(1))
    ]


def _name_letters(text: str, options: Sequence[str]) -> str:
    """The letters that a line names, "" if it can't be read."""
    letters = option_letters(len(options))
    if len(text) > _LONGEST + sum(map(len, options)):
        return ""
    line = _label_pattern().sub("", _before_letter().sub("", text)).strip().rstrip(".!").strip("*_[]{}()\"' $")
    if re.fullmatch(r"[\"'A-Z, ]+", line):
        line = re.sub(r"[\"']", "", line)  # a list of JSON
    if re.fullmatch(r"[A-Z]{2,26}", line):
        names = list(line)
    elif _list_pattern().fullmatch(line):
        names = re.findall(r"[A-Z]", re.sub(any_of("and"), " ", line))
    else:
        names = _name_by_texts(line, letters, options)
    right = len(set(names)) == len(names) and all(letter in letters for letter in names)
    return "".join(sorted(names)) if right else ""


def _name_by_texts(line: str, letters: str, options: Sequence[str]) -> list[str]:
    """Letters of a line that is options' texts, each with or without its letter, and signs between them."""
    by_length = sorted(zip(letters, map(normalise_characters, options), strict=True), key=lambda pair: -len(pair[1]))
    names, rest = [], line
    while rest:
        for letter, text in by_length:
            label = rf"(?:[(\[*-]*\s?{letter}[)\].:*]*\s*)?"
            match = re.match(rf"{label}{re.escape(text)}(?!\w)", rest, re.IGNORECASE)
            if match and text:
                names.append(letter)
                rest = _leading_signs().sub("", rest[match.end() :].lstrip(".)*]")).strip()
                break
        else:
            return []
    return names


# --- Their patterns ---------------------------------------------------------------------------------------------------


_SIGNS = r"(?:[\s,;/&+]|{and})+"


_leading_signs = lazy_pattern(f"^{_SIGNS}")
_list_pattern = lazy_pattern(f"{_MARKED}(?:{_SIGNS}{_MARKED})*")


_before_letter = lazy_pattern(
    r"\b(?:la|el|le|les|las|los|die|the|(?i:{option_word}))\s+(?=[(\[\"']?[A-Z]\b)"  # "la B", "option B"
)


_label_pattern = lazy_pattern(
    r"^[\s*\[\"'{]*(?:{introduces}\s*)?(?:the\s+|both\s+)?(?:(?:right|correct)\s+)?"
    r"(?:{answer}(?:\s+(?:{sure}))?\s*(?::|=|{is})?\s*)?(?:{only}\s+)?",
    re.IGNORECASE,
)
"""What may stand before the letters: "The correct answers are only"."""


_are_right = lazy_pattern(
    rf"((?:{_MARKED}(?:{_SIGNS})?){{1,10}})"
    r"\s*(?:(?i:are|is|sont|son|est|es|sind|ist|都?是?|が|이|가)\s*)?(?i:{are_right})"
)


_present_pattern = lazy_pattern(r"(.{3,300}?)\s+(?:are|is|sind|ist|son|sont|est)\s+{are_present}\.?")
