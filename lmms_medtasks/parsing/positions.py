"""Reading a position in a grid, or that there is no outlier, out of a reply; also by an option's letter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_medtasks.grid_positions import Size
from lmms_medtasks.parsing.claims import NONE, Claim, claims, groups
from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.mentions import Mention, mentions
from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.outcomes import Answer, find_refusal
from lmms_medtasks.parsing.position_words import in_english
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.sentences import sentence_end
from lmms_medtasks.parsing.statements import Statement, find_statements, gives_up, last_correction, last_standing
from lmms_medtasks.parsing.texts import normalised, plain
from lmms_medtasks.parsing.words import word_pattern

__all__ = ["NONE", "option_value", "read_option_position", "read_position"]

_MANY = 2000
"""Positions in a reply that repeats itself for ever: no answer is looked for among them."""

_BESIDE = 60
"""Characters from a letter on in which its position may be named."""

_CONTRAST = re.compile(r"\b(?:but|however|although|though|if i had to|if forced)\b")
_BEFORE_HEAD = re.compile(
    r"\W*(?:(?:the )?(?:position|location|outlier|anomaly|answer)\b[^\w\n]*(?:is )?)?(?:it is |it's )?(?:in |at |on )?"
    r"(?:the )?(?:position |panel |image )?$"
)
_AFTER_HEAD = re.compile(
    r"[ )\"'}]*(?:image|panel|scan|picture|corner|position|one|of the grid)?[ )\"'}]*"
    r"(?:$|[.,:;\n-]|because|since|as\b)"
)


def read_position(reply: Reply | str | None, size: Size) -> Answer:
    """The position that a reply gives as the outlier's, by the grid's own name, or "none" if it says there is none.

    What is stated as the answer (:mod:`~lmms_medtasks.parsing.statements`) beats what comes before it; then what the
    reply starts with; then what it calls the outlier or an exception; then the only position it names without ruling it
    out. Two candidates are ambiguous. A position that is named to be ruled out or compared with ("not the top-left",
    "unlike the top-left", "the top-left is consistent"), or among several that "are" alike, is no candidate. In a reply
    that breaks off only what is stated or stands at its beginning counts.

    Places are also read in Spanish, French, German and Chinese (:mod:`~lmms_medtasks.parsing.position_words`). A pair
    of numbers without words, "(1,3)", is row and column to some and x and y to others, from 1 or from 0: it is read
    only where all of them mean one place, as "(3,3)" and "(0,0)" do in a 3x3 grid.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return Answer(reply.outcome)
    text = in_english(plain(normalised(reply.answer)))
    found = _read(text, size, reply.unfinished)
    return Answer(reply.unread) if found.status == "unreadable" else found


def read_option_position(reply: Reply | str | None, options: Sequence[str], size: Size) -> Answer:
    """As :func:`read_position`, where the positions (and "None …") were offered as options with letters.

    A letter, an option's text, or both, as :func:`~lmms_medtasks.parsing.option.read_option` reads them; else the
    position that the reply names. Where the two differ, it is ambiguous.
    """
    reply = Reply.of(reply)
    found = read_option(reply, options, grid=True)
    if found.status == "ok":
        value = option_value(options[option_letters(len(options)).index(found.value)])
        if found.rule not in ("said", "concluded"):
            beside = mentions(in_english(plain(normalised(found.text)))[:_BESIDE], size)
            conflict = value != NONE and beside and beside[0].position != value and found.rule != "yes_no"
            return Answer("ambiguous") if conflict else Answer("ok", value, found.rule)
        named = read_position(reply, size)
        return Answer("ambiguous") if named.status == "ok" and named.value != value else Answer("ok", value, found.rule)
    if found.status in ("ambiguous", "refused") or reply.outcome:
        return Answer(found.status)
    named = read_position(reply, size)
    letter = re.search(r"(?<![^\W_])([B-HJ-Z])\s?\(", normalised(reply.answer))
    if named.status == "ok" and letter and letter[1] in (letters := option_letters(len(options))):
        # "the image C (bottom-left)", where C is another place
        return named if option_value(options[letters.index(letter[1])]) == named.value else Answer("ambiguous")
    return named


def option_value(option: str) -> str:
    """What an option's text says in the terms of :func:`read_option_position`: a position, or "none"."""
    text = in_english(plain(option)).strip()
    return NONE if text.startswith(NONE) or word_pattern("grid_none", before=r"\W*").match(text) else text


def _read(text: str, size: Size, unfinished: bool) -> Answer:
    named = mentions(text, size)
    if len(named) > _MANY:
        return Answer("ambiguous")
    claimed = claims(text, named)
    back = last_correction(text)
    if back and any(claim.start >= back for claim in claimed):  # "Top-left. No, wait, bottom-left."
        claimed = [claim for claim in claimed if claim.start >= back]
        named = [mention for mention in named if mention.start >= back]
    for found in (_stated(text, claimed), _head(text, named, claimed)):
        if found is not None and found.value == NONE and find_refusal(text):
            return Answer("refused")
        if found is not None:
            return found
    if unfinished:
        return Answer("unreadable")
    found = _one({claim.value for claim in claimed if claim.cued}, "cued") or _one({c.value for c in claimed}, "named")
    if found is not None and found.status == "ok" and gives_up(text):
        return Answer("unreadable")
    return found or Answer("refused" if find_refusal(text) else "unreadable")


def _one(values: set[str], rule: str) -> Answer | None:
    """The answer if there is one value; None without any."""
    if not values:
        return None
    return Answer("ok", next(iter(values)), rule) if len(values) == 1 else Answer("ambiguous")


def _stated(text: str, claimed: Sequence[Claim]) -> Answer | None:
    """What the last statement says that is not taken back."""

    def resolve(statement: Statement) -> tuple[set[str], int] | None:
        end = statement.end if statement.rule == "boxed" else min(statement.end, sentence_end(text, statement.said))
        inside = [claim for claim in claimed if statement.said <= claim.start <= end]
        return ({claim.value for claim in inside}, inside[-1].start + 1) if inside else None

    found = last_standing(text, find_statements(text, letters=False, grid=True), resolve)
    if found is None:
        return None
    return Answer("ambiguous") if found.taken_back else _one(found.value, found.statement.rule)


def _head(text: str, named: Sequence[Mention], claimed: Sequence[Claim]) -> Answer | None:
    """The position, or "none", that the reply starts with."""
    if not claimed:
        return None
    first = claimed[0]
    if first.value == NONE and not re.search(r"\w", text[: first.start]):
        last = max((claim for claim in claimed if claim.value != NONE), default=None)
        taken_back = last is not None and not any(claim.value == NONE and claim > last for claim in claimed)
        return Answer("ambiguous") if taken_back and _CONTRAST.search(text) else Answer("ok", NONE, "head")
    mention = next((each for each in named if each.start == first.start), None)
    if mention is None or not _BEFORE_HEAD.match(text[: mention.start]):
        return None
    # "Top-left: CT. Top-right: CT …" goes through the panels; it starts with no answer.
    headings = {each.position for each in named if re.match(r"[ \w]{0,8}:", text[each.end :])}
    alone = len(next(group for group in groups(text, named) if mention in group)) == 1
    if len(headings) > 1 or not alone or not _AFTER_HEAD.match(text[mention.end :]):
        return None
    return Answer("ok", mention.position, "head")
