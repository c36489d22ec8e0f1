"""Reading a position in a grid, or that there is no outlier, out of a reply; also by an option's letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lmms_medtasks.grid_positions import Size
from lmms_medtasks.parsing.claims import NONE, Claim, claims, groups, sentence_end
from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.mentions import Mention, mentions
from lmms_medtasks.parsing.outcomes import Answer, plain, prepared, refuses
from lmms_medtasks.parsing.position_words import in_english
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.words import ANSWER, normalised

__all__ = ["NONE", "option_value", "read_option_position", "read_position"]

_ANSWER = re.compile(
    r"\b(?P<final>final |correct |right |best )?(?:answer|choice|option|conclusion)\b"
    r"(?: is|:| would be| must be| =|\"?:)*[ \n]*"
    r"|\b(?:therefore|thus|hence|in conclusion|in summary|to conclude|so the outlier)\b[ ,:]*"
)
_SMALL = re.compile(
    rf"(?i:{ANSWER})(?i: is|:| would be|=|[ \n])*"
    r"(?:[(\[{\"'][a-z](?=[)\]}\"'])|(?<=\W)[a-z](?=\W*$))",
    re.M,
)
"""A letter in lower case, in brackets or last on its line, after a word that announces one: no article."""

_MANY = 2000
"""Positions in a reply that repeats itself for ever: no answer is looked for among them."""

_CORRECTION = re.compile(r"\b(?:wait|actually|correction|sorry|on second thought|no,|rather|let me correct)\b")
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

    A final answer ("the answer is …") beats what comes before it; then what the reply starts with; then what it calls
    the outlier or an exception; then the only position it names without ruling it out. Two candidates are ambiguous. A
    position that is named to be ruled out or compared with ("not the top-left", "unlike the top-left", "the top-left is
    consistent"), or among several that "are" alike, is no candidate.

    Places are also read in Spanish, French, German and Chinese (:mod:`~lmms_medtasks.parsing.position_words`). A pair
    of numbers without words, "(1,3)", is row and column to some and x and y to others, from 1 or from 0: it is read
    only where all of them mean one place, as "(3,3)" and "(0,0)" do in a 3x3 grid.
    """
    text = prepared(reply)
    return text if isinstance(text, Answer) else _read(_words(text), size)


def read_option_position(reply: Reply | str | None, options: Sequence[str], size: Size) -> Answer:
    """As :func:`read_position`, where the positions (and "None …") were offered as options with letters.

    A letter, an option's text, or both; where a letter stands beside the text of another option, the reply is
    ambiguous. The article "A" and the pronoun "I" are no letters.
    """
    text = prepared(reply)
    if isinstance(text, Answer):
        return text
    text = normalised(text)
    letters = option_letters(len(options))
    found = _letters(re.sub(r"[*`#\\_$]", " ", text).strip(), letters)
    if not found:
        return _read(_words(text), size)
    if len(found) > 1:
        return Answer("ambiguous")
    letter, beside = found.popitem()
    value = option_value(options[letters.index(letter)])
    said = {_read(_words(each), size).value for each in set(beside)} - {""}
    return Answer("ambiguous") if said - {value} else Answer("ok", value)


def option_value(option: str) -> str:
    """What an option's text says in the terms of :func:`read_option_position`: a position, or "none"."""
    text = plain(option)
    return NONE if text.startswith(NONE) else text


def _words(text: str) -> str:
    return in_english(plain(normalised(text)))


def _read(text: str, size: Size) -> Answer:
    named = mentions(text, size)
    if len(named) > _MANY:
        return Answer("ambiguous")
    claimed = claims(text, named)
    for found in (_final(text, claimed), _head(text, named, claimed), _one({c.value for c in claimed if c.cued})):
        if found is not None:
            return found
    found = _one({claim.value for claim in claimed})
    return found or Answer("refused" if refuses(text) else "unreadable")


def _one(values: set[str]) -> Answer | None:
    """The answer if there is one value; None without any."""
    if not values:
        return None
    return Answer("ok", next(iter(values))) if len(values) == 1 else Answer("ambiguous")


def _final(text: str, claimed: Sequence[Claim]) -> Answer | None:
    """What "the answer is" says; the last of several only after a correction, or if it alone is called final."""
    hits: list[tuple[int, bool, set[str]]] = []
    for cue in _ANSWER.finditer(text):
        end = sentence_end(text, cue.end())
        values = {claim.value for claim in claimed if cue.end() <= claim.start <= end}
        if values:
            hits.append((cue.start(), cue["final"] == "final ", values))
    if not hits:
        return None
    hits = [hit for hit in hits if hit[1]] or hits
    start, _, values = hits[-1]
    everything = set().union(*(hit[2] for hit in hits))
    corrected = _CORRECTION.search(text[hits[0][0] : start + 20])
    return _one(values if corrected else everything)


