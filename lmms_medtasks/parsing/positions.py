"""Reading a position in a grid, or that there is no outlier, out of a reply; also by an option's letter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.parsing.mentions import PositionMention, find_mentions, in_english
from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.reply import ParsedAnswer, Reply, find_refusal, single_answer
from lmms_medtasks.parsing.sentences import clause_before, sentence_before, sentence_end, sentence_start
from lmms_medtasks.parsing.statements import Statement, find_statements, gives_up, last_correction, last_standing
from lmms_medtasks.parsing.texts import normalise_characters, option_letters, to_plain_text
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

NONE = "none"
"""The value of a claim that there is no outlier."""

_THING = r"(?:images?|panels?|scans?|pictures?|corners?|positions?|ones?|tiles?|cells?)"
_FILL = rf"(?:(?:the|a|an|that|those|of|in|at|on|to|for|it|is|{_THING})[ ,]+)*"
_BE = r"(?:is|are|was|were|looks?|appears?|seems?|remains?)"
_ODD = (
    r"(?:outliers?|odd|differ\w*|anomal\w*|abnormal|inconsistent|unusual|mismatch\w*|stands? out|unlike|"
    r"does(?: not|n't) (?:match|belong|fit))"
)
_ALIKE = (
    r"(?:consistent|normal|(?:the )?same|similar|identical|fine|unremarkable|coherent|in line|alike|correct|wrong\b)"
)

_FLAW = r"(?:outliers?|anomal\w+|odd[ -]one|inconsistenc\w+|differences?|abnormalit\w+|mismatch\w*|violations?)"

_RULED_OUT_BEFORE = re.compile(
    r"(?:\bnot|n't|\bnever|\brather than|\binstead of|\bunlike|\blike|\bcompar(?:ed|ison|ing) (?:to|with)|"
    r"\bin contrast (?:to|with)|\bas opposed to|\bdifferent (?:from|than|to)|\bdiffers? from|\bsame as|\bsimilar to|"
    r"\bnothing (?:\w+ )?(?:unusual|abnormal|different|odd|wrong|remarkable) (?:in|at|on|about|with)|"
    r"\bmatch(?:es|ing)?|\bversus|\bvs\.?|\bwhether|\bif|\bneither|\bnor|\bso (?:does|do|is|are|did)|\bconsistent with|"
    rf"\brul(?:ed?|ing) out|\bconsidered|\bthought(?: of| it was| that)?|\bguessed|\b(?:left|right) of|\bbelow|\babove|"
    rf"\bnext to|"
    r"\babsent (?:from|in)|\bexclude|\banything (?:\w+ )?(?:wrong|unusual|different|abnormal) (?:in|with|about)|"
    rf"\b(?:no|any) (?:[\w-]+ ){{0,2}}{_FLAW} (?:in|at|on))"
    rf"[ ,]+{_FILL}$"
)
_RULED_OUT_AFTER = re.compile(
    rf"[ )]*(?:{_THING}\b)?[ ),]*(?:"
    rf"(?:{_BE} not|isn't|aren't|wasn't) (?:\w+ ){{0,2}}(?:{_ODD}|wrong)"
    r"|(?:does not|doesn't|do not|don't) (?:\w+ )?(?:differ|stand out)|lacks?\b|(?:is|are) (?:free of|without)"
    rf"|(?:all |also |both |each )?{_BE} (?:all |also |both |quite |perfectly |indeed |to be )*{_ALIKE})"
)
_EXCEPTION_BEFORE = re.compile(
    r"(?:\bexcept(?:ing)?(?: for)?|\bapart from|\baside from|\bwith the exception of|\bother than|\bbesides|"
    rf"\bexcluding|\bsave for|\bbut for|\ball but)[ ,]+{_FILL}$"
)
_SEVERAL_ARE = re.compile(
    rf"[ )]*(?:{_THING}\b)?[ ),]*(?:all |both |each )*"
    rf"(?:{_BE}|shows?|depicts?|displays?|ha(?:s|ve)|contains?|represents?|belongs?|share)\b(?! (?:\w+ ){{0,3}}{_ODD})"
)
_THEY_ARE = re.compile(rf"[ )]*(?:{_THING}\b)?[ ),]*(?:all |both )?are\b(?! (?:\w+ ){{0,3}}{_ODD})")
_LISTED = re.compile(rf"[ )]*(?:{_THING})?[ ]*(?:,? ?(?:and|or|nor|&|/)|,)[ (]*(?:(?:in |at )?the )?")
_NEW_START = re.compile(r"[^,]*, (?:in |at )?the ")
_CUE = re.compile(rf"\b{_ODD}|\bodd one out")
_CLAUSE_END = re.compile(r", (?:the|but|while|whereas|so(?! (?:it|this|that)\b)|yet|however)\b|\b(?:while|whereas)\b")

_OTHERS = re.compile(
    r"\b(?:(?<!each )(?<!from the )others?|rest|remaining|except\w*|apart from|aside from|besides|all (?:\w+ )?but|"
    r"with the exception|not true that)\b"
)
_NO_OUTLIER = re.compile(
    r"\bnone\b(?! of the (?:options|answers|choices|above|\w+ (?:is|are) (?:normal|alike|the same)))"
    rf"|\b(?:no|without(?: an| any)?|zero) (?:[\w-]+ ){{0,2}}{_FLAW}\b"
    rf"|\bnone (?:of (?:the|them|these) ?(?:\w+ )?)?(?:images |panels |of them )?(?:is |are )?(?:{_ODD})"
    r"|\bno (?:single )?(?:image|panel|scan|one|picture)\b (?:\w+ ){0,2}(?:stands? out|differs?|different|outlier)"
    r"|\bnothing (?:\w+ )?(?:stands out|differs|different|unusual|abnormal)"
    r"|(?<!not )\b(?:all(?! three| other)|every)\b[^.;\n]{0,60}?\b"
    r"(?:same|consistent|similar|identical|alike|coherent|uniform|match\w*|agree|normal)\b"
    r"|\b(?:can ?not|can't|could not|couldn't|do not|don't|does not|doesn't|did not|didn't|unable to)"
    r" (?:\w+ ){0,2}(?:see|find|identify|detect|spot|notice|contain|have|show) (?:an|a|any|one)\b(?: [\w-]+){0,2}? "
    r"(?:outlier|anomal\w+|odd|differen\w+|inconsisten\w+)"
    r"|\bthere (?:is not|isn't|are not|aren't|(?:does not|doesn't|do not|don't) (?:appear|seem) to be)(?: an?| any)?"
    r" (?:[\w-]+ )?(?:outliers?|odd|anomal\w+)"
)
_TURN = re.compile(r"\b(?:but|however|yet|although|though|except that)\b")
_NEXT_TURN = re.compile(r"[.!?;\s]+(?:but|however|yet|on closer|looking closer)\b")
_LED_IN = re.compile(r"\b(?:although|though|while|at first|at a glance|initially)\b")
_MINOR = re.compile(r"\b(?:slight(?:ly)?|a (?:little|bit)|minor|somewhat|marginally)\b")
_IN_PLACE = re.compile(rf" (?:in|at|on) {_FILL}")


def read_position(reply: Reply | str | None, size: GridSize) -> ParsedAnswer:
    """The position that a reply gives as the outlier's, by the grid's own name, or "none" if it says there is none.

    What is stated as the answer (:mod:`~lmms_medtasks.parsing.statements`) beats what comes before it; then what the
    reply starts with; then what it calls the outlier or an exception; then the only position it names without ruling it
    out. Two candidates are ambiguous. A position that is named to be ruled out or compared with ("not the top-left",
    "unlike the top-left", "the top-left is consistent"), or among several that "are" alike, is no candidate. In a reply
    that breaks off only what is stated or stands at its beginning counts.

    Places are also read in Spanish, French, German and Chinese (:mod:`~lmms_medtasks.parsing.mentions`). A pair
    of numbers without words, "(1,3)", is row and column to some and x and y to others, from 1 or from 0: it is read
    only where all of them mean one place, as "(3,3)" and "(0,0)" do in a 3x3 grid.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return ParsedAnswer(reply.outcome)
    text = in_english(to_plain_text(normalise_characters(reply.answer)))
    answer = _read_claims(text, size, reply.unfinished)
    return ParsedAnswer(reply.unread) if answer.status == "unreadable" else answer


