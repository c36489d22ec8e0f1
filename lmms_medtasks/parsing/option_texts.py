"""The texts of a question's options, and the replies that say one of them in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmms_medtasks.parsing import option_words as words
from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.statements import is_left_open
from lmms_medtasks.parsing.quantities import Quantity, find_quantities, parse_quantity
from lmms_medtasks.parsing.texts import CJK, folded, normalised, without_accents

LONGEST = 600
"""Characters of a reply in which options' texts are looked for: a longer one weighs them, and is not summed up."""

_GENERIC = {
    "left", "right", "both", "neither", "none", "all", "other", "others", "normal", "abnormal", "present", "absent",
    "positive", "negative", "true", "false", "high", "low", "yes", "no", "unknown", "a", "b", "c", "d", "e", "i",
}  # fmt: skip
"""Words that a sentence about something else is likely to have too."""
_GENERIC_WORDS = 12
_A_SENTENCE = 300
_FEW_MORE = 12  # characters beside an option's text: an article, an adjective
_OUTER = " \t\r\n\"'`.,:;!$()[]{}"
_BALANCED = re.compile(r"(\*{1,3}|_{1,3}|`{1,3})(?=\S)(.*\S)\1", re.DOTALL)
_SEPARATOR = r"\s*(?:\*\*|__)?\s*(?:[).:\]}\"'`,;-]|[–—=(]|,?\s*(?:i\.e\.|that is|namely|which is|means|corresponding to),?)*\s*(?:\*\*|__)?\s*[(\"']?"


class Exact(NamedTuple):
    """An option that a text begins with, by its letter and text or by its text: ``end`` is where that ends."""

    place: int
    end: int


