"""Reading the chosen option from a reply in free text: the one reader of letters of all benchmarks."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from lmms_medtasks.parsing.checked_lists import read_checked
from lmms_medtasks.parsing.letters import circled_as_letters, option_letters
from lmms_medtasks.parsing.option_lines import (
    read_as_yes_no,
    read_bold,
    read_brackets,
    read_concluded,
    read_edge,
    read_leading,
    read_said,
    read_same,
    read_whole,
)
from lmms_medtasks.parsing.option_reading import OfferedOptions, OptionReading, ambiguous
from lmms_medtasks.parsing.option_statements import read_stated
from lmms_medtasks.parsing.outcomes import find_refusal
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.statements import gives_up, is_taken_back
from lmms_medtasks.parsing.texts import normalised
from lmms_medtasks.parsing.words import any_of, numbered

__all__ = ["OptionReading", "read_option"]


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

    Raises:
        ValueError: No option, or more than 26.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return OptionReading(reply.outcome)
    text = _with_letters(normalised(circled_as_letters(reply.answer, options)).strip(), len(options))
    found = _read(text, OfferedOptions(options, grid), reply.unfinished)
    return OptionReading(reply.unread, text=found.text) if found.status == "unreadable" else found


def _read(text: str, offered: OfferedOptions, unfinished: bool) -> OptionReading:
    found = read_whole(text, offered) or read_stated(text, offered)
    if found is not None:
        return found
    if (checked := read_checked(text, offered.options)) is not None and len(checked) == 1:
        return offered.read_letter(checked, "checked", text)
    several = False
    for readings in (read_bold(text, offered), read_leading(text, offered)):
        found = read_same(readings)
        if found is not None and found.status == "ok":
            return ambiguous(text) if _is_taken_back(text, found) else found
        several = several or found is not None
    if not unfinished and (found := read_edge(text, offered)) is not None:
        return found
    if (refusal := find_refusal(text)) is not None:
        return OptionReading("refused", text=refusal)
    if several:
        return ambiguous()
    if unfinished:
        return OptionReading("unreadable")
    if (found := read_brackets(text, offered)) is not None:
        return found
    if gives_up(text):
        return OptionReading("refused", text=text[-80:])
    found = read_as_yes_no(text, offered) or read_concluded(text, offered) or read_said(text, offered)
    return found or OptionReading("unreadable")


def _is_taken_back(text: str, found: OptionReading) -> bool:
    place = text.find(found.text)
    return place >= 0 and is_taken_back(text, place + len(found.text))


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
        for number, nth in numbered("nth").items()
    }