def read_option_position(reply: Reply | str | None, options: Sequence[str], size: GridSize) -> ParsedAnswer:
    """As :func:`read_position`, where the positions (and "None …") were offered as options with letters.

    A letter, an option's text, or both, as :func:`~lmms_medtasks.parsing.option.read_option` reads them; else the
    position that the reply names. Where the two differ, it is ambiguous.
    """
    reply = Reply.of(reply)
    reading = read_option(reply, options, grid=True)
    if reading.status == "ok":
        value = option_value(options[option_letters(len(options)).index(reading.value)])
        if reading.rule not in ("said", "concluded"):
            beside = find_mentions(in_english(to_plain_text(normalise_characters(reading.text)))[:_BESIDE], size)
            conflict = value != NONE and beside and beside[0].position != value and reading.rule != "yes_no"
            return ParsedAnswer("ambiguous") if conflict else ParsedAnswer("ok", value, reading.rule)
        named_position = read_position(reply, size)
        return (
            ParsedAnswer("ambiguous")
            if named_position.status == "ok" and named_position.value != value
            else ParsedAnswer("ok", value, reading.rule)
        )
    if reading.status in ("ambiguous", "refused") or reply.outcome:
        return ParsedAnswer(reading.status)
    named_position = read_position(reply, size)
    letter = re.search(r"(?<![^\W_])([B-HJ-Z])\s?\(", normalise_characters(reply.answer))
    if named_position.status == "ok" and letter and letter[1] in (letters := option_letters(len(options))):
        # "the image C (bottom-left)", where C is another place
        return (
            named_position
            if option_value(options[letters.index(letter[1])]) == named_position.value
            else ParsedAnswer("ambiguous")
        )
    return named_position


