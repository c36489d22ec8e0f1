"""The texts of a question's options, and the replies that say one of them in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lmms_medtasks.parsing.quantities import Quantity, find_quantities, parse_quantity
from lmms_medtasks.parsing.sentences import Clause, clause_before, split_clauses, split_sentences
from lmms_medtasks.parsing.texts import CJK, SIZE, fold_text, normalise_characters, option_letters, without_accents
from lmms_medtasks.parsing.words import any_of, lazy_pattern, word_pattern

LONGEST = 600
"""Characters of a reply in which options' texts are looked for: a longer one weighs them, and is not summed up."""
_GENERIC_WORDS = 12  # words of a reply up to which one of these is what it says
_A_SENTENCE = 300
_FEW_MORE = 12  # characters beside an option's text: an article, an adjective
_MANY_QUANTITIES = 12
_OUTER = " \t\r\n\"'`.,:;!$()[]{}"
_BALANCED = re.compile(r"(\*{1,3}|_{1,3}|`{1,3})(?=\S)(.*\S)\1", re.DOTALL)
_SAME_AS = r",?\s*(?:i\.e\.|that is|namely|which is|means|corresponding to),?"
_SEPARATOR = rf"\s*(?:\*\*|__)?\s*(?:[).:\]}}\"'`,;-]|[–—=(]|{_SAME_AS})*\s*(?:\*\*|__)?\s*[(\"']?"
MINUS_IN_BRACKETS = re.compile(r"(?:\([-\u2010-\u2015\u2212]\)|[✗✘✕❌☒])\s*$")
"""What denies the finding before it: "pneumonia (-)"."""
_FINAL_MINUS = re.compile(r"[\w(]-$")
_MINUS_APART = re.compile(r"\s*[-\u2010-\u2015\u2212]\s+(?=\d)")
_INITIAL = re.compile(r"^[a-z]\.\s?")
_SIGNS = re.compile(r"[+*<>≤≥]|(?<=\w)-$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_UNIT = re.compile(r"\s*(?:[mc]m|mg|ml|t|years?|months?|weeks?|days?|hours?|degrees?|°|%|-|/|:)(?![^\W_])|\s*[%°/:]")

GENERIC = frozenset(
    "left right both neither none all other others normal abnormal present absent positive negative true false high "
    "low yes no unknown a b c d e i".split()
)
"""Words that a sentence about something else is likely to have, too."""

_DISTINCT = 4
"""Letters from which on a word names an option."""
_ROMAN = re.compile(r"[ivx]{1,4}[ab]?|t?\d{1,2}[a-d]?")


class Exact(NamedTuple):
    """An option that a text begins with, by its letter and text or by its text: ``end`` is where that ends."""

    place: int
    end: int


class OptionTexts:
    """The texts of a question's options, as shown; ``letters`` are theirs in order, and places count from 0."""

    def __init__(self, options: Sequence[str]) -> None:
        self.letters = option_letters(len(options))
        shown = [normalise_characters(option) for option in options]
        self._signed = [signed_key(text) for text in shown]
        # A minus at its end is a part of an option: "HER2" is not "HER2-".
        self._worded = [
            worded_key(text) + ("-" if _FINAL_MINUS.search(signed) else "")
            for text, signed in zip(shown, self._signed, strict=True)
        ]
        self._quantities = [parse_quantity(text) for text in shown]
        # The exact texts, longest first: of "Non-Hodgkin lymphoma" and "Hodgkin lymphoma" the one that is there.
        by_length = sorted(enumerate(shown), key=lambda pair: -len(pair[1]))
        self._beginnings = [(index, _exact_pattern(text)) for index, text in by_length if text.strip(_OUTER)]
        told_apart = [self._worded.count(text) == 1 for text in self._worded]
        distinct = [
            text
            for text, alone, quantity in zip(self._worded, told_apart, self._quantities, strict=True)
            if alone and (quantity is None or quantity.plain)
        ]
        self._named = _names_pattern(distinct)
        self._places = {text: index for index, text in enumerate(self._worded)}
        self._parts = find_own_parts(shown, self._worded)
        self._differ_by_signs = [index for index, alone in enumerate(told_apart) if not alone]

    @property
    def longest(self) -> int:
        """Characters of the longest text."""
        return max(map(len, self._signed), default=0)

    def find_equal(self, text: str) -> list[int]:
        """The places of the options that ``text`` is: by its signs and words, else as a quantity, else by its words."""
        signed = signed_key(text)
        if not signed:
            return []
        if self._begins_with_minus(text):
            return self._find_signed(signed_key(_MINUS_APART.sub("-", text, count=1)))
        if indices := self._find_signed(signed):
            return indices
        if (quantity := parse_quantity(text)) is not None:
            if indices := self._find_quantities([quantity], plain=True):
                return indices
            if any(self._quantities):
                return []
        worded = "" if MINUS_IN_BRACKETS.search(text) else worded_key(text)
        return [
            index
            for index, worded_option in enumerate(self._worded)
            if worded and worded_option == worded and self._has_signs(index, signed)
        ]

    def find_beginning_or_end(self, text: str) -> list[int]:
        """The place of the only option whose text begins or ends with the words of ``text``: "IVb", "P. vivax"."""
        words = _INITIAL.sub("", worded_key(text))
        if len(words) < 3 or words.isdigit() or words in GENERIC or word_pattern("denied_before").search(words):
            return []
        indices = [
            index
            for index, worded_option in enumerate(self._worded)
            if worded_option.endswith(f" {words}") or worded_option.startswith(f"{words} ")
        ]
        return indices if len(indices) == 1 and words not in self._worded else []

    def match_beginning(self, text: str, lettered: bool) -> Exact | None:
        """The option whose text ``text`` begins with, to a word's end; with ``lettered`` after the option's own letter.

        "B. N/A", "(C) Stage III", "D, i.e. vitamin D".
        """
        if not lettered and self._begins_with_minus(text):
            return None
        start = len(text) - len(text.lstrip(_OUTER + "*_-#>"))
        for index, pattern in self._beginnings:
            if lettered:
                match = _match_lettered(self.letters[index], pattern, text, start)
            else:
                match = pattern.match(text, start) or pattern.match(text)
            if match and (lettered or self._signed.count(self._signed[index]) == 1):
                return Exact(index, match.end())
        return None

    def find_said(self, reply: str) -> list[int]:
        """The places of the options that ``reply`` says: one, several if it leaves open which, [] for none.

        A name counts in a reply of one sentence, or in one that says what something is ("shows", "suggests", "is").
        It does not where it is denied, conceded ("while the liver is visible, ...") or a neighbour ("next to the
        liver"); where it is hedged ("could be", "or", "?"), it leaves open which. Numbers are compared as quantities.
        """
        text = fold_text(reply)
        if len(text) > LONGEST or word_pattern("idiom").search(text):
            return []
        if any(self._quantities) and (indices := self._find_given(reply)):
            return indices
        if self._named is None:
            return []
        alone = len(split_sentences(text.strip(" .!;\n"))) <= 1
        asserted: set[str] = set()
        left_open: set[str] = set()
        clauses = split_clauses(text)
        for clause, following in zip(clauses, [*clauses[1:], None], strict=True):
            if clause.mark == ":" and following and word_pattern("denied_state", before=r"\s*").match(following.text):
                continue
            sure, unsure = self._find_names(self._named, clause, text, alone)
            asserted |= sure
            left_open |= unsure
        return sorted({self._places[name] for name in asserted | left_open}) if asserted else []

    def find_all_said(self, reply: str) -> list[str]:
        """The letters of all options that a reply says, without doubt, and none where it may deny one.

        What is denied must come last: in "edema, no mass, effusion" it is not sure of what the "no" is said.
        """
        text = fold_text(reply)
        denial = word_pattern("denied_before").search(text)
        if self._named is None or "{" in text or _hedge_pattern().search(text):
            return []
        said_letters = [self.letters[index] for index in self.find_said(reply)]
        behind = text[denial.end() :] if denial else ""
        unsure = any(
            self._named.search(part) and not word_pattern("denied_before").search(part)
            for part in re.split(r"[.;]|\bbut\b", behind)[1:]
        )
        listed = [
            self.letters[self._places[match[0]]]
            for match in self._named.finditer(without_accents(text[: denial.start()] if denial else text))
        ]
        return [] if unsure or set(said_letters) != set(listed) else said_letters

    def find_concluded(self, sentence: str, last: bool) -> list[int]:
        """The place of the option that a concluding sentence of a longer reply says; [] where it concludes nothing.

        It concludes by its words ("therefore", "consistent with", "this is") or a colon, and then may name the option
        by a part that only this option has; the ``last`` sentence of a reply also concludes by saying nothing else.
        """
        from lmms_medtasks.parsing.statements import is_left_open

        if len(sentence) > _A_SENTENCE or "?" in sentence or is_left_open(sentence):
            return []
        concludes = word_pattern("concludes", after="|[:：→]").search(sentence) is not None
        places = self.find_said(sentence)
        if len(places) != 1:
            return self.find_partly_said(sentence) if not places and concludes else []
        bare = len(worded_key(sentence)) <= len(self._worded[places[0]]) + _FEW_MORE
        return places if concludes or (last and bare) else []

    def find_in_other_order(self, sentence: str) -> list[int]:
        """The place of the only option all of whose words a sentence has: "a fracture of the femoral neck"."""
        text = without_accents(fold_text(sentence))
        if _hedge_pattern().search(text) or any(
            word_pattern(f"denied_{side}").search(text) for side in ("before", "after")
        ):
            return []
        there = set(re.findall(r"[^\W_]+", text))
        words = [re.findall(r"[^\W_]{3,}", option_words) for option_words in self._worded]
        indices = [
            index for index, option_words in enumerate(words) if len(option_words) > 1 and set(option_words) <= there
        ]
        return indices if len(indices) == 1 else []

    def find_partly_said(self, sentence: str) -> list[int]:
        """The place of the only option of which a sentence says a part that no other has: "the RCA", "type IV"."""
        folded_sentence = without_accents(fold_text(sentence))
        if _hedge_pattern().search(folded_sentence):
            return []
        indices: set[int] = set()
        for index, pattern in self._parts:
            text = sentence if pattern.pattern.isupper() else folded_sentence
            for match in pattern.finditer(text):
                before = clause_before(text, match.start()).casefold()
                if not _is_denied(before, text.casefold(), match.end()):
                    indices.add(index)
        return sorted(indices) if len(indices) == 1 else []

    def _find_names(
        self, names_pattern: re.Pattern[str], clause: Clause, text: str, alone: bool
    ) -> tuple[set[str], set[str]]:
        """The options' names that a clause asserts, and those that it leaves open. ``alone``: there is one sentence."""
        unconceded = _concession_pattern().sub(lambda match: " " * len(match[0]), clause.text)
        matches = list(names_pattern.finditer(without_accents(unconceded)))
        outside = _blank_out(unconceded, matches)
        decided = clause.mark != "?" and not _hedge_pattern().search(outside)
        identified = alone or word_pattern("identifies", after="|:").search(outside) is not None
        asserted: set[str] = set()
        left_open: set[str] = set()
        for match in matches:
            if _is_denied(outside[: match.start()], unconceded, match.end()) or _is_denied_later(
                unconceded, match.end()
            ):
                continue
            if self._is_meant(match, unconceded, text):
                sure = decided and identified and not _listed_behind().match(unconceded, match.end())
                (asserted if sure else left_open).add(match[0])
        return asserted, left_open

    def _find_given(self, reply: str) -> list[int]:
        """The options whose quantities a reply gives: those with a unit, a sign, a bound or a range."""
        quantities = find_quantities(reply)
        given = [quantity for start, end, quantity in quantities if not _is_quantity_denied(reply, start, end)]
        undecided = word_pattern("quantity_undecided", after=r"|\?").search(fold_text(reply))
        return [] if len(given) > _MANY_QUANTITIES or undecided else self._find_quantities(given, plain=False)

    def _find_quantities(self, given: Sequence[Quantity], plain: bool) -> list[int]:
        """The options that are one of the quantities given; ``plain``: numbers without a unit or a sign count, too."""
        points = {
            option_quantity.low
            for option_quantity in self._quantities
            if option_quantity and option_quantity.low == option_quantity.high
        }
        near = [quantity for quantity in given if not {quantity.low, quantity.high} & points]
        # "≤3 cm" is not "<3 cm" where another option is 3 cm.
        for fits, candidates in ((Quantity.says, given), (Quantity.nearly, near)):
            indices = [
                index
                for index, option_quantity in enumerate(self._quantities)
                if option_quantity is not None
                and (plain or not option_quantity.plain)
                and any(fits(option_quantity, quantity) for quantity in candidates if plain or not quantity.plain)
            ]
            if indices:
                return indices
        return []

    def _begins_with_minus(self, text: str) -> bool:
        """Whether "- 1" is minus one and no item of a list: -1 is an option."""
        return _MINUS_APART.match(text) is not None and bool(self._find_signed(signed_key(_MINUS_APART.sub("-", text))))

    def _find_signed(self, signed: str) -> list[int]:
        return [index for index, signed_option in enumerate(self._signed) if signed_option == signed]

    def _has_signs(self, index: int, signed: str) -> bool:
        """Whether a text equal in words to an option has its signs, where options differ by signs alone."""
        if index in self._differ_by_signs:
            return False
        signed_option = self._signed[index]
        return not (self._differ_by_signs and signed_option != signed and _SIGNS.search(signed_option + signed))

    def _is_meant(self, match: re.Match[str], clause: str, text: str) -> bool:
        """Whether a number or a word of everyday use stands where it is likely to be the answer."""
        name, before = match[0], clause[: match.start()]
        if name[0].isdigit() and word_pattern("compared", after=r"\s*$").search(before):
            return False
        if _NUMBER.fullmatch(name):
            counted = word_pattern("counted", before="(?:^|[:=]|", after=r")\s*$").search(before) is not None
            return not _UNIT.match(clause, match.end()) and len(_NUMBER.findall(text)) == 1 and counted
        return name not in GENERIC or len(text.split()) <= _GENERIC_WORDS


# --- Forms of a text --------------------------------------------------------------------------------------------------


def signed_key(text: str) -> str:
    """A text in one case, without markup around it and marks at its ends; the signs in it and at its ends stay."""
    text = " ".join(text.casefold().split()).strip(_OUTER)
    while (match := _BALANCED.fullmatch(text)) is not None:
        text = match[2].strip(_OUTER)
    text = re.sub("[\u2010-\u2015\u2212]", "-", text).replace("\u2019", "'")
    text = SIZE.sub("x", re.sub(r"(?<=\d)\s?([:/])\s?(?=\d)", r"\1", text))
    return text.strip(_OUTER).removeprefix("- ")


def worded_key(text: str) -> str:
    """A text's words: folded, without accents, marks at its ends and an article."""
    stripped = without_accents(fold_text(text)).strip(" .,:;!?\"'()[]{}-")
    return word_pattern("article", before="^(?:", after=r"\s+|l')").sub("", stripped)


def _exact_pattern(text: str) -> re.Pattern[str]:
    """A pattern for a text with any white space, any dash, and a word's end after it."""
    pattern = r"\s+".join(re.escape(part) for part in text.strip().strip(".").split())
    pattern = re.sub(r"\\-|[\u2010-\u2015\u2212]", "[-\u2010-\u2015\u2212]", pattern)
    ends_a_word = re.search(rf"\w(?<![{CJK}])$", text.strip()) is not None
    return re.compile(pattern + (r"(?![^\W_])(?![+*]\w)" if ends_a_word else ""), re.IGNORECASE)


def _match_lettered(letter: str, pattern: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    match = re.compile(rf"[(\[*_\"']{{0,4}}{letter}{_SEPARATOR}(?<![^\W_])").match(text, start)
    if match is None:
        return None
    # The separator may have taken a mark of the text: "C. (+) strand".
    bare = re.compile(rf"{letter}[).:\]*_]{{0,4}}\s{{0,3}}").match(text, start)
    return pattern.match(text, match.end()) or (pattern.match(text, bare.end()) if bare else None)


def _names_pattern(texts: Sequence[str]) -> re.Pattern[str] | None:
    """A pattern for any of the texts, longest first, as words of their own; None without any."""
    parts = [
        re.escape(text)
        if re.search(f"[{CJK}]", text)
        else rf"(?<![^\W_])(?<!\d[.,]){re.escape(text)}(?![^\W_])(?![.,]\d)"
        for text in sorted(filter(None, set(texts)), key=len, reverse=True)
    ]
    return re.compile("|".join(parts)) if parts else None


# --- Around a name, in a folded text ----------------------------------------------------------------------------------


_hedge_pattern = lazy_pattern(r"{undecided}|\?", re.IGNORECASE)


_concession_pattern = lazy_pattern(r"^\W*{concede}[^,]*(?:,|$)", re.IGNORECASE)


_listed_behind = lazy_pattern(r"\s*{and}|\s*,\s*(?:\w+\s+){0,2}?(?:\w+,|{and}|{or})")
"""Behind a name: another one is coming."""


def _is_denied(before: str, text: str, end: int) -> bool:
    """Whether what stands ``before`` a name in its clause, or right behind its ``end`` in ``text``, denies it."""
    if word_pattern("denied_before").search(before) or word_pattern("clear_behind", before=r"\s*").match(text, end):
        return True
    return word_pattern("denied_after", before=r"\s*(?:\w+\s+)?").match(text, end) is not None


def _is_quantity_denied(reply: str, start: int, end: int) -> bool:
    before = split_clauses(fold_text(reply[max(0, start - 60) : start]))[-1].text
    behind = word_pattern("quantity_denied", before=r"[^.;,\n]{0,40}").match(reply[end : end + 80])
    return behind is not None or word_pattern("denied_before").search(before) is not None


def _is_denied_later(clause: str, end: int) -> bool:
    denied = word_pattern("denied_later", before="[^.;]{0,40}?").match(clause, end)
    return bool(denied or word_pattern("supposed_later", before="[^.;,]{0,30}").match(clause, end))


def _blank_out(clause: str, matches: Sequence[re.Match[str]]) -> str:
    """A clause with the options' own names blanked out: "no fracture" may be one."""
    for match in matches:
        clause = clause[: match.start()] + " " * len(match[0]) + clause[match.end() :]
    return clause


def find_own_parts(shown: Sequence[str], worded: Sequence[str]) -> list[tuple[int, re.Pattern[str]]]:
    """The parts that only one option has, as patterns with their option's place.

    They are words, initials ("RCA" for "right coronary artery", in capitals), and numbers with the word before them
    ("type IV"). ``worded``: :func:`worded_key` of each option.
    """
    tokens = [re.findall(r"[^\W_]+", text) for text in worded]
    patterns = [
        (index, pattern)
        for index, option_tokens in enumerate(tokens)
        for pattern in (
            *_iter_words(option_tokens, set().union(*tokens[:index], *tokens[index + 1 :])),
            *_iter_initials(shown[index]),
        )
    ]
    counts = Counter(pattern for _, pattern in patterns)
    return [(index, re.compile(pattern)) for index, pattern in patterns if counts[pattern] == 1]


def _iter_words(option_tokens: Sequence[str], others: set[str]) -> Iterator[str]:
    """Patterns of the words of one option that are not ``others``'; of one word the whole is looked for anyway."""
    if len(option_tokens) < 2:
        return
    for token in dict.fromkeys(option_tokens):
        if token in others or token in GENERIC:
            continue
        if _ROMAN.fullmatch(token):
            heads = [re.escape(word) for word in option_tokens if word != token and len(word) > 2]
            kind = f"(?:{'|'.join([any_of('kind'), *heads])})"
            yield rf"(?<!\w){kind}\s{{0,2}}{token}(?!\w)|(?<!\w){token}\s?{any_of('kind', 'zh')}"
        elif len(token) >= _DISTINCT and token.isalpha():
            yield rf"(?<![^\W_]){re.escape(token)}(?![^\W_])"


def _iter_initials(text: str) -> Iterator[str]:
    initials = "".join(word[0] for word in re.findall(r"[A-Za-z][\w'-]*", text)).upper()
    if len(initials) > 2:
        yield initials
