"""Which option a reply chooses that is nothing but an answer, or that states none: by its lines, or by what it says."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lmms_medtasks.parsing.option_reading import (
    MARKUP,
    OfferedOptions,
    OptionReading,
    ambiguous,
    says_no_more,
    single_letter,
)
from lmms_medtasks.parsing.option_statements import read_choice, repeats_options
from lmms_medtasks.parsing.option_texts import MINUS_IN_BRACKETS, Exact
from lmms_medtasks.parsing.sentences import iter_beginnings, split_sentences
from lmms_medtasks.parsing.statements import gives_up, is_taken_back
from lmms_medtasks.parsing.words import any_of
from lmms_medtasks.parsing.yes_no import read_yes_no, yes_or_no

_BOLD = re.compile(r"(?:\*\*|__)[ \t]*(\(?[A-Z](?:[.):][^*_\n]*|\)?))[ \t]*(?:\*\*|__)")
_BOLD_TEXT = re.compile(r"\*\*([^*\n]{1,200})\*\*")
# "A) is a cyst", "B) shows a stone": going through the options. What says that one is right is a predicate.
_TOLD_OF = re.compile(r"[)\].:]?\**[ \t]+(?:is|are|was|were|seems|appears|shows|would|could|can|may|might|does)\b")
_LABELLED = re.compile(r"(?<![^\W_])(?:\(([A-Z])\)|([A-Z])(?:\)|\s?:\s))")
_BRACKETS = re.compile(r"[(\[]([A-Z])[)\]]")
_NEXT_LETTER = r"(?:\s*[,/&]\s*|\s+)(?:(?:or|and)\s+)?[(\[]?[A-Z][)\].]?"
_LIST = re.compile(rf"[(\[]?[A-Z][)\].]?(?:{_NEXT_LETTER})+\.?")
_AFTERTHOUGHT = re.compile(r"\(.*\)?\.?")
_LAST_SENTENCES = 30
_ONE_SENTENCE = 200


# --- The reply as a whole ---------------------------------------------------------------------------------------------


def read_whole(text: str, offered: OfferedOptions) -> OptionReading | None:
    """What a reply chooses that is nothing but a letter, a text, both, a number, or one of them again and again."""
    single = single_letter().fullmatch(text)
    if single is not None:
        return offered.read_letter(single[1].upper(), "single_letter", text)
    for lettered in (True, False):
        exact = offered.texts.match_beginning(text, lettered)
        rest = _without_letter(text, exact, offered) if exact is not None else ""
        if exact is not None and not re.search(r"\w", rest) and not MINUS_IN_BRACKETS.search(rest):
            return offered.read_place(exact.place, "exact", text)
    if places := offered.texts.find_equal(text):
        return offered.read_places(places, "exact", text)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and len(set(lines)) == 1:
        return read_whole(lines[0].strip(), offered)
    if _LIST.fullmatch(text):
        letters = set(re.findall("[A-Z]", text))
        return ambiguous(text) if len(letters) > 1 else offered.read_letter(letters.pop(), "single_letter", text)
    if places := offered.texts.find_beginning_or_end(text):
        return offered.read_places(places, "exact", text)
    named = _option_number().fullmatch(text)
    return None if named is None else offered.read_number(named[1])


def _without_letter(text: str, exact: Exact, offered: OfferedOptions) -> str:
    """What follows an option's text, without that option's letter: "Stage III (C)", "No, B"."""
    letter = offered.letters[exact.place]
    return re.sub(rf"^[\s,(\[*\"'—–-]{{0,4}}(?:option |answer )?{letter}(?![^\W_])", "", text[exact.end :])


@functools.cache
def _option_number() -> re.Pattern[str]:
    return re.compile(
        rf"[\s*_(\[\"']{{0,6}}{any_of('names_option')}\s{{0,2}}(\d{{1,2}})[\s*_)\]\"'.]{{0,6}}", re.IGNORECASE
    )


# --- Lines ------------------------------------------------------------------------------------------------------------


def read_bold(text: str, offered: OfferedOptions) -> list[OptionReading]:
    """What the bold letters of a reply choose: ``**C**``, ``**C. text**``."""
    choices = (read_choice(part, "bold", offered) for part in _BOLD.findall(text))
    texts = (offered.read_text(part, "bold") for part in _BOLD_TEXT.findall(text))
    return [choice.reading for choice in choices if choice is not None] or [each for each in texts if each is not None]


def read_leading(text: str, offered: OfferedOptions) -> list[OptionReading]:
    """What the lines of a reply choose that begin with a letter."""
    lines = (_read_line(line.strip(), offered) for line in _leading_line().findall(text))
    return [reading for reading in lines if reading is not None]


def read_same(readings: Sequence[OptionReading]) -> OptionReading | None:
    """The reading that all readable ones agree on; ambiguous if they don't; None without any."""
    known = [reading for reading in readings if reading.status != "unreadable"]
    if not known:
        return None
    return known[-1] if len({(each.status, each.value) for each in known}) == 1 else ambiguous()