def option_value(option: str) -> str:
    """What an option's text says in the terms of :func:`read_option_position`: a position, or "none"."""
    text = in_english(to_plain_text(option)).strip()
    return NONE if text.startswith(NONE) or word_pattern("grid_none", before=r"\W*").match(text) else text


def _read_claims(text: str, size: GridSize, unfinished: bool) -> ParsedAnswer:
    mentioned = find_mentions(text, size)
    if len(mentioned) > _MANY:
        return ParsedAnswer("ambiguous")
    asserted = _find_asserted(text, mentioned)
    claimed = sorted([*asserted, *_find_none(text, mentioned, asserted)])
    back = last_correction(text)
    if back and any(claim.start >= back for claim in claimed):  # "Top-left. No, wait, bottom-left."
        claimed = [claim for claim in claimed if claim.start >= back]
        mentioned = [mention for mention in mentioned if mention.start >= back]
    for answer in (_read_stated(text, claimed), _read_head(text, mentioned, claimed)):
        if answer is not None and answer.value == NONE and find_refusal(text):
            return ParsedAnswer("refused")
        if answer is not None:
            return answer
    if unfinished:
        return ParsedAnswer("unreadable")
    answer = single_answer({claim.value for claim in claimed if claim.cued}, "cued") or single_answer(
        {claim.value for claim in claimed}, "named"
    )
    if answer is not None and answer.status == "ok" and gives_up(text):
        return ParsedAnswer("unreadable")
    return answer or ParsedAnswer("refused" if find_refusal(text) else "unreadable")


def _read_stated(text: str, claimed: Sequence[PositionClaim]) -> ParsedAnswer | None:
    def resolve(statement: Statement) -> tuple[set[str], int] | None:
        end = statement.end if statement.rule == "boxed" else min(statement.end, sentence_end(text, statement.said))
        inside = [claim for claim in claimed if statement.said <= claim.start <= end]
        return ({claim.value for claim in inside}, inside[-1].start + 1) if inside else None

    stated = last_standing(text, find_statements(text, letters=False, grid=True), resolve)
    if stated is None:
        return None
    return ParsedAnswer("ambiguous") if stated.taken_back else single_answer(stated.value, stated.statement.rule)


def _read_head(
    text: str, mentioned: Sequence[PositionMention], claimed: Sequence[PositionClaim]
) -> ParsedAnswer | None:
    """The position, or "none", that the reply starts with."""
    if not claimed:
        return None
    first = claimed[0]
    if first.value == NONE and not re.search(r"\w", text[: first.start]):
        last = max((claim for claim in claimed if claim.value != NONE), default=None)
        taken_back = last is not None and not any(claim.value == NONE and claim > last for claim in claimed)
        return ParsedAnswer("ambiguous") if taken_back and _CONTRAST.search(text) else ParsedAnswer("ok", NONE, "head")
    mention = next((mention for mention in mentioned if mention.start == first.start), None)
    if mention is None or not _BEFORE_HEAD.match(text[: mention.start]):
        return None
    # "Top-left: CT. Top-right: CT …" goes through the panels; it starts with no answer.
    headings = {mention.position for mention in mentioned if re.match(r"[ \w]{0,8}:", text[mention.end :])}
    alone = len(next(group for group in group_mentions(text, mentioned) if mention in group)) == 1
    if len(headings) > 1 or not alone or not _AFTER_HEAD.match(text[mention.end :]):
        return None
    return ParsedAnswer("ok", mention.position, "head")


