"""Reading the chosen option from a reply in free text: the one reader of letters of all benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing import words
from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.option_texts import OptionTexts
from lmms_medtasks.parsing.replies import text_or_outcome
from lmms_medtasks.parsing.reply import Outcome, Reply
from lmms_medtasks.parsing.yes_no import read_yes_no, yes_or_no

Status = Literal["ok", "unreadable", "ambiguous", "refused"] | Outcome
"""ok: one option was read. unreadable: a reply with words and without an option. ambiguous: several, and nothing says
which. refused: the model says that it will not or cannot answer."""

Rule = Literal[
    "single_letter",
    "boxed",
    "statement",
    "predicate",
    "bold",
    "leading",
    "last",
    "text",
    "brackets",
    "yes_no",
    "said",
    "",
]
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
_SINGLE = re.compile(rf"(?:(?i:{words.ANSWER})[ \t]+)?{_OPEN}([A-Za-z])[\s\"'`*_)\]}}>$.,:;!]*")
_KEY = (
    r"[\w ]{0,30}(?:answer|choice|option|letter|prediction|respuesta|opci[oó]n|r[eé]ponse|antwort|答案|选项)[\w ]{0,10}"
)
_BOXED = re.compile(
    r"\\boxed\s*\{([^{}]*)\}|<answer>(.{0,2000}?)</answer>|[\"']" + _KEY + r"[\"']\s*:\s*[\"']([^\"'\n]*)[\"']",
    re.IGNORECASE | re.DOTALL,
)
_STATEMENT = re.compile(
    rf"{words.ANSWER_IS}[\s\"'`*_]*{words.FILLER}|{words.CHOOSE}{words.FILLER}|{words.IT_IS}|{words.SO}|{words.CONTRAST}"
    rf"|{words.LEFT_OVER}",
    re.IGNORECASE | re.MULTILINE,
)
_ALSO = re.compile(words.ALSO, re.MULTILINE)
_PREDICATE = re.compile(
    rf"(?<![^\W_])({_OPEN}[A-Z]{_CLOSE}){words.IS_RIGHT}|\b(?i:option|choice|letter)\s+({_OPEN}[a-z]{_CLOSE}){words.IS_RIGHT}"
)
_BOLD = re.compile(r"(?:\*\*|__)[ \t]*(\(?[A-Z](?:[.):][^*_\n]*|\)?))[ \t]*(?:\*\*|__)")
_LEADING = re.compile(
    rf"^[ \t>*_#-]*(?:(?i:{words.ANSWER})[ \t]+)?([(\[]?[A-Z](?![^\W_]).*|[(\[]?[a-z][).:].*)$", re.MULTILINE
)
# What may come between such a letter and the rest of its line: a mark, a dash, or a reason.
_MARKED = re.compile(rf"[)\].:]\**\s|[ \t]+[-–—][ \t]+(?![A-Z]\b)\w|,?[ \t]+{words.REASON}")
# "A) is a cyst", "B) shows a stone": going through the options. What says that one is right is a predicate.
_TOLD_OF = re.compile(r"[)\].:]?\**[ \t]+(?:is|are|was|seems|appears|shows|would|could|can|may|might|does)\b")
_LABELLED = re.compile(r"(?<![^\W_])(?:\(([A-Z])\)|([A-Z])(?:\)|:\s))")
_QUESTION = re.compile(r"[^.!\n]{0,40}\?")
_SENTENCE_END = re.compile(r"[.!?;\n]")
_BRACKETS = re.compile(r"[(\[]([A-Z])[)\]]")
_LAST = re.compile(r"[.?!]\s+[(\[*]{0,3}([A-Z])[)\]*]{0,3}\.?\s*$")
_LIST = re.compile(r"[(\[]?[A-Z][)\].]?(?:(?:\s*[,/&]\s*|\s+)(?:(?:or|and)\s+)?[(\[]?[A-Z][)\].]?)+\.?")
_AND_ANOTHER = re.compile(
    r"[)\].\"'`*_]*\s*(?:[,/&+|]|\b(?:or|and|o|y|ou|et|oder|und)\b|或|和)+\s*(?:option\s+)?[(\[*\"']*([A-Z])(?![^\W_])(.*)",
    re.DOTALL,
)
# What may follow an answer "A" where the article of "A nodule" may not: everything but a word that goes with a noun.
_AFTER_A = re.compile(
    rf"\s+(?:{words.REASON}|is|was|and|or|with|based|for|would|seems|which|but|if|in|on|from|by|should|"
    r"appears|represents|describes|fits|best|most|y|et|und|o|ou|oder|pero|mais|aber)\b|\s*$|\s*\n|\s*[^\w\s]|\s*[\u3400-\u9fff]"
)
_STATEMENTS = 1000
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑–](?=[^\W\d_])")  # between letters only: "1-2" is not "1 2"


def read_option(reply: Reply | str | None, options: Sequence[str]) -> OptionReading:
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
    7. ``last``: the letter alone as the last sentence ("The wall is thick. C").
    8. ``text``: the reply, or its last line, is the text of one option (case, white space, punctuation and an article
       apart). An option's text that begins with a letter of its own ("E. coli") is read as the text everywhere.
    9. ``brackets``: "pneumonia (C)", if all bracketed letters are the same, and the reply refuses nothing.
    10. ``yes_no``: where yes and no are options, what the reply says of them ("No, there is no nodule.").
    11. ``said``: the only option whose text a short reply says and does not deny, see
        :class:`~lmms_medtasks.parsing.option_texts.OptionTexts`.

    A capital A before a word is an article, and a letter after another word ("grade B", "vitamin C") is none of the
    above. "B or C" is ambiguous, and so are a letter with another option's text and the text of two options alike. A
    letter beyond the last option is no answer, nor is one that is only denied ("not B"). The words are English,
    Spanish, French, German and Chinese (:mod:`~lmms_medtasks.parsing.words`).
    """
    text, outcome = text_or_outcome(reply)
    if outcome:
        return OptionReading(outcome)
    return _Reader(options).read(words.normalised(text).strip())


