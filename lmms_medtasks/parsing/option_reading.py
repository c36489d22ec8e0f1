"""The options of a question, and the option that a letter, a number or a text in a reply names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from lmms_medtasks.parsing.option_texts import OptionTexts
from lmms_medtasks.parsing.reply import AnswerStatus, StatementRule
from lmms_medtasks.parsing.sentences import iter_beginnings
from lmms_medtasks.parsing.words import lazy_pattern, word_pattern

Rule = (
    Literal["single_letter", "first_capital", "exact", "checked", "bold", "leading", "text"]
    | Literal["brackets", "yes_no", "concluded", "said", ""]
    | StatementRule
)
"""What the answer was read from; "" if nothing was."""

# At most a few marks: a search must not take quadratic time over a long run of them.
OPENING, CLOSING = r"[\s\"'`*_(\[{<$]{0,8}", r"[\"'`*_)\]}>$]{0,8}"
MARKUP = " \t\r\n\"'`*_.,:;!$()[]{}<>#-"
_NUMBER = re.compile(r"\s*[#(]?(\d{1,2})(?![\d.,]*\d|\s?[%a-z])[).]?")
_KEPT = 80


@dataclass(frozen=True)
class OptionReading:
    """What was read from one reply. ``value`` is an option's letter if ``status`` is "ok", else ""; ``text`` is the
    part of the reply that it was read from."""

    status: AnswerStatus
    value: str = ""
    rule: Rule = ""
    _: KW_ONLY
    text: str = ""


def ambiguous_reading(text: str = "") -> OptionReading:
    """The reading of a reply that names several options, none of them as the final one."""
    return OptionReading("ambiguous", text=text[:_KEPT])


class OfferedOptions:
    """The options of one question, as shown. ``grid``: the question asks for the image that does not fit."""

    def __init__(self, options: Sequence[str], grid: bool) -> None:
        self.options = options
        self.grid = grid
        self.texts = OptionTexts(options)
        self.letters = self.texts.letters
        # No further is looked for an option's text: a long line with many statements would take quadratic time.
        self.reach = 200 + self.texts.longest
        self._numeric = any(re.fullmatch(r"\s*\d+\s*", option) for option in options)

    def read_place(self, index: int, rule: Rule, text: str) -> OptionReading:
        return OptionReading("ok", self.letters[index], rule, text=text[:_KEPT])

    def read_places(self, places: Sequence[int], rule: Rule, text: str) -> OptionReading | None:
        """The option at the only one of ``places``; ambiguous for several, None for none."""
        if not places:
            return None
        return self.read_place(places[0], rule, text) if len(places) == 1 else ambiguous_reading(text)

    def read_letter(self, letter: str, rule: Rule, text: str) -> OptionReading:
        """The option of a letter; unreadable where there is none."""
        if letter in self.letters:
            return OptionReading("ok", letter, rule, text=text[:_KEPT])
        return OptionReading("unreadable", text=text[:_KEPT])

    def read_number(self, text: str) -> OptionReading | None:
        """The option that the number at the beginning of a text counts, where no option is a number."""
        match = _NUMBER.match(text)
        if match is None or self._numeric or not 1 <= int(match[1]) <= len(self.letters):
            return None
        return self.read_place(int(match[1]) - 1, "statement", text)

    def read_text(self, text: str, rule: Rule) -> OptionReading | None:
        """The option whose text is ``text`` or, where ``text`` is stated, one of its beginnings that end a sentence."""
        for part in (text, *(iter_beginnings(text) if rule != "text" else ())):
            # A letter is the letter of an option, whatever the options' texts.
            places = [] if single_letter().fullmatch(part) else self.texts.find_equal(part)
            places = places or (self.texts.find_beginning_or_end(part) if rule == "statement" else [])
            if places:
                return self.read_places(places, rule, part)
        return None

    def is_letter(self, letter: str, after: str) -> bool:
        """Whether a letter with ``after`` behind it is an option's, and no word or part of one."""
        if letter in "AI":
            return _after_a().match(after) is not None
        return letter.isupper() or re.match(r"[)\]}\"'`*_$]*\s*(?:[.,:;!?)\]}]|\n|$)", after) is not None

    def has_other_text(self, letter: str, after: str) -> bool:
        """Whether another option's text stands right behind a letter: "B. Pleural effusion", where that is C."""
        places = self.texts.find_equal(first_line(after))
        if places:
            return all(self.letters[index] != letter for index in places)
        if not re.match(r"\s*[)\].:(—–-]", after):
            return False
        exact = self.texts.match_beginning(after, lettered=False)
        return exact is not None and self.letters[exact.place] != letter and says_no_more(after[exact.end :])


single_letter = lazy_pattern(
    r"(?:{answer}[ \t:.-]+)?(?:{filler}[ \t,:]+(?=[^a-z]{0,8}(?-i:[A-Z])))?"
    rf"{OPENING}([A-Za-z])[\s\"'`*_)\]}}>$.,:;!?]*",
    re.IGNORECASE,
)
"""A reply that is one letter, in group 1, perhaps with marks and "answer"."""


def says_no_more(rest: str) -> bool:
    """Whether behind an option's text a statement ends, or the rest explains it."""
    ends = re.match(r"[\s\"'*_)\]}]*(?:[.;:!,(\n—–-]|$)", rest)
    return ends is not None or word_pattern("reason", before=r"\s+").match(rest) is not None


def first_line(text: str) -> str:
    """The first line of a text, "" for a text of marks alone."""
    return text.lstrip(MARKUP).splitlines()[0] if text.strip(MARKUP) else ""


_after_a = lazy_pattern(
    r"\s+(?:{and}|{or}|(?i:{reason}|{after_a}|{but}))|\s*$|\s*\n|\s*[^\w\s]|\s*[\u3040-\u9fff\uac00-\ud7af]"
)
"""What may follow an answer "A" where the article of "A nodule" may not: all but a word that goes with a noun."""
