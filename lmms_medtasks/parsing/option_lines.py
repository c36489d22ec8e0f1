"""The option that a longer reply chooses: by its statements, its lines, or the options' texts in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_medtasks.parsing.option_reading import (
    MARKUP,
    OfferedOptions,
    OptionReading,
    ambiguous_reading,
    says_no_more,
)
from lmms_medtasks.parsing.option_statements import read_choice, read_stated, repeats_options
from lmms_medtasks.parsing.reply import find_refusal
from lmms_medtasks.parsing.sentences import iter_beginnings, split_sentences
from lmms_medtasks.parsing.statements import gives_up, is_taken_back
from lmms_medtasks.parsing.texts import option_letters
from lmms_medtasks.parsing.words import lazy_pattern, word_pattern
from lmms_medtasks.parsing.yes_no import read_yes_no, yes_or_no

_BOLD = re.compile(r"(?:\*\*|__)[ \t]*(\(?[A-Z](?:[.):][^*_\n]*|\)?))[ \t]*(?:\*\*|__)")
_BOLD_TEXT = re.compile(r"\*\*([^*\n]{1,200})\*\*")
# "A) is a cyst", "B) shows a stone": going through the options. What says that one is right is a predicate.
_TOLD_OF = re.compile(r"[)\].:]?\**[ \t]+(?:is|are|was|were|seems|appears|shows|would|could|can|may|might|does)\b")
_LABELLED = re.compile(r"(?<![^\W_])(?:\(([A-Z])\)|([A-Z])(?:\)|\s?:\s))")
_BRACKETS = re.compile(r"[(\[]([A-Z])[)\]]")
_AFTERTHOUGHT = re.compile(r"\(.*\)?\.?")
_LAST_SENTENCES = 30
_ONE_SENTENCE = 200

_LONGEST = 4000
_ITEM = re.compile(r"\n|(?<=[.;,])\s+(?=\(?[A-Z]\b|[^\W\d_]+\s*:)")
_BEFORE_MARK = r"[\s*_:|()\]=—–-]{0,8}"


# --- Lines ------------------------------------------------------------------------------------------------------------


def read_bold(text: str, offered: OfferedOptions) -> list[OptionReading]:
    """What the bold letters of a reply choose: ``**C**``, ``**C. text**``."""
    choices = (read_choice(part, "bold", offered) for part in _BOLD.findall(text))
    texts = (offered.read_text(part, "bold") for part in _BOLD_TEXT.findall(text))
    return [choice.reading for choice in choices if choice] or [reading for reading in texts if reading]


def read_leading(text: str, offered: OfferedOptions) -> list[OptionReading]:
    """What the lines of a reply choose that begin with a letter."""
    lines = (_read_line(line.strip(), offered) for line in _leading_line().findall(text))
    return [reading for reading in lines if reading is not None]


def read_same(readings: Sequence[OptionReading]) -> OptionReading | None:
    """The reading that all readable ones agree on; ambiguous if they don't; None without any."""
    known = [reading for reading in readings if reading.status != "unreadable"]
    if not known:
        return None
    return known[-1] if len({(reading.status, reading.value) for reading in known}) == 1 else ambiguous_reading()


def read_edge(text: str, offered: OfferedOptions) -> OptionReading | None:
    """What the last line, or the first sentence, is the text of."""
    lines = text.splitlines() or [""]
    for part in (lines[-1], next(iter_beginnings(lines[0]), "")):
        reading = offered.read_text(part, "text")
        if reading is not None:
            return ambiguous_reading(part) if is_taken_back(text, text.find(part) + len(part)) else reading
    return None


def read_brackets(text: str, offered: OfferedOptions) -> OptionReading | None:
    """The letter of all brackets with a letter alone: "pneumonia (C)"."""
    return read_same([offered.read_letter(letter, "brackets", f"({letter})") for letter in _BRACKETS.findall(text)])


def _read_line(line: str, offered: OfferedOptions) -> OptionReading | None:
    """What a line chooses that starts with a letter: it has nothing else, the option's text, or a mark after it."""
    if repeats_options(line, offered):
        return ambiguous_reading(line)
    exact = offered.texts.match_beginning(line, lettered=True)
    if exact is not None and (says_no_more(line[exact.end :]) or not re.match(r"[(\[]?[A-Za-z]\s", line)):
        others = _find_labels(line[exact.end :], offered) - {offered.letters[exact.place]}
        return ambiguous_reading(line) if others else offered.read_place(exact.place, "leading", line)
    if (reading := offered.read_text(line, "text")) is not None:
        return reading
    begin = 1 if line[0] in "([" else 0
    letter, rest = line[begin].upper(), line[begin + 1 :]
    text_letters = [offered.letters[index] for index in offered.texts.find_equal(rest)]
    if not text_letters:
        lower = line[begin].islower()  # "a. m." or "e.g.": in lower case only with the option's own text
        marked = not rest.strip(MARKUP) or _mark_behind().match(rest) is not None
        if lower or not marked or _TOLD_OF.match(rest):
            return None
    if offered.has_other_text(letter, rest):
        return ambiguous_reading(line)
    if letter not in text_letters and (text_letters or _find_labels(rest, offered) - {letter}):
        return ambiguous_reading(line)
    return offered.read_letter(letter, "leading", line)


def _find_labels(text: str, offered: OfferedOptions) -> set[str]:
    """The options' letters that a text has as labels: "B)", "(C)", "D: "."""
    return {first or second for first, second in _LABELLED.findall(text)} & set(offered.letters)


_leading_line = lazy_pattern(
    r"^[ \t>*_#-]*(?:(?i:{answer})[ \t]+)?([(\[]?[A-Z](?![^\W_]).*|[(\[]?[a-z][).:].*)$", re.MULTILINE
)