class OptionTexts:
    """The texts of a question's options, as shown; ``letters`` are theirs in order."""

    def __init__(self, options: Sequence[str]) -> None:
        self.letters = option_letters(len(options))
        shown = [normalised(option) for option in options]
        self._signed = [signed_key(each) for each in shown]
        self._quantities: list[Quantity | None] = [parse_quantity(each) for each in shown]
        self._worded = [worded_key(each) for each in shown]
        # The exact texts, longest first: of "Non-Hodgkin lymphoma" and "Hodgkin lymphoma" the one that is there.
        self._begins = [
            (place, re.compile(_loose(text), re.IGNORECASE))
            for place, text in sorted(enumerate(shown), key=lambda each: -len(each[1])) if text.strip(_OUTER)
        ]  # fmt: skip
        bounded = [each is not None and not each.plain for each in self._quantities]
        self._any = _search([each for each, known in zip(self._worded, bounded, strict=True)
                             if self._worded.count(each) == 1 and not known])  # fmt: skip
        self._places = {text: place for place, text in enumerate(self._worded)}
        self._parts = _own_parts(shown, self._worded)
        self._same = [place for place, each in enumerate(self._worded) if self._worded.count(each) > 1]

    @property
    def longest(self) -> int:
        """Characters of the longest text."""
        return max(map(len, self._signed), default=0)

    def equal(self, text: str) -> list[int]:
        """The places of the options that ``text`` is: by its signs and words, else as a quantity, else by its words."""
        signed = signed_key(text)
        if not signed:
            return []
        if _NUMBERS.fullmatch(signed):  # "160/100" of "160/100 mmHg"
            bare = [re.sub(r"\s?[a-zµ%°/]+$", "", each) for each in self._signed]
            if bare.count(signed) == 1 and signed not in self._signed:
                return [bare.index(signed)]
        if found := [place for place, each in enumerate(self._signed) if each == signed]:
            return found
        quantity = parse_quantity(text)
        if quantity is not None:
            for fits in (Quantity.says, Quantity.nearly):
                if found := [place for place, each in enumerate(self._quantities) if each and fits(each, quantity)]:
                    return found
            if any(self._quantities):
                return []
        worded = worded_key(text)
        return [
            place
            for place, each in enumerate(self._worded)
            if worded and each == worded and self._keeps_signs(place, signed)
        ]

    def _keeps_signs(self, place: int, signed: str) -> bool:
        """Whether a text equal in words to an option has its signs, where another option differs by signs alone."""
        return place not in self._same and not (re.search(r"[+*<>≤≥]|(?<=\w)-$", self._signed[place] + signed)
                                                and self._signed[place] != signed and self._same != [])  # fmt: skip

    def begins(self, text: str, lettered: bool) -> Exact | None:
        """The option whose text ``text`` begins with, to a word's end; with ``lettered`` after the option's own letter.

        "B. N/A", "(C) Stage III", "D, i.e. vitamin D", and "Stage III (C)".
        """
        start = len(text) - len(text.lstrip(_OUTER + "*_-#>|"))
        start -= start > 0 and text[start - 1] == "." and text[start : start + 1].isdigit()
        for place, pattern in self._begins:
            letter = self.letters[place]
            if lettered:
                match = re.compile(rf"[(\[*_\"']{{0,4}}{letter}{_SEPARATOR}(?<![^\W_])").match(text, start)
                found = pattern.match(text, match.end()) if match else None
                if match and found is None:  # the separator may have taken a mark of the text
                    bare = re.compile(rf"{letter}[).:\]*_]{{0,4}}\s{{0,3}}").match(text, start)
                    found = pattern.match(text, bare.end()) if bare else None
            else:
                found = pattern.match(text, start) or pattern.match(text)
            if found and (lettered or self._signed.count(self._signed[place]) == 1):
                return Exact(place, found.end())
        return None

    def concluded(self, sentence: str, last: bool) -> list[int]:
        """The place of the option that a concluding sentence of a longer reply says; [] where it concludes nothing.

        It concludes by its words ("therefore", "consistent with", "this is"); if it is the ``last`` one, also by a colon
        or by saying nothing else, and then it may name the option by a part that only this option has.
        """
        if len(sentence) > _A_SENTENCE or "?" in sentence or is_left_open(sentence):
            return []
        concludes = words.concluding().search(sentence) is not None
        places = self.said(sentence)
        if len(places) != 1:
            return self.partly_said(sentence) if not places and concludes else []
        if last and not concludes:
            # "... sits in the next one, L3."
            end = re.split(r"[,:—–]\s|\s-\s", sentence.rstrip(".! "))
            if len(end) > 1 and self.equal(end[-1]) == places and not self.equal(end[-2]):
                return places
        bare = len(worded_key(sentence)) <= len(self._worded[places[0]]) + _FEW_MORE
        return places if concludes or (last and (bare or ":" in sentence)) else []

    def partly_said(self, sentence: str) -> list[int]:
        """The only option of which a sentence says a part that no other option has: "the RCA", "an epidermoid", "type IV"."""
        folded_sentence = without_accents(folded(sentence))
        if words.HEDGE.search(folded_sentence):
            return []
        found: set[int] = set()
        for place, pattern in self._parts:
            text = sentence if pattern.pattern.isupper() else folded_sentence
            for match in pattern.finditer(text):
                clause = words.CLAUSE.split(text[: match.start()])[-1].casefold()
                if words.DENIED_BEFORE.search(clause) or words.DENIED_AFTER.match(text.casefold(), match.end()):
                    continue
                found.add(place)
        return sorted(found) if len(found) == 1 else []

    def said_in_other_order(self, sentence: str) -> list[int]:
        """The only option of several words all of whose words a sentence has: "a fracture of the femoral neck"."""
        text = without_accents(folded(sentence))
        if words.HEDGE.search(text) or words.DENIED_BEFORE.search(text):
            return []
        there = set(re.findall(r"[^\W_]+", text))
        found = [place for place, each in enumerate(self._worded)
                 if len(own := re.findall(r"[^\W_]{3,}", each)) > 1 and set(own) <= there]  # fmt: skip
        return found if len(found) == 1 else []

    def said(self, reply: str) -> list[int]:
        """The places of the options that ``reply`` says: one, several if it leaves open which, [] for none.

        A name counts in a reply of one sentence, or in one that says what something is ("shows", "suggests", "is").
        It does not where it is denied, conceded ("while the liver is visible, ...") or a neighbour ("next to the
        liver"); where it is hedged ("could be", "or", "?"), it leaves open which. Numbers are compared as quantities.
        """
        text = folded(reply)
        if len(text) > LONGEST or words.AROUND.search(text):
            return []
        if any(self._quantities) and (found := self._quantified(reply)):
            return found
        if self._any is None:
            return []
        sentences = len(re.findall(r"[.!?;\n]+(?=\s|$)", text.strip(" .!;\n"))) + 1
        asserted: set[str] = set()
        open_: set[str] = set()
        for clause, mark in words.clauses(text):
            kept = words.CONCEDED.sub(lambda match: " " * len(match[0]), clause)
            bare = without_accents(kept)
            matches = list(self._any.finditer(bare))
            outside = self._any.sub(" ", bare) if kept == bare else _blanked(kept, matches)
            hedged = mark == "?" or words.HEDGE.search(outside)
            identified = sentences == 1 or words.IDENTIFIES.search(outside)
            for match in matches:
                before = _blanked(kept, matches)[: match.start()]
                if words.DENIED_BEFORE.search(before) or words.DENIED_AFTER.match(kept, match.end()):
                    continue
                if words.DENIED_LATER.match(kept, match.end()):
                    continue
                if not self._fits(match, kept, text):
                    continue
                if hedged or not identified or words.AND.match(kept, match.end()):
                    open_.add(match[0])
                else:
                    asserted.add(match[0])
        if not asserted:
            return []
        return sorted({self._places[each] for each in asserted | open_})

    def _quantified(self, reply: str) -> list[int]:
        """The options whose quantities a reply of one sentence gives: those with a unit, a sign, a bound or a range."""
        given = [found for start, end, found in find_quantities(reply)
                 if not re.match(r"[^.;,\n]{0,40}\b(?:not|nicht|no es|n'est pas|excluded)\b", reply[end : end + 80])
                 and not words.DENIED_BEFORE.search(words.CLAUSE.split(folded(reply[max(0, start - 60) : start]))[-1])]  # fmt: skip
        if not given or len(given) > 12 or words.HEDGE_ANYWHERE.search(folded(reply)):
            return []
        for fits in (Quantity.says, Quantity.nearly):
            found = {place for place, each in enumerate(self._quantities) if each is not None and not each.plain
                     for quantity in given if not quantity.plain and fits(each, quantity)}  # fmt: skip
            if found:
                return sorted(found)
        return []

    def _fits(self, match: re.Match[str], clause: str, text: str) -> bool:
        """Whether a number or a word of everyday use stands where it is likely to be the answer."""
        if match[0][0].isdigit() and words.COMPARED.search(clause[: match.start()]):
            return False
        if words.NUMBER.fullmatch(match[0]):
            if words.UNIT.match(clause, match.end()):
                return False
            return len(words.NUMBER.findall(text)) == 1 and words.COUNTED.search(clause[: match.start()]) is not None
        return match[0] not in _GENERIC or len(text.split()) <= _GENERIC_WORDS


