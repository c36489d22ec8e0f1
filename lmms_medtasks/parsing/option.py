"""Reading the chosen option from a reply in free text: the one reader of letters of all benchmarks."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing import option_words
from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.letter_sets import checked_letters
from lmms_medtasks.parsing.option_texts import OptionTexts
from lmms_medtasks.parsing.outcomes import AnswerStatus, refuses
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.statements import (
    LETTER, Statement, find_statements, gives_up, is_negated, is_taken_back, last_standing, sentence_before,
)  # fmt: skip
from lmms_medtasks.parsing.texts import normalised
from lmms_medtasks.parsing.words import any_of, numbered
from lmms_medtasks.parsing.yes_no import read_yes_no, yes_or_no

Rule = Literal[
    "single_letter", "exact", "boxed", "statement", "correction", "predicate", "last", "bold", "leading", "text",
    "brackets", "yes_no", "concluded", "said", "",
]  # fmt: skip
"""What the answer was read from; "" if nothing was."""


@dataclass(frozen=True)
class OptionReading:
    """What was read from one reply. ``value`` is an option's letter if ``status`` is "ok", else ""; ``text`` is the
    part of the reply that it was read from."""

    status: AnswerStatus
    value: str = ""
    rule: Rule = ""
    text: str = ""


# At most a few marks: a search must not take quadratic time over a long run of them.
_OPEN, _CLOSE = r"[\s\"'`*_(\[{<$]{0,8}", r"[\"'`*_)\]}>$]{0,8}"
_MARKUP = " \t\r\n\"'`*_.,:;!$()[]{}<>#-"
_BOLD = re.compile(r"(?:\*\*|__)[ \t]*(\(?[A-Z](?:[.):][^*_\n]*|\)?))[ \t]*(?:\*\*|__)")
# "A) is a cyst", "B) shows a stone": going through the options. What says that one is right is a predicate.
_TOLD_OF = re.compile(r"[)\].:]?\**[ \t]+(?:is|are|was|seems|appears|shows|would|could|can|may|might|does)\b")
_LABELLED = re.compile(r"(?<![^\W_])(?:\(([A-Z])\)|([A-Z])(?:\)|\s?:\s))")
_QUESTION = re.compile(r"[^.!\n]{0,40}\?")
_BRACKETS = re.compile(r"[(\[]([A-Z])[)\]]")
_LIST = re.compile(r"[(\[]?[A-Z][)\].]?(?:(?:\s*[,/&]\s*|\s+)(?:(?:or|and)\s+)?[(\[]?[A-Z][)\].]?)+\.?")
_SENTENCES = 30
_SENTENCE = re.compile(rf"(?<=[.;!?:])(?<!\b[A-Z]\.)\s+|\n+|,\s+(?={any_of('but')})", re.IGNORECASE)
_ARROW = re.compile(r"\s*[\"'(*]{0,3}([A-Z])[\"')*]{0,3}\s*(?:->|→|=>|⇒)\s*(?=[\"'(*]{0,3}[A-Z](?![^\W_]))")
_NUMBERED = re.compile(r"\s*[#(]?(\d{1,2})(?![\d.,]*\d|\s?[%a-z])[).]?")
_OPTION_NUMBER = re.compile(
    r"[\s*_(\[\"']{0,6}(?:option|choice|opci[oó]n|alternative|选项|選択肢|선택지)\s{0,2}(\d{1,2})[\s*_)\]\"'.]{0,6}",
    re.I,
)


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    answer, reason, and_or = any_of("answer"), any_of("reason"), f"{any_of('and')}|{any_of('or')}"
    right = any_of("is_right")
    predicate = rf"(?<![^\W_])({_OPEN}[A-Z]{_CLOSE})\s*(?i:RIGHT)|\b(?i:option|choice|letter)\s+({_OPEN}[a-z]{_CLOSE})\s+(?i:RIGHT)"
    single = rf"(?:{answer}[ \t:.-]+)?{_OPEN}([A-Za-z])[\s\"'`*_)\]}}>$.,:;!?]*"
    return {
        "single": re.compile(single, re.IGNORECASE),
        "predicate": re.compile(predicate.replace("RIGHT", right)),
        "grid_predicate": re.compile(predicate.replace("RIGHT", f"(?:{right}|{any_of('is_outlier')})")),
        "leading": re.compile(
            rf"^[ \t>*_#-]*(?:(?i:{answer})[ \t]+)?([(\[]?[A-Z](?![^\W_]).*|[(\[]?[a-z][).:].*)$", re.MULTILINE
        ),
        # What may come between such a letter and the rest of its line: a mark, a dash, or a reason.
        "marked": re.compile(rf"[)\].:]\**\s|\s?\(|[ \t]+[-–—][ \t]+(?![A-Z]\b)\w|,?[ \t]+(?i:{reason})"),
        "another": re.compile(
            rf"[)\].\"'`*_]*\s*(?:[,/&+|]|{and_or})+\s*(?i:{any_of('maybe_before')}\s*)?(?i:option\s+)?[(\[*\"']*([A-Z])(?![^\W_])(.*)", re.DOTALL
        ),
        "another_before": re.compile(rf"(?<![^\W_])[A-Z][)\]\"'*]{{0,3}}\s*,?\s*(?:{and_or}|[/&])\s*$"),
        "nobody": re.compile(any_of("nobody"), re.IGNORECASE),
        "not_but": re.compile(
            rf"\s*(?:{any_of('not_before')})\s+[^.\n]{{1,60}}?[,\s]+(?:{any_of('but')})\s+", re.IGNORECASE
        ),
        # What may follow an answer "A" where the article of "A nodule" may not: everything but a word that goes with a noun.
        "after_a": re.compile(
            rf"\s+(?:{and_or}|(?i:{reason}|is|was|with|based|for|would|seems|which|if|in|on|from|by|should|because|"
            rf"appears|represents|describes|fits|best|most|{any_of('but')}))|\s*$|\s*\n|\s*[^\w\s]|\s*[\u3040-\u9fff\uac00-\ud7af]"
        ),
        "hedge": re.compile(rf"\s*(?:{any_of('maybe_before')}|either|both|between)", re.IGNORECASE),
    }  # fmt: skip


def read_option(reply: Reply | str | None, options: Sequence[str], *, grid: bool = False) -> OptionReading:
    """Read which of ``options`` (their texts, in the order shown) a reply chooses.

    A reply that is one letter, or exactly an option's letter and text, or its text, chooses that. Else its statements
    count, in the order in which they stand; the last one that is not taken back decides:

    - ``boxed``: ``\\boxed{C}``, ``<answer>C</answer>``, ``"answer": "C"``;
    - ``statement``: "answer: C", "the answer is (C)", "I choose C", "it is C.", "so, C"; ``correction``: "no, C";
    - ``predicate``: "C is correct", "B is the best answer"; two that differ are ambiguous;
    - ``last``: the letter alone as the last sentence or line.

    In a statement stands a letter with that option's exact text (before anything else), a letter, an option's text, or
    a sentence that says one. Without a statement, in this order:

    - ``bold``: ``**C**``, ``**C. text**``; ``leading``: lines "C. text", "C - text", "C because ...", if all have the
      same letter. "A) is wrong ..." goes through the options and is none;
    - ``text``: the last line, or the first sentence, is the text of one option;
    - ``brackets``: "pneumonia (C)", if all bracketed letters are the same, and the reply refuses nothing;
    - ``yes_no``: where yes and no are options, what the reply says of them ("No, there is no nodule.");
    - ``concluded``: the option that the last sentence concludes with, or the first begins with ("... Thus: melanoma.");
    - ``said``: the only option whose text a short reply says and does not deny
      (:meth:`~lmms_medtasks.parsing.option_texts.OptionTexts.said`).

    A reply that breaks off in the middle of a sentence is read by its statements alone. A capital A before a word is an
    article, and a letter after another word ("grade B", "vitamin C") is none of the above. "B or C" is ambiguous, and
    so are a letter with another option's text and the text of two options alike. A letter beyond the last option is no
    answer, nor is one that is only denied ("not B"). Texts are compared by what they mean: numbers with their signs and
    units, words in any case and spelling. The words are those of ``words.yml``.

    ``grid``: the question asks for the image that does not fit: "the outlier is C" and "C differs" are statements.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return OptionReading(reply.outcome)
    text = _with_letters(normalised(reply.answer).strip(), len(options))
    found = _OptionReader(options, grid).read(text, reply.unfinished)
    return OptionReading(reply.unread, text=found.text) if found.status == "unreadable" else found