_mark_behind = lazy_pattern(r"[)\].:]\**\s|\s?\(|[ \t]+[-–—][ \t]+(?![A-Z]\b)\w|,?[ \t]+(?i:{reason})")
"""What may come between a line's letter and its rest: a mark, a dash, or a reason."""


# --- What it says -----------------------------------------------------------------------------------------------------


def read_as_yes_no(text: str, offered: OfferedOptions) -> OptionReading | None:
    """What is read where yes and no are options: "No, there is no nodule."."""
    meant: list[str] = [yes_or_no(option) for option in offered.options]
    if not {"yes", "no"} <= set(meant):
        return None
    answer = read_yes_no(text)
    if answer.status != "ok" or meant.count(answer.value) != 1:
        return None
    return offered.read_place(meant.index(answer.value), "yes_no", text)


def read_concluded(text: str, offered: OfferedOptions) -> OptionReading | None:
    """The option that a sentence of a longer reply concludes with; the last one, where none before says another."""
    sentences = split_sentences(text)[-_LAST_SENTENCES:]
    if len(sentences) < 2:
        return None
    while len(sentences) > 1 and _AFTERTHOUGHT.fullmatch(sentences[-1]):
        sentences.pop()
    last = len(sentences) - 1
    conclusions = [
        (places[0], sentence)
        for number, sentence in enumerate(sentences)
        if (places := offered.texts.find_concluded(sentence, last=number == last))
    ]
    if not conclusions:
        return None
    index, sentence = conclusions[-1]
    end = text.rfind(sentence) + len(sentence)
    others = [conclusion for other, conclusion in conclusions if other != index]
    corrected = others and is_taken_back(text[:end], text.find(others[-1]))
    if (others and not corrected) or is_taken_back(text, end) or gives_up(text, end):
        return ambiguous_reading(sentence)
    return offered.read_place(index, "concluded", sentence)


def read_said(text: str, offered: OfferedOptions) -> OptionReading | None:
    """The option that a short reply says, or all of whose words a reply of one sentence has."""
    places = offered.texts.find_said(text)
    if not places and len(text) <= _ONE_SENTENCE and len(split_sentences(text)) == 1:
        places = offered.texts.find_in_other_order(text)
    return offered.read_places(places, "said", text)


# --- All of it --------------------------------------------------------------------------------------------------------


def read_in_words(text: str, offered: OfferedOptions, unfinished: bool) -> OptionReading:
    """What a reply chooses that is more than an answer, by the order of :func:`.option.read_option`."""
    if (reading := read_stated(text, offered)) is not None:
        return reading
    if (checked := read_checked(text, offered.options)) is not None and len(checked) == 1:
        return offered.read_letter(checked, "checked", text)
    several = False
    for readings in (read_bold(text, offered), read_leading(text, offered)):
        reading = read_same(readings)
        if reading is not None and reading.status == "ok":
            return ambiguous_reading(text) if _is_taken_back(text, reading) else reading
        several = several or reading is not None
    if not unfinished and (reading := read_edge(text, offered)) is not None:
        return reading
    if (refusal := find_refusal(text)) is not None:
        return OptionReading("refused", text=refusal)
    if several:
        return ambiguous_reading()
    if unfinished:
        return OptionReading("unreadable")
    if (reading := read_brackets(text, offered)) is not None:
        return reading
    if gives_up(text):
        return OptionReading("refused", text=text[-80:])
    reading = read_as_yes_no(text, offered) or read_concluded(text, offered) or read_said(text, offered)
    return reading or OptionReading("unreadable")


def _is_taken_back(text: str, reading: OptionReading) -> bool:
    start = text.find(reading.text)
    return start >= 0 and is_taken_back(text, start + len(reading.text))


def read_checked(text: str, options: Sequence[str]) -> str | None:
    """The letters that a list marks as right; None where ``text`` does not mark each of two or more options."""
    letters = option_letters(len(options))
    marked: dict[str, bool] = {}
    for item in _ITEM.split(text[:_LONGEST]):
        for letter, option in zip(letters, options, strict=True):
            label = _match_label(item, letter, option)
            if label is None:
                continue
            ticked = (
                any(sign in label["box"] for sign in "xX✅☑✓✔") if label["box"] else _is_ticked(item[label.end() :])
            )
            if ticked is not None:
                marked[letter] = ticked
            break
    return "".join(letter for letter in letters if marked[letter]) if len(marked) == len(letters) > 1 else None


def _match_label(item: str, letter: str, option: str) -> re.Match[str] | None:
    """An option's letter, its text or both at an item's beginning, perhaps behind a box: "[ ] B. Fever"."""
    text = re.escape(option)
    lettered = rf"\(?{letter}(?![^\W_])[).:\]*_\s]{{0,4}}(?:{text})?"
    label = rf"[\s*_(\[|-]{{0,6}}(?:(?P<box>\[[ xX]\]|[✅☑✓✔❌✗✘])\s*)?(?:{lettered}|{text})"
    return re.match(label, item, re.IGNORECASE if option in item else 0)


def _is_ticked(rest: str) -> bool | None:
    """Whether what follows a label begins or ends with a mark of a right option, or of a wrong one; None for neither.

    Where it has both, the longer one counts: "not present".
    """
    tick, cross = _mark_length("checked", "√✓✔☑✅", rest), _mark_length("crossed", "×✗✘✕❌☒", rest)
    return None if tick == cross == 0 else tick >= cross


def _mark_length(category: str, signs: str, rest: str) -> int:
    begins = word_pattern(category, before=rf"{_BEFORE_MARK}(?P<mark>", after=")").match(rest)
    if begins is not None:
        return len(begins["mark"])
    return 1 if re.search(rf"[{signs}]\ufe0f?\s*$", rest) else 0