class PositionClaim(NamedTuple):
    """A position, or "none": where it is claimed, and whether in words that call it the outlier or an exception."""

    start: int
    value: str
    cued: bool


def group_mentions(text: str, mentioned: Sequence[PositionMention]) -> list[list[PositionMention]]:
    """Runs of mentions that only commas, "and" and "or" stand between.

    A comma and an article start something new ("not the top-left, the bottom-right"), unless "and" follows.
    """
    runs: list[list[PositionMention]] = []
    for mention in mentioned:
        gap = text[runs[-1][-1].end : mention.start] if runs else ""
        if runs and _LISTED.fullmatch(gap) and not _NEW_START.fullmatch(gap):
            runs[-1].append(mention)
        else:
            runs.append([mention])
    return runs


def _find_asserted(text: str, mentioned: Sequence[PositionMention]) -> list[PositionClaim]:
    asserted: list[PositionClaim] = []
    for group in group_mentions(text, mentioned):
        before = sentence_before(text, group[0].start)
        after = text[group[-1].end : sentence_end(text, group[-1].end)]
        first_thought = word_pattern("first_thought").search(clause_before(text, group[0].start))
        if first_thought or _RULED_OUT_BEFORE.search(before) or _RULED_OUT_AFTER.match(after):
            continue
        alike = _SEVERAL_ARE if len(group) > 1 else _THEY_ARE
        if alike.match(after) and not _CUE.search(before):
            continue
        clause = _CLAUSE_END.split(after, maxsplit=1)[0]
        cued = bool(_EXCEPTION_BEFORE.search(before) or _CUE.search(before) or _CUE.search(clause))
        asserted += [PositionClaim(mention.start, mention.position, cued) for mention in group]
    return asserted


def _taken_back(text: str, match: re.Match[str], claimed: Sequence[PositionClaim]) -> list[PositionClaim]:
    """The claims of an odd one that turn "all look the same" around, [] for none.

    "At first glance all look the same, but the top-right one is rotated"; "Although all look alike, the ...".
    """
    if not re.match(r"all|every", match[0]):
        return []
    start, end = match.end(), sentence_end(text, match.end())
    contrast = _TURN.search(text, start, end) or _NEXT_TURN.match(text, end)
    if contrast is not None:
        start = contrast.end()
    elif not _LED_IN.search(sentence_before(text, match.start())):
        return []
    return [claim for claim in claimed if start <= claim.start <= sentence_end(text, start)]


def _find_none(
    text: str, mentioned: Sequence[PositionMention], claimed: Sequence[PositionClaim]
) -> list[PositionClaim]:
    if re.fullmatch(r"\W*no\W*", text):
        return [PositionClaim(0, NONE, True)]
    listed = {group[0].start: {mention.position for mention in group} for group in group_mentions(text, mentioned)}
    places = set().union(*listed.values())
    none_claims = []
    for match in _NO_OUTLIER.finditer(text):
        sentence = text[sentence_start(text, match.start()) : sentence_end(text, match.end())]
        # "None of the others", "all the rest are the same", "all are normal except …" speak of an outlier, and so may
        # "no anomaly in the top-left" where other panels are named, too.
        at = _IN_PLACE.match(text, match.end())
        of_some = at is not None and bool(places - listed.get(at.end(), places))
        if of_some or _OTHERS.search(sentence):
            continue
        odd = _taken_back(text, match, claimed)
        if not odd:
            none_claims.append(PositionClaim(match.start(), NONE, True))
        elif _MINOR.search(text[odd[0].start : sentence_end(text, odd[0].start)]):
            # "..., but the top-left one is slightly darker": an outlier, or none? Both are claimed.
            none_claims += [PositionClaim(match.start(), NONE, True), *(claim._replace(cued=True) for claim in odd)]
    return none_claims
