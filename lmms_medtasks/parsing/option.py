"""Reading the chosen option from a reply in free text: the one reader of letters of all benchmarks."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from lmms_medtasks.parsing.option_reading import OfferedOptions, OptionReading, ambiguous_reading, single_letter
from lmms_medtasks.parsing.option_texts import MINUS_IN_BRACKETS, Exact
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.texts import circled_as_letters, normalise_characters, option_letters
from lmms_medtasks.parsing.words import any_of, lazy_pattern, numbered_words

__all__ = ["OptionReading", "read_first_capital", "read_option"]

_NEXT_LETTER = r"(?:\s*[,/&]\s*|\s+)(?:(?:or|and)\s+)?[(\[]?[A-Z][)\].]?"
_LIST = re.compile(rf"[(\[]?[A-Z][)\].]?(?:{_NEXT_LETTER})+\.?")

_SINGLE = re.compile(r"[\s\"'`*_(\[{<]*([A-Za-z])[\s\"'`*_)\]}>.,:;!]*")
_CAPITAL = re.compile(r"[A-Z]")


def read_option(reply: Reply | str | None, options: Sequence[str], *, grid: bool = False) -> OptionReading:
    """Read which of ``options`` (their texts, in the order shown) a reply chooses.

    A reply that is one letter, or exactly an option's letter and text, or its text, chooses that. Else its statements
    count, in the order in which they stand; the last one that is not taken back decides:

    - ``boxed``: ``\\boxed{C}``, ``<answer>C</answer>``, ``"label": "C"``;
    - ``statement``: "answer: C", ``"answer": "C"``, "the answer is (C)", "I choose C"; ``so``: "so, C"; ``it_is``: "it
      is C.", two of which that differ are ambiguous; ``correction``: "no, C";
    - ``predicate``: "C is correct", "B is the best answer", if no other statement stands before it; two that differ are
      ambiguous;
    - ``last``: the letter alone as the last sentence or line.

    In a statement stands a letter with that option's exact text (before anything else), an option's text, a letter, or
    (``boxed`` and ``statement``) a sentence that says one. Without a statement, in this order:

    - ``checked``: one tick in a list of all options, "A ✗, B ✓";
    - ``bold``: ``**C**``, ``**C. text**``; ``leading``: lines "C. text", "C - text", "C because ...", if all have the
      same letter. "A) is wrong ..." goes through the options and is none;
    - ``text``: the last line, or the first sentence, is the text of one option;
    - a refusal ends the search;
    - ``brackets``: "pneumonia (C)", if all bracketed letters are the same;
    - ``yes_no``: where yes and no are options, what the reply says of them ("No, there is no nodule.");
    - ``concluded``: the option that a sentence concludes with ("... Thus: melanoma."), the last one of them;
    - ``said``: the only option whose text a short reply says and does not deny
      (:meth:`~lmms_medtasks.parsing.option_texts.OptionTexts.find_said`).

    A reply that breaks off in the middle of a sentence is read by its statements, ticks, bold letters and lines alone.
    A capital A before a word is an article, and a letter after another word ("grade B", "vitamin C") is none of the
    above. "B or C" is ambiguous, and so are a letter with another option's text and the text of two options alike. A
    letter beyond the last option is no answer, nor is one that is only denied ("not B"). Texts are compared by what
    they mean: numbers with their signs and units, words in any case and spelling. The words are those of ``words.yml``
    and the files beside it.

    Args:
        reply: The reply, as it was sent or taken apart; None for a failed request.
        options: The options' texts, 1 to 26.
        grid: The question asks for the image that does not fit: "the outlier is C" and "C differs" are statements.

    Raises ValueError for no option, or more than 26.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return OptionReading(reply.outcome)
    text = _with_letters(normalise_characters(circled_as_letters(reply.answer, options)).strip(), len(options))
    offered = OfferedOptions(options, grid)
    reading = read_whole(text, offered)
    if reading is None:
        # What trained models answer is a letter or a text, as a rule: what reads all else is loaded when it is met.
        from lmms_medtasks.parsing.option_lines import read_in_words

        reading = read_in_words(text, offered, reply.unfinished)
    return OptionReading(reply.unread, text=reading.text) if reading.status == "unreadable" else reading


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
        return (
            ambiguous_reading(text) if len(letters) > 1 else offered.read_letter(letters.pop(), "single_letter", text)
        )
    if places := offered.texts.find_beginning_or_end(text):
        return offered.read_places(places, "exact", text)
    number = _option_number().fullmatch(text)
    return None if number is None else offered.read_number(number[1])


def _without_letter(text: str, exact: Exact, offered: OfferedOptions) -> str:
    """What follows an option's text, without that option's letter: "Stage III (C)", "No, B"."""
    letter = offered.letters[exact.place]
    word = rf"(?:(?i:{any_of('option_word')}) )?"
    return re.sub(rf"^[\s,(\[*\"'—–-]{{0,4}}{word}{letter}(?![^\W_])", "", text[exact.end :])


_option_number = lazy_pattern(r"[\s*_(\[\"']{0,6}{names_option}\s{0,2}(\d{1,2})[\s*_)\]\"'.]{0,6}", re.IGNORECASE)


def _with_letters(text: str, count: int) -> str:
    """A text with "option B" in place of "the second option"."""
    for number, pattern in _nth_option().items():
        if number <= count:
            text = pattern.sub(f" option {option_letters(count)[number - 1]} ", text)
    return text


@functools.cache
def _nth_option() -> Mapping[int, re.Pattern[str]]:
    option, article = any_of("option_word"), r"(?:the |la |l['’]|die )?"
    return {
        number: re.compile(rf"{article}(?:{nth}\s*(?:的)?{option}|{option}\s+{nth})(?!\w)", re.IGNORECASE)
        for number, nth in numbered_words("nth").items()
    }


def read_first_capital(reply: Reply | str | None, option_count: int) -> OptionReading:
    """Read the option letter from a reply by MedQ-Deg's priority rule (appendix 0.B), taken literally.

    1. The reply is a single letter (in either case, possibly in quotes, brackets or bold, with a full stop).
    2. Else the first capital letter of the reply, wherever it stands: of "The answer is B" it is T.
    3. Else nothing was read. So it is where the letter is that of no option; the benchmark counts both as incorrect.

    The rule is for comparing with the paper: it reads "Both lungs are clear" as B. It is applied to the text after the
    model's reasoning. Three outcomes are not the paper's: a failed request is "failed", a reply that says nothing
    "empty", and one without an answer that the limit of new tokens ended "cut".
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return OptionReading(reply.outcome)
    answer = reply.answer
    single = _SINGLE.fullmatch(answer)
    letter = single.group(1).upper() if single else capital.group() if (capital := _CAPITAL.search(answer)) else ""
    if not letter or letter not in option_letters(option_count):
        return OptionReading(reply.unread)
    return OptionReading("ok", letter, "single_letter" if single else "first_capital")