def _head(text: str, named: Sequence[Mention], claimed: Sequence[Claim]) -> Answer | None:
    """The position, or "none", that the reply starts with."""
    if not claimed:
        return None
    first = claimed[0]
    if first.value == NONE and not re.search(r"\w", text[: first.start]):
        last = max((claim for claim in claimed if claim.value != NONE), default=None)
        taken_back = last is not None and not any(claim.value == NONE and claim > last for claim in claimed)
        return Answer("ambiguous") if taken_back and _CONTRAST.search(text) else Answer("ok", NONE)
    mention = next((each for each in named if each.start == first.start), None)
    if mention is None or not _BEFORE_HEAD.match(text[: mention.start]):
        return None
    # "Top-left: CT. Top-right: CT …" goes through the panels; it starts with no answer.
    headings = {each.position for each in named if re.match(r"[ \w]{0,8}:", text[each.end :])}
    alone = len(next(group for group in groups(text, named) if mention in group)) == 1
    if len(headings) > 1 or not alone or not _AFTER_HEAD.match(text[mention.end :]):
        return None
    return Answer("ok", mention.position)


def _letters(text: str, letters: str) -> dict[str, list[str]]:
    """The letter that a reply gives (several if it gives several), each with the texts right beside it."""
    text = _SMALL.sub(lambda match: match[0][:-1] + match[0][-1].upper(), text)
    single = re.fullmatch(r"\W*([A-Za-z])\W*", text)
    if single:
        return {single[1].upper(): []} if single[1].upper() in letters else {}
    lines = text.splitlines() or [""]
    alone = [match for line in (lines[0], lines[-1]) if (match := re.fullmatch(rf"\W*([{letters}])\W*", line))]
    if alone:
        return {match[1]: [] for match in alone}
    cue = rf"(?i:{ANSWER}|therefore|thus|hence|boxed|outlier|选)(?i: is| es| est| ist|是|为|:| would be|=|\s)*"
    cue += r"(?i:(?:the )?(?:image|panel|scan|position) )?[(\"'\[{]*"
    by_cue = _real(re.finditer(rf"{cue}([{letters}])(?![\w'])", text), text)
    if by_cue:
        other = re.compile(rf"[)\"'\]}}]*(?: or | and |\s*/\s*)[(\"'\[{{]*([{letters}])(?![\w'])")
        second = other.match(text, by_cue[-1].end(1))
        return _with_neighbours(text, [*by_cue[-1:], *_real([second] if second else [], text)])
    last_sentence = re.search(rf"[.!?:;]\s+\W*([{letters}])\W*$", text)
    if last_sentence:
        return {last_sentence[1]: []}
    listed = list(re.finditer(rf"(?<![\w'])\(?([{letters}])\s*[).:]", text))
    if listed and listed[0].start() <= 1 and len({match[1] for match in listed}) == 1:
        return _with_neighbours(text, listed[:1])
    free = _real(re.finditer(rf"(?<![\w'])([{letters}])(?![\w'])", text), text)
    ruled_out = re.compile(r"(?:\b(?:not|nor|than)|n't)\s+\(?$", re.IGNORECASE)
    return _with_neighbours(
        text, [match for match in free if not ruled_out.search(text, max(0, match.start(1) - 12), match.start(1))]
    )


def _real(found: Iterable[re.Match[str]], text: str) -> list[re.Match[str]]:
    """Those that are no article "A" or pronoun "I" before a word."""
    word = re.compile(r"\s+(?!(?:because|since|as|is|and|or)\b)[a-zA-Z][a-zA-Z]")
    return [match for match in found if match[1] not in "AI" or not word.match(text, match.end(1))]


def _with_neighbours(text: str, found: Sequence[re.Match[str]]) -> dict[str, list[str]]:
    beside: dict[str, list[str]] = {}
    for match in found:
        after = text[match.end(1) : match.end(1) + 60].lstrip(" ).:,\"'-]}")
        end = re.search(r"[.;]\s|\n|\s(?:because|since|as|while|whereas|and|is|are)\s", after)
        beside.setdefault(match[1], []).append(after[: min(40, end.start() if end else 40)])
    return beside