_NUMBERS = re.compile(r"\d+[/:]\d+")
_DISTINCT = 4
_ROMAN = re.compile(r"[ivx]{1,4}[ab]?|t?\d{1,2}[a-d]?")
_KIND = r"(?:grade|class|type|stage|category|level|score|grado|clase|tipo|estadio|categor[ií]a|typ|grad|stadium|klasse|stade|classe|grad[e]?|型|期|级|类)"


def _own_parts(shown: Sequence[str], worded: Sequence[str]) -> list[tuple[int, re.Pattern[str]]]:
    """Patterns of the parts of options' texts that only one option has: words, initials ("RCA"), numbers ("type IV")."""
    found: list[tuple[int, re.Pattern[str]]] = []
    tokens = [re.findall(r"[^\W_]+", text) for text in worded]
    for place, own in enumerate(tokens):
        others = {token for other, each in enumerate(tokens) if other != place for token in each}
        for token in dict.fromkeys(own):
            if token in others or token in _GENERIC:
                continue
            if (_ROMAN.fullmatch(token) or re.fullmatch("[a-h]", token)) and len(own) > 1:
                head = "|".join(re.escape(each) for each in own if each != token and len(each) > 2)
                kind = rf"(?:{_KIND}{'|' + head if head else ''})"
                found.append(
                    (place, re.compile(rf"(?<!\w){kind}\s{{0,2}}{token}(?!\w)|(?<!\w){token}\s?(?:型|期|级|类)"))
                )
            elif len(token) >= _DISTINCT and len(own) > 1 and token.isalpha():
                found.append((place, re.compile(rf"(?<![^\W_]){re.escape(token)}(?![^\W_])")))
        words_ = re.findall(r"[A-Za-z][\w'-]*", shown[place])
        initials = "".join(word[0] for word in words_).upper()
        if len(initials) > 2:
            found.append((place, re.compile(initials)))
    every = [pattern.pattern for _, pattern in found]
    return [(place, pattern) for place, pattern in found if every.count(pattern.pattern) == 1]


