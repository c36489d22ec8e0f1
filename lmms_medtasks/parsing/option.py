"""Reading the chosen option from a reply in free text, for benchmarks whose paper states no rule of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing.choice import option_letters
from lmms_medtasks.parsing.replies import Outcome, text_or_outcome

Status = Literal["ok", "unreadable", "ambiguous", "refused"] | Outcome
"""ok: one option was read. unreadable: a reply with words and without an option. ambiguous: several, and nothing says
which. refused: the model says that it will not or cannot answer."""

Rule = Literal["single_letter", "boxed", "statement", "predicate", "bold", "leading", "text", "brackets", ""]
"""What the answer was read from, in the order in which it is looked for; "" if nothing was."""


@dataclass(frozen=True)
class OptionReading:
    """What was read from one reply. ``value`` is an option's letter if ``status`` is "ok", else ""; ``text`` is the
    part of the reply that it was read from."""

    status: Status
    value: str = ""
    rule: Rule = ""
    text: str = ""


# At most a few marks: a search must not take quadratic time over a long run of them.
_OPEN, _CLOSE = r"[\s\"'`*_(\[{<$]{0,8}", r"[\"'`*_)\]}>$]{0,8}"
_MARKUP = " \t\r\n\"'`*_.,:;!$()[]{}<>#-"
_SINGLE = re.compile(rf"(?:(?i:option|answer|choice|letter)[ \t]+)?{_OPEN}([A-Za-z])[\s\"'`*_)\]}}>$.,:;!]*")
_BOXED = re.compile(
    r"\\boxed\s*\{\s*(?:\\(?:text|mathrm|textbf|mathbf)\s*\{\s*)?([^{}]*)\}|<answer>(.*?)</answer>|"
    r"[\"']answer[\"']\s*:\s*[\"']([^\"'\n]*)[\"']",
    re.IGNORECASE | re.DOTALL,
)
_FILLER = r"(?:(?:most likely|likely|probably|clearly|definitely|therefore|thus|option|choice|letter|answer|the)\s+)*"
_STATEMENT = re.compile(
    r"\b(?:answer|choice|selection|option|letter)\b(?:\s+(?:letter|choice|option|here))?[\"'`*_)]*\s*"
    r"(?::|=|->|→|\bis\b:?|\bwould be\b|\bshould be\b|\bmust be\b)[\s\"'`*_]*" + _FILLER
    + r"|\b(?:choose|select|pick|go with|going with|opt for|settle on)\s+" + _FILLER
    + r"|\b(?:it is|it['’]s|this is|that is|that['’]s|must be|would be)\s+(?:option\s+|choice\s+|letter\s+)?"
    r"(?=[(*]*[A-Z][)*]*\s*(?:[.,;:!]|$))"
    r"|\b(?:therefore|thus|hence|so)[,:]?\s+(?=[(*]*[A-Z][)*]*\s*(?:[.;!]|$))",
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
_PREDICATE = re.compile(
    rf"(?<![^\W_])({_OPEN}[A-Z]{_CLOSE})\s+(?:is|seems|appears(?: to be)?|must be)\s+(?:the\s+)?(?:single\s+|most\s+)?"
    r"(?:correct|right|best|answer|appropriate|accurate|likely|consistent|true)\b"
)
_BOLD = re.compile(r"(?:\*\*|__)[ \t]*(\(?[A-Z](?:[.):][^*_\n]*|\)?))[ \t]*(?:\*\*|__)")
_LEADING = re.compile(
    r"^[ \t>*_#-]*(?:(?i:option|answer|choice|letter)[ \t]+)?([(\[]?[A-Z](?![^\W_]).*)$", re.MULTILINE
)
# What may come between such a letter and the rest of its line: a mark, a dash, or a reason.
_MARKED = re.compile(r"[)\].:]\**\s|[ \t]+[-–—][ \t]+(?![A-Z]\b)\w|,?[ \t]+(?:because|since|as|due to|given)\b")
# "A) is a cyst", "B) shows a stone": going through the options. What says that one is right is a predicate.
_TOLD_OF = re.compile(r"[)\].:]?\**[ \t]+(?:is|are|was|seems|appears|shows|would|could|can|may|might|does)\b")
_LABELLED = re.compile(r"(?<![^\W_])(?:\(([A-Z])\)|([A-Z])\))")
_BRACKETS = re.compile(r"[(\[]([A-Z])[)\]]")
_LIST = re.compile(r"[(\[]?[A-Z][)\].]?(?:(?:\s*[,/&]\s*|\s+)(?:(?:or|and)\s+)?[(\[]?[A-Z][)\].]?)+\.?")
_AND_ANOTHER = re.compile(
    r"[)\].\"'`*_]*\s*(?:[,/&+]|\bor\b|\band\b)+\s*(?:option\s+)?[(\[*]*([A-Z])(?![^\W_])(.*)", re.DOTALL
)
_NEGATED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bcannot|\bincorrect|\bwrong|\brather than|\binstead of|\bexclude|\brule out)"
    r"(?:\s+(?:the|an?|to|be))*(?:\s+(?:correct|right|best|final))?\s*$",
    re.IGNORECASE,
)
# What may follow an answer "A" where the article of "A nodule" may not: everything but a word that goes with a noun.
_AFTER_A = re.compile(
    r"\s+(?:because|since|as|is|was|and|or|with|due|given|based|for|would|seems|which|but|if|in|on|from|by|should|"
    r"appears|represents|describes|fits|best|most)\b|\s*$|\s*\n|\s*[^\w\s]"
)
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑–](?=[^\W\d_])")  # between letters only: "1-2" is not "1 2"
# Not "A": it may be a letter.
_ARTICLE = re.compile(r"(?:an|An|the|The|a)\s+")
_REFUSAL = re.compile(
    r"\b(?:i|we)(?:['’]m| am| are)?\s+(?:(?:really|truly|very|so)\s+)?(?:sorry|unable|not able|afraid)\b"
    r"|\b(?:i|we)\s+(?:cannot|can['’]?t|can not|won['’]?t|will not|do not|don['’]?t|could not|couldn['’]?t)\s+"
    r"(?:\w+\s+){0,2}?(?:answer|assist|help|provide|determine|diagnose|interpret|see|view|analy[sz]e|identify|tell|know|"
    r"comment|give|say|make|offer|choose|decide)\b"
    r"|\bas an ai\b|\b(?:cannot|can ?not|can['’]t) be (?:answered|determined)\b"
    r"|\b(?:not enough|insufficient) information\b|\bunable to (?:answer|determine|assist|provide|view|see)\b"
    r"|\bconsult (?:a|your|with a) (?:doctor|physician|healthcare|medical)",
    re.IGNORECASE,
)  # fmt: skip


def read_option(reply: str | None, options: Sequence[str]) -> OptionReading:
    """Read which of ``options`` (their texts, in the order shown) a reply chooses.

    What comes first in this list decides, and what comes last in the reply among the same kind:

    1. ``single_letter``: the reply is a letter, in any case, perhaps in brackets or bold, with a full stop; "Option C".
    2. ``boxed``: ``\\boxed{C}``, ``<answer>C</answer>``, ``"answer": "C"``.
    3. ``statement``: "answer: C", "the answer is (C)", "the correct option is C", "I choose C", "it is C.", "so, C";
       or the same with an option's text in place of the letter.
    4. ``predicate``: "C is correct", "B is the best answer".
    5. ``bold``: ``**C**``, ``**C. text**``, if all bold letters are the same.
    6. ``leading``: lines "C. text", "(C) text", "C - text", "C because ...", and "C text" with the option's own
       text, if all such lines have the same letter. "A) is wrong ..." goes through the options and is none.
    7. ``text``: the reply, or its last line, is the text of one option (case, white space, punctuation and an article
       apart). An option's text that begins with a letter of its own ("E. coli") is read as the text everywhere.
    8. ``brackets``: "pneumonia (C)", if all bracketed letters are the same, and the reply refuses nothing.

    A capital A before a word is an article, and a letter after another word ("grade B", "vitamin C") is none of the
    above. "B or C" is ambiguous, and so are a letter with another option's text and the text of two options alike. A
    letter beyond the last option is no answer. Nothing is guessed from texts that merely mention an option.
    """
    text, outcome = text_or_outcome(reply)
    if outcome:
        return OptionReading(outcome)
    return _Reader(options).read(text.strip())


class _Reader:
    def __init__(self, options: Sequence[str]) -> None:
        self._letters = option_letters(len(options))
        self._texts = [_plain(option) for option in options]
        # No further is looked for an option's text: a long line with many statements would take quadratic time.
        self._reach = 200 + max(map(len, options), default=0)

    def read(self, text: str) -> OptionReading:
        single = _SINGLE.fullmatch(text)
        if single:
            return self._letter(single.group(1).upper(), "single_letter", text)
        if _LIST.fullmatch(text):
            return OptionReading("ambiguous", text=text)
        for found in (self._boxed(text), self._stated(text), self._predicated(text)):
            if found is not None:
                return found
        several = False
        bold = [self._chosen(part, "bold") for part in _BOLD.findall(text)]
        for readings in (bold, [self._led(line.strip()) for line in _LEADING.findall(text)]):
            found = self._same(readings)
            if found is not None and found.status == "ok":
                return found
            several = several or found is not None
        whole = self._of_text(text) or self._of_text(text.splitlines()[-1] if text else "")
        if whole is not None:
            return whole
        if _REFUSAL.search(text):
            return OptionReading("refused", text=_REFUSAL.search(text).group())  # type: ignore[union-attr]
        brackets = self._same([self._letter(letter, "brackets", f"({letter})") for letter in _BRACKETS.findall(text)])
        if brackets is not None and not several:
            return brackets
        return OptionReading("ambiguous" if several else "unreadable")

    def _letter(self, letter: str, rule: Rule, text: str) -> OptionReading:
        if letter not in self._letters:
            return OptionReading("unreadable", text=text)
        return OptionReading("ok", letter, rule, text)

    def _boxed(self, text: str) -> OptionReading | None:
        found = None
        for match in _BOXED.finditer(text):
            inside = next(group for group in match.groups() if group is not None)
            found = self._chosen(inside, "boxed") or found
        return found

    def _stated(self, text: str) -> OptionReading | None:
        found = None
        for match in _STATEMENT.finditer(text):
            if _negated(text, match.start()):
                continue
            rest = text[match.end() : match.end() + self._reach]
            found = self._chosen(rest, "statement") or found
        return found

    def _predicated(self, text: str) -> OptionReading | None:
        matches = [match for match in _PREDICATE.finditer(text) if not _negated(text, match.start())]
        # Not the last one: "B is correct for adults, C is likely in children" says nothing.
        return self._same(
            [self._letter(match.group(1).strip(_MARKUP), "predicate", match.group()) for match in matches]
        )

    def _same(self, readings: Sequence[OptionReading | None]) -> OptionReading | None:
        """The reading that all agree on; ambiguous if they don't; None without any."""
        known = [reading for reading in readings if reading is not None and reading.status != "unreadable"]
        if not known:
            return None
        return known[-1] if len({(each.status, each.value) for each in known}) == 1 else OptionReading("ambiguous")

    def _chosen(self, rest: str, rule: Rule) -> OptionReading | None:
        """What the beginning of ``rest`` chooses: a letter, or its first line or sentence as an option's text."""
        line = rest.lstrip(_MARKUP).splitlines()[0] if rest.strip(_MARKUP) else ""
        match = re.match(rf"{_OPEN}([A-Za-z])(?![^\W_]|-\w)", rest)
        # The text of an option may begin with a letter of its own: "E. coli", "B-cell lymphoma".
        if match and (found := self._of_text(line, rule)):
            return found
        if match:
            letter, after = match.group(1), rest[match.end() :]
            if self._is_letter(letter, after):
                return self._with_text(letter.upper(), after, rule, rest)
        return self._of_text(line, rule)

    def _led(self, line: str) -> OptionReading | None:
        """What a line chooses that starts with a letter: it has nothing else, the option's text, or a mark after it."""
        if found := self._of_text(line):
            return found
        bracket = line[0] in "(["
        letter, rest = line[bracket], line[bracket + 1 :]
        named = self._named(rest)
        if _TOLD_OF.match(rest) or not (named or not rest.strip(_MARKUP) or _MARKED.match(rest)):
            return None
        others = {first or second for first, second in _LABELLED.findall(rest)} - {letter}
        if letter not in named and (named or others & set(self._letters)):
            return OptionReading("ambiguous", text=line[:80])
        return self._letter(letter, "leading", line[:80])

    def _is_letter(self, letter: str, after: str) -> bool:
        if letter in "AI":
            return _AFTER_A.match(after) is not None
        return letter.isupper() or re.match(r"[)\]}\"'`*_$]*\s*(?:[.,:;!)\]}]|\n|$)", after) is not None

    def _with_text(self, letter: str, after: str, rule: Rule, rest: str) -> OptionReading:
        another = _AND_ANOTHER.match(after)
        if another and another.group(1) != letter and self._is_letter(another.group(1), another.group(2)):
            return OptionReading("ambiguous", text=rest[:80])
        named = self._named(after.splitlines()[0] if after.strip(_MARKUP) else "")
        if named and letter not in named:
            return OptionReading("ambiguous", text=rest[:80])
        return self._letter(letter, rule, rest[:80].strip())

    def _named(self, text: str) -> list[str]:
        """The letters of the options whose text is ``text``, an article before it apart."""
        wanted = {_plain(text), _plain(_ARTICLE.sub("", text.strip(_MARKUP), count=1))} - {""}
        return [letter for letter, option in zip(self._letters, self._texts, strict=True) if option in wanted]

    def _of_text(self, text: str, rule: Rule = "text") -> OptionReading | None:
        for part in (text, *_sentences(text)):
            # A letter is the letter of an option, whatever the options' texts.
            named = [] if _SINGLE.fullmatch(part) else self._named(part)
            if len(named) > 1:
                return OptionReading("ambiguous", text=part)
            if named:
                return OptionReading("ok", named[0], rule, part)
            if rule == "text":
                break  # only what is stated as the answer may have more after it
        return None


def _negated(text: str, place: int) -> bool:
    """Whether what stands before ``place`` turns what follows into its opposite."""
    return _NEGATED.search(text[max(0, place - 60) : place]) is not None


def _sentences(text: str) -> Iterator[str]:
    """The beginnings of ``text`` that end at a sentence's end."""
    for match in re.finditer(r"[.;](?=\s)", text):
        yield text[: match.start()]


def _plain(text: str) -> str:
    """Case, white space, hyphens, markup and punctuation at the ends apart."""
    return " ".join(_HYPHEN.sub(" ", text.casefold()).split()).strip(_MARKUP)