class _Reader:
    def __init__(self, options: Sequence[str]) -> None:
        options = [words.normalised(option) for option in options]
        self._letters = option_letters(len(options))
        self._texts = [_plain(option) for option in options]
        self._said = OptionTexts(options)
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
        last = _LAST.search(text[-40:])
        if last and not several:
            return self._letter(last.group(1), "last", last.group())
        whole = self._of_text(text) or self._of_text(text.splitlines()[-1] if text else "")
        if whole is not None:
            return whole
        refusal = words.REFUSAL.search(text)
        if refusal:
            return OptionReading("refused", text=refusal.group())
        brackets = self._same([self._letter(letter, "brackets", f"({letter})") for letter in _BRACKETS.findall(text)])
        if brackets is not None and not several:
            return brackets
        if several:
            return OptionReading("ambiguous")
        return self._yes_or_no(text) or self._by_text(text) or OptionReading("unreadable")

    def _yes_or_no(self, text: str) -> OptionReading | None:
        """What is read where yes and no are options."""
        meant = [yes_or_no(each) for each in self._texts]
        if not {"yes", "no"} <= set(meant):
            return None
        found = read_yes_no(text)
        if found.status != "ok" or meant.count(found.value) != 1:
            return None
        return OptionReading("ok", self._letters[meant.index(found.value)], "yes_no", text[:80])

    def _by_text(self, text: str) -> OptionReading | None:
        """The option that a short reply says; none where it names another by its letter."""
        places = self._said.said(text)
        if not places:
            return None
        if len(places) > 1:
            return OptionReading("ambiguous", text=text[:80])
        return OptionReading("ok", self._letters[places[0]], "said", text[:80])

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
        stated = [*_STATEMENT.finditer(text), *(_ALSO.finditer(text) if words.GERMAN.search(text) else ())]
        # Of a reply that repeats itself for ever the last statements are enough.
        end = 0
        for match in sorted(stated, key=lambda each: each.start())[-_STATEMENTS:]:
            if _negated(text, match.start()) or _left_open(text, match):
                continue
            rest = text[match.end() : match.end() + self._reach]
            chosen = self._chosen(rest, "statement")
            if chosen is not None:
                found, end = chosen, match.end()
        if found is not None and (taken_back := words.TAKEN_BACK.search(text, end)):
            return OptionReading("ambiguous", text=taken_back.group())
        return found

    def _predicated(self, text: str) -> OptionReading | None:
        matches = [
            match
            for match in _PREDICATE.finditer(text)
            if not (
                _negated(text, match.start())
                or _QUESTION.match(text, match.end())
                or words.NO_PREDICATE.search(_clause_before(text, match.start()))
            )
        ]
        if any(words.ANOTHER_BEFORE.search(text[max(0, each.start() - 40) : each.start()]) for each in matches):
            return OptionReading("ambiguous", text=matches[-1].group())
        # Not the last one: "B is correct for adults, C is likely in children" says nothing.
        return self._same(
            [
                self._letter((match.group(1) or match.group(2)).strip(_MARKUP).upper(), "predicate", match.group())
                for match in matches
            ]
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
        letter, rest = line[bracket].upper(), line[bracket + 1 :]
        named = self._named(rest)
        if line[bracket].islower() and not named:
            return None  # "a. m." or "e.g.": in lower case only with the option's own text
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
        wanted = {_plain(text), _plain(words.ARTICLE.sub("", text.strip(_MARKUP), count=1))} - {""}
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
    return words.NEGATION_BEFORE.search(text[max(0, place - 60) : place]) is not None


def _left_open(text: str, statement: re.Match[str]) -> bool:
    """Whether a statement is a question, a condition's consequence, doubted, or what others would say."""
    before = _SENTENCE_END.split(text[max(0, statement.start() - 200) : statement.start()])[-1]
    said = before + statement.group()
    return bool(
        words.LEFT_OPEN.search(said)
        or words.CONDITION_AFTER.match(text, statement.end())
        or words.MAYBE_BEFORE.search(before)
        or (words.WOULD_BE.search(statement.group()) and words.BUT_AFTER.match(text, statement.end()))
    )


def _clause_before(text: str, place: int) -> str:
    """What stands before ``place`` in its clause: "none of" turns a list of letters, not what comes after "so"."""
    sentence = _SENTENCE_END.split(text[max(0, place - 200) : place])[-1]
    return words.CLAUSE.split(sentence)[-1]


def _sentences(text: str) -> Iterator[str]:
    """The beginnings of ``text`` that end at a sentence's end."""
    for match in re.finditer(r"[.;](?=\s)", text):
        yield text[: match.start()]


def _plain(text: str) -> str:
    """Case, white space, hyphens, markup and punctuation at the ends apart."""
    return " ".join(_HYPHEN.sub(" ", text.casefold()).split()).strip(_MARKUP)