def signed_key(text: str) -> str:
    """A text in one case, without markup around it and marks at its ends; the signs in it and at its ends stay."""
    text = _strip_marks(" ".join(text.casefold().split()))
    while (match := _BALANCED.fullmatch(text)) is not None:
        text = match[2].strip(_OUTER)
    text = re.sub("[\u2010-\u2015\u2212]", "-", text).replace("\u2019", "'")
    text = re.sub(r"(?<=\d)\s?([:/])\s?(?=\d)", r"\1", text)
    return _strip_marks(text).removeprefix("- ")


def _strip_marks(text: str) -> str:
    """Without marks at its ends; the point of ".5" stays."""
    bare = text.strip(_OUTER)
    return f".{bare}" if re.search(rf"(?<!\d)\.{re.escape(bare)}", text) and bare[:1].isdigit() else bare


def worded_key(text: str) -> str:
    """A text's words: folded, without accents, marks at its ends and an article."""
    found = without_accents(folded(text)).strip(" .,:;!?\"'()[]{}-")
    return words.ARTICLE.sub("", found, count=1) if words.ARTICLE.match(found) else found


def _loose(text: str) -> str:
    """A pattern for a text with any white space, any dash, and a word's end after it."""
    parts = [re.escape(part) for part in text.strip().strip(".").split()]
    pattern = r"\s+".join(parts)
    pattern = re.sub(r"\\-|[\u2010-\u2015\u2212]", "[-\u2010-\u2015\u2212]", pattern)
    after = (
        r"(?![^\W_])(?![+*]\w)" if re.search(r"\w$", text.strip()) and not re.search(rf"[{CJK}]$", text.strip()) else ""
    )
    return pattern + after


def _search(texts: Sequence[str]) -> re.Pattern[str] | None:
    cjk = re.compile(rf"[{CJK}]")
    parts = [
        re.escape(text) if cjk.search(text) else rf"(?<![^\W_])(?<!\d[.,]){re.escape(text)}(?![^\W_])(?![.,]\d)"
        for text in sorted({text for text in texts if text}, key=len, reverse=True)
    ]
    return re.compile("|".join(parts)) if parts else None


def _blanked(clause: str, matches: Sequence[re.Match[str]]) -> str:
    """A clause with the options' own names blanked out: "no fracture" may be one."""
    for match in matches:
        clause = clause[: match.start()] + " " * (match.end() - match.start()) + clause[match.end() :]
    return clause