class _OptionReader:
    def __init__(self, options: Sequence[str], grid: bool) -> None:
        self._grid = grid
        self._texts = OptionTexts(options)
        self._letters = self._texts.letters
        self._options = options
        # No further is looked for an option's text: a long line with many statements would take quadratic time.
        self._reach = 200 + self._texts.longest
        self._numeric = any(re.fullmatch(r"\s*\d+\s*", each) for each in options)

    def read(self, text: str, unfinished: bool) -> OptionReading:
        whole = self._whole(text)
        if whole is not None:
            return whole
        stated = self._stated(text)
        if stated is not None:
            return stated
        if (checked := checked_letters(text, self._options)) is not None and len(checked) == 1:
            return OptionReading("ok", checked, "statement", text[:80])
        several = False
        bold = [self._chosen(part, "bold") for part in _BOLD.findall(text)]
        leading = [self._led(line.strip()) for line in _patterns()["leading"].findall(text)]
        for readings in (bold, leading):
            found = self._same(readings)
            if found is not None and found.status == "ok":
                return OptionReading("ambiguous", text=text[:80]) if self._taken_back_after(text, found) else found
            several = several or found is not None
        if not unfinished and (line := self._of_a_line(text)) is not None:
            return line
        refused = refuses(text)
        if refused is not None:
            return OptionReading("refused", text=refused)
        brackets = self._same([self._letter(letter, "brackets", f"({letter})") for letter in _BRACKETS.findall(text)])
        if brackets is not None and not several and not unfinished:
            return brackets
        if several:
            return OptionReading("ambiguous")
        if unfinished:
            return OptionReading("unreadable")
        if gives_up(text, 0):
            return OptionReading("refused", text=text[-80:])
        return self._yes_or_no(text) or self._concluded(text) or self._by_text(text) or self._by_part(text) or OptionReading("unreadable")

    # --- The reply as a whole -----------------------------------------------------------------------------------------

    def _whole(self, text: str) -> OptionReading | None:
        """What a reply chooses that is nothing but a letter, a text, both, or the same again and again."""
        single = _patterns()["single"].fullmatch(text)
        if single:
            return self._letter(single.group(1).upper(), "single_letter", text)
        for lettered in (True, False):
            exact = self._texts.begins(text, lettered)
            if exact is not None and not re.search(r"\w", self._own_letter_out(text[exact.end :], exact.place)):
                return OptionReading("ok", self._letters[exact.place], "exact", text[:80])
        if _LIST.fullmatch(text) and len(set(re.findall("[A-Z]", text))) == 1:
            return self._letter(re.findall("[A-Z]", text)[0], "single_letter", text)
        if len(places := self._texts.equal(text)) == 1:
            return OptionReading("ok", self._letters[places[0]], "exact", text[:80])
        if len(places) > 1 or _LIST.fullmatch(text):
            return OptionReading("ambiguous", text=text[:80])
        if (named := _OPTION_NUMBER.fullmatch(text)) is not None and (number := self._numbered(named[1])) is not None:
            return number
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and len(set(lines)) == 1:
            return self._whole(lines[0].strip())
        return None

    def _own_letter_out(self, rest: str, place: int) -> str:
        """What follows an option's text, without that option's letter: "Stage III (C)", "No, B"."""
        return re.sub(rf"^[\s,(\[*\"'—–-]{{0,4}}(?:option |answer )?{self._letters[place]}(?![^\W_])", "", rest)

    # --- Statements ---------------------------------------------------------------------------------------------------

    def _stated(self, text: str) -> OptionReading | None:
        ends: dict[int, int] = {}

        def resolve(statement: Statement) -> tuple[OptionReading, int] | None:
            if statement.rule == "predicate":
                letter = text[statement.start : statement.said].strip(_MARKUP).upper()
                return self._letter(letter, "predicate", text[statement.start : statement.end]), statement.end
            part = text[statement.said : min(statement.end, statement.said + self._reach)]
            if statement.option and (number := self._numbered(part)):
                return number, statement.said + 2
            if self._repeats_options(text[statement.said : statement.said + self._reach * 2]):
                return None
            chosen = self._chosen(part, statement.rule, ends)  # type: ignore[arg-type]
            return None if chosen is None else (chosen, statement.said + ends.pop(0, 1))

        statements = find_statements(text, grid=self._grid)
        predicates = self._predicates(text)
        found = last_standing(text, sorted([*statements, *predicates], key=lambda each: each.said), resolve)
        if found is None:
            return None
        if found.taken_back:
            return OptionReading("ambiguous", text=text[found.statement.start : found.statement.start + 80])
        if found.statement.rule == "boxed":
            # {"answer": "C", "answer_text": "Sinus rhythm"}: two values of one thing must agree.
            near = [each for each in statements if each.rule == "boxed" and 0 < found.statement.said - each.end < 40]
            if any((other := resolve(each)) and other[0].value != found.value.value for each in near):
                return OptionReading("ambiguous", text=text[:80])
        if found.statement.rule == "it_is":
            same = {each.value for statement in statements if statement.rule == "it_is"
                    and (resolved := resolve(statement)) and (each := resolved[0])}  # fmt: skip
            if len(same) > 1 and not is_taken_back(text[: found.statement.said], 0):
                return OptionReading("ambiguous", text=text[found.statement.start : found.statement.end][:80])
        if found.statement.rule == "predicate":
            # "B is correct only in children" takes no announced answer back; words that turn do.
            announced = last_standing(text, [each for each in statements if each.said < found.statement.said], resolve)
            if announced is not None and not announced.taken_back:
                return announced.value
            # Not the last one: "B is correct for adults, C is likely in children" says nothing.
            others = [each for each in predicates if resolve(each) is not None]
            values = {(each.status, each.value) for each, _ in map(resolve, others)}  # type: ignore[misc]
            before = _patterns()["another_before"]
            if len(values) > 1 or any(before.search(text[max(0, each.start - 40) : each.start]) for each in others):
                return OptionReading("ambiguous", text=text[found.statement.start : found.statement.end])
        return found.value

    def _repeats_options(self, part: str) -> bool:
        """Whether a text begins with the list of options: A with its text, and B with its text right behind."""
        first = self._texts.begins(part, True)
        if first is None or first.place != 0:
            return False
        rest = re.sub(r"^[\s,;.*/|_-]+", "", part[first.end :])
        return (second := self._texts.begins(rest, True)) is not None and second.place == 1

    def _predicates(self, text: str) -> list[Statement]:
        """Where a letter is said to be right, denied ones and questions left out."""
        found = []
        for match in _patterns()["grid_predicate" if self._grid else "predicate"].finditer(text):
            group = 1 if match.group(1) else 2
            if is_negated(text, match.start()) or _QUESTION.match(text, match.end()):
                continue
            if _patterns()["nobody"].search(_clause_before(text, match.start())):
                continue
            if match[0].lstrip()[:1] == "A" and re.match(r"A [a-z]+ (?:is|are)", match[0]):
                continue
            found.append(Statement(match.start(group), match.end(group), match.end(), "predicate"))
        return found

    def _numbered(self, part: str) -> OptionReading | None:
        """The option that "option 2" names, where no option is a number."""
        match = _NUMBERED.match(part)
        if match is None or self._numeric or not 1 <= int(match[1]) <= len(self._letters):
            return None
        return OptionReading("ok", self._letters[int(match[1]) - 1], "statement", part[:80])

    def _chosen(self, part: str, rule: Rule, ends: dict[int, int] | None = None) -> OptionReading | None:
        """What the beginning of ``part`` chooses: a letter, its first line or sentence as an option's text, or one said.

        ``ends`` gets, under 0, where in ``part`` that ends.
        """
        begin = part
        if (turned := _patterns()["not_but"].match(part)) is not None:
            part = part[turned.end() :]
        while (arrow := _ARROW.match(part)) is not None:
            part = part[arrow.end() :]
        skipped = len(begin) - len(part)
        for lettered in (True, False):
            exact = self._texts.begins(part, lettered)
            if exact is not None and (lettered or self._ends_there(part[exact.end :])):
                if ends is not None:
                    ends[0] = skipped + exact.end
                return OptionReading("ok", self._letters[exact.place], rule, part[:80].strip())
        line = part.lstrip(_MARKUP).splitlines()[0] if part.strip(_MARKUP) else ""
        match = re.match(rf"{_OPEN}([A-Za-z])(?![^\W_]|-\w|['’]\w)", part)
        # The text of an option may begin with a letter of its own: "E. coli", "B-cell lymphoma".
        if match and (found := self._of_text(line, rule)):
            return found
        if match:
            letter, after = match.group(1), part[match.end() :]
            if self._is_letter(letter, after):
                if ends is not None:
                    ends[0] = skipped + match.end()
                return self._with_text(letter.upper(), after, rule, part)
        found = self._of_text(line, rule)
        if found is None and rule in ("boxed", "statement"):
            found = self._said_in(line, rule)
        return found

    def _ends_there(self, rest: str) -> bool:
        """Whether an option's text that a statement begins with is all that it says, or the rest explains it."""
        return re.match(r"[\s\"'*_)\]}]*(?:[.;:!,(\n—–-]|$)", rest) is not None or self._said_reason(rest)

    def _said_reason(self, rest: str) -> bool:
        return re.match(rf"\s+(?:{any_of('reason')})", rest, re.IGNORECASE) is not None

    def _said_in(self, line: str, rule: Rule) -> OptionReading | None:
        """The only option that the first sentence of a statement says."""
        sentence = next(iter(re.split(r"[.;](?=\s|$)", line, maxsplit=1)))
        if len(sentence) > 200 or _patterns()["hedge"].match(sentence):
            return None
        places = self._texts.said(sentence) or self._texts.partly_said(sentence)
        if not places:
            return None
        if len(places) > 1:
            return OptionReading("ambiguous", text=sentence[:80])
        return OptionReading("ok", self._letters[places[0]], rule, sentence[:80])

    def _is_letter(self, letter: str, after: str) -> bool:
        if letter in "AI":
            return _patterns()["after_a"].match(after) is not None
        return letter.isupper() or re.match(r"[)\]}\"'`*_$]*\s*(?:[.,:;!?)\]}]|\n|$)", after) is not None

    def _with_text(self, letter: str, after: str, rule: Rule, part: str) -> OptionReading:
        another = _patterns()["another"].match(after)
        if another and another.group(1) != letter and self._is_letter(another.group(1), another.group(2)):
            return OptionReading("ambiguous", text=part[:80])
        if self._other_text(letter, after):
            return OptionReading("ambiguous", text=part[:80])
        return self._letter(letter, rule, part[:80].strip())

    def _other_text(self, letter: str, after: str) -> bool:
        """Whether the text of another option stands right behind a letter: "B. Pleural effusion", where that is C."""
        named = self._named(after.splitlines()[0] if after.strip(_MARKUP) else "")
        if named:
            return letter not in named
        if not re.match(r"\s*[)\].:(—–-]", after):
            return False
        exact = self._texts.begins(after, False)
        return exact is not None and self._letters[exact.place] != letter and self._ends_there(after[exact.end :])

    # --- Without a statement ------------------------------------------------------------------------------------------

    def _led(self, line: str) -> OptionReading | None:
        """What a line chooses that starts with a letter: it has nothing else, the option's text, or a mark after it."""
        if self._repeats_options(line):
            return None
        exact = self._texts.begins(line, True)
        if exact is not None and (self._ends_there(line[exact.end :]) or not re.match(r"[(\[]?[A-Za-z]\s", line)):
            others = {first or second for first, second in _LABELLED.findall(line[exact.end :])} - {
                self._letters[exact.place]
            }
            if others & set(self._letters):
                return OptionReading("ambiguous", text=line[:80])
            return OptionReading("ok", self._letters[exact.place], "leading", line[:80])
        if found := self._of_text(line):
            return found
        bracket = line[0] in "(["
        letter, rest = line[bracket].upper(), line[bracket + 1 :]
        named = self._named(rest)
        if line[bracket].islower() and not named:
            return None  # "a. m." or "e.g.": in lower case only with the option's own text
        if _TOLD_OF.match(rest) or not (named or not rest.strip(_MARKUP) or _patterns()["marked"].match(rest)):
            return None
        if self._other_text(letter, rest):
            return OptionReading("ambiguous", text=line[:80])
        others = {first or second for first, second in _LABELLED.findall(rest)} - {letter}
        if letter not in named and (named or others & set(self._letters)):
            return OptionReading("ambiguous", text=line[:80])
        return self._letter(letter, "leading", line[:80])

    def _of_a_line(self, text: str) -> OptionReading | None:
        """What the last line, or the first sentence, is the text of."""
        lines = text.splitlines() or [""]
        for part in (lines[-1], next(iter(_sentences(lines[0])), "")):
            found = self._of_text(part)
            if found is not None:
                place = text.find(part) + len(part)
                return OptionReading("ambiguous", text=part) if is_taken_back(text, place) else found
        return None

    def _yes_or_no(self, text: str) -> OptionReading | None:
        """What is read where yes and no are options."""
        meant = [yes_or_no(each) for each in self._options]
        if not {"yes", "no"} <= set(meant):
            return None
        found = read_yes_no(text)
        if found.status != "ok" or meant.count(found.value) != 1:
            return None
        return OptionReading("ok", self._letters[meant.index(found.value)], "yes_no", text[:80])

    def _concluded(self, text: str) -> OptionReading | None:
        """The option that a sentence of a longer reply concludes with; the last one, where none before says another."""
        sentences = [each.strip() for each in _SENTENCE.split(text) if each.strip()][-_SENTENCES:]
        if len(sentences) < 2:
            return None
        while len(sentences) > 1 and re.fullmatch(r"\(.*\)?\.?", sentences[-1]):
            sentences.pop()  # an afterthought in brackets
        found = [(places[0], each) for number, each in enumerate(sentences)
                 if (places := self._texts.concluded(each, number == len(sentences) - 1))]  # fmt: skip
        if not found:
            return None
        place, said = found[-1]
        end = text.rfind(said) + len(said)
        others = [each for other, each in found if other != place]
        if (
            (others and not is_taken_back(text[:end], text.find(others[-1])))
            or is_taken_back(text, end)
            or gives_up(text, end)
        ):
            return OptionReading("ambiguous", text=said[:80])
        return OptionReading("ok", self._letters[place], "concluded", said[:80])

    def _by_text(self, text: str) -> OptionReading | None:
        """The option that a short reply says."""
        places = self._texts.said(text)
        if not places:
            return None
        if len(places) > 1:
            return OptionReading("ambiguous", text=text[:80])
        return OptionReading("ok", self._letters[places[0]], "said", text[:80])

    def _by_part(self, text: str) -> OptionReading | None:
        """The option whose words a reply of one sentence has all, in any order."""
        places = self._texts.said_in_other_order(text) if len(_SENTENCE.split(text)) == 1 and len(text) < 200 else []
        return OptionReading("ok", self._letters[places[0]], "said", text[:80]) if places else None

    def _taken_back_after(self, text: str, found: OptionReading) -> bool:
        place = text.find(found.text)
        return place >= 0 and is_taken_back(text, place + len(found.text))

    def _letter(self, letter: str, rule: Rule, text: str) -> OptionReading:
        if letter not in self._letters:
            return OptionReading("unreadable", text=text[:80])
        return OptionReading("ok", letter, rule, text[:80])

    def _same(self, readings: Sequence[OptionReading | None]) -> OptionReading | None:
        """The reading that all agree on; ambiguous if they don't; None without any."""
        known = [reading for reading in readings if reading is not None and reading.status != "unreadable"]
        if not known:
            return None
        return known[-1] if len({(each.status, each.value) for each in known}) == 1 else OptionReading("ambiguous")

    def _named(self, text: str) -> list[str]:
        """The letters of the options whose text is ``text``."""
        return [self._letters[place] for place in self._texts.equal(text)]

    def _of_text(self, text: str, rule: Rule = "text") -> OptionReading | None:
        for part in (text, *_sentences(text)):
            # A letter is the letter of an option, whatever the options' texts.
            named = [] if _patterns()["single"].fullmatch(part) else self._named(part)
            if len(named) > 1:
                return OptionReading("ambiguous", text=part[:80])
            if named:
                return OptionReading("ok", named[0], rule, part[:80])
            if rule == "text":
                break  # only what is stated as the answer may have more after it
        return None


def _with_letters(text: str, count: int) -> str:
    """A text with "option B" in place of "the second option"."""
    for number, pattern in _nth().items():
        if number <= count:
            text = pattern.sub(f" option {option_letters(count)[number - 1]} ", text)
    return text


@functools.cache
def _nth() -> dict[int, re.Pattern[str]]:
    option = r"(?:answer )?(?:options?|choice|answer|opci[oó]n|respuesta|alternativa|r[eé]ponse|proposition|antwort(?:option|m[oö]glichkeit)?|选项)"
    return {int(number): re.compile(rf"(?:the |la |l['’]|die )?(?:{words}\s*(?:的)?{option}|{option}\s+{words})(?!\w)", re.I)
            for number, words in numbered("nth").items()}  # fmt: skip


def _clause_before(text: str, place: int) -> str:
    """What stands before ``place`` in its clause: "none of" turns a list of letters, not what comes after "so"."""
    return option_words.CLAUSE.split(sentence_before(text, place))[-1]


def _sentences(text: str) -> Iterator[str]:
    """The beginnings of ``text`` that end at a sentence's end."""
    for match in re.finditer(r"[.;!:](?=\s|$)", text[:1000]):
        yield text[: match.start()]