def read_edge(text: str, offered: OfferedOptions) -> OptionReading | None:
    """What the last line, or the first sentence, is the text of."""
    lines = text.splitlines() or [""]
    for part in (lines[-1], next(iter_beginnings(lines[0]), "")):
        found = offered.read_text(part, "text")
        if found is not None:
            return ambiguous(part) if is_taken_back(text, text.find(part) + len(part)) else found
    return None


def read_brackets(text: str, offered: OfferedOptions) -> OptionReading | None:
    """The letter of all brackets with a letter alone: "pneumonia (C)"."""
    return read_same([offered.read_letter(letter, "brackets", f"({letter})") for letter in _BRACKETS.findall(text)])


def _read_line(line: str, offered: OfferedOptions) -> OptionReading | None:
    """What a line chooses that starts with a letter: it has nothing else, the option's text, or a mark after it."""
    if repeats_options(line, offered):
        return ambiguous(line)
    exact = offered.texts.match_beginning(line, lettered=True)
    if exact is not None and (says_no_more(line[exact.end :]) or not re.match(r"[(\[]?[A-Za-z]\s", line)):
        others = _find_labels(line[exact.end :], offered) - {offered.letters[exact.place]}
        return ambiguous(line) if others else offered.read_place(exact.place, "leading", line)
    if (found := offered.read_text(line, "text")) is not None:
        return found
    begin = 1 if line[0] in "([" else 0
    letter, rest = line[begin].upper(), line[begin + 1 :]
    named = [offered.letters[place] for place in offered.texts.find_equal(rest)]
    if not named:
        lower = line[begin].islower()  # "a. m." or "e.g.": in lower case only with the option's own text
        marked = not rest.strip(MARKUP) or _mark_behind().match(rest) is not None
        if lower or not marked or _TOLD_OF.match(rest):
            return None
    if offered.has_other_text(letter, rest):
        return ambiguous(line)
    if letter not in named and (named or _find_labels(rest, offered) - {letter}):
        return ambiguous(line)
    return offered.read_letter(letter, "leading", line)


def _find_labels(text: str, offered: OfferedOptions) -> set[str]:
    """The options' letters that a text has as labels: "B)", "(C)", "D: "."""
    return {first or second for first, second in _LABELLED.findall(text)} & set(offered.letters)


@functools.cache
def _leading_line() -> re.Pattern[str]:
    line = r"([(\[]?[A-Z](?![^\W_]).*|[(\[]?[a-z][).:].*)$"
    return re.compile(rf"^[ \t>*_#-]*(?:(?i:{any_of('answer')})[ \t]+)?{line}", re.MULTILINE)


@functools.cache
def _mark_behind() -> re.Pattern[str]:
    """What may come between a line's letter and its rest: a mark, a dash, or a reason."""
    return re.compile(rf"[)\].:]\**\s|\s?\(|[ \t]+[-–—][ \t]+(?![A-Z]\b)\w|,?[ \t]+(?i:{any_of('reason')})")


# --- What it says -----------------------------------------------------------------------------------------------------


def read_as_yes_no(text: str, offered: OfferedOptions) -> OptionReading | None:
    """What is read where yes and no are options: "No, there is no nodule."."""
    meant: list[str] = [yes_or_no(option) for option in offered.options]
    if not {"yes", "no"} <= set(meant):
        return None
    found = read_yes_no(text)
    if found.status != "ok" or meant.count(found.value) != 1:
        return None
    return offered.read_place(meant.index(found.value), "yes_no", text)


def read_concluded(text: str, offered: OfferedOptions) -> OptionReading | None:
    """The option that a sentence of a longer reply concludes with; the last one, where none before says another."""
    sentences = split_sentences(text)[-_LAST_SENTENCES:]
    if len(sentences) < 2:
        return None
    while len(sentences) > 1 and _AFTERTHOUGHT.fullmatch(sentences[-1]):
        sentences.pop()
    last = len(sentences) - 1
    found = [
        (places[0], sentence)
        for number, sentence in enumerate(sentences)
        if (places := offered.texts.find_concluded(sentence, last=number == last))
    ]
    if not found:
        return None
    place, sentence = found[-1]
    end = text.rfind(sentence) + len(sentence)
    others = [said for other, said in found if other != place]
    corrected = others and is_taken_back(text[:end], text.find(others[-1]))
    if (others and not corrected) or is_taken_back(text, end) or gives_up(text, end):
        return ambiguous(sentence)
    return offered.read_place(place, "concluded", sentence)


def read_said(text: str, offered: OfferedOptions) -> OptionReading | None:
    """The option that a short reply says, or all of whose words a reply of one sentence has."""
    places = offered.texts.find_said(text)
    if not places and len(text) <= _ONE_SENTENCE and len(split_sentences(text)) == 1:
        places = offered.texts.find_in_other_order(text)
    return offered.read_places(places, "said", text)
