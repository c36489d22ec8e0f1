"""What a text claims of a grid: which panel it calls the outlier, or that there is none; by the words around."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lmms_medtasks.parsing.mentions import Mention
from lmms_medtasks.parsing.sentences import clause_before, sentence_before, sentence_end, sentence_start
from lmms_medtasks.parsing.words import word_pattern

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


class Claim(NamedTuple):
    """A position, or "none": where it is claimed, and whether in words that call it the outlier or an exception."""

    start: int
    value: str
    cued: bool


def claims(text: str, named: Sequence[Mention]) -> list[Claim]:
    """What a plain text claims, given the positions that it names; those it rules out are not among them."""
    asserted = _asserted(text, named)
    return sorted([*asserted, *_none(text, named, asserted)])


def groups(text: str, named: Sequence[Mention]) -> list[list[Mention]]:
    """Runs of mentions that only commas, "and" and "or" stand between.

    A comma and an article start something new ("not the top-left, the bottom-right"), unless "and" follows.
    """
    found: list[list[Mention]] = []
    for mention in named:
        gap = text[found[-1][-1].end : mention.start] if found else ""
        if found and _LISTED.fullmatch(gap) and not _NEW_START.fullmatch(gap):
            found[-1].append(mention)
        else:
            found.append([mention])
    return found


def _asserted(text: str, named: Sequence[Mention]) -> list[Claim]:
    found: list[Claim] = []
    for group in groups(text, named):
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
        found += [Claim(mention.start, mention.position, cued) for mention in group]
    return found


def _taken_back(text: str, match: re.Match[str], claimed: Sequence[Claim]) -> list[Claim]:
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


def _none(text: str, named: Sequence[Mention], claimed: Sequence[Claim]) -> list[Claim]:
    if re.fullmatch(r"\W*no\W*", text):
        return [Claim(0, NONE, True)]
    listed = {group[0].start: {each.position for each in group} for group in groups(text, named)}
    places = set().union(*listed.values())
    found = []
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
            found.append(Claim(match.start(), NONE, True))
        elif _MINOR.search(text[odd[0].start : sentence_end(text, odd[0].start)]):
            # "..., but the top-left one is slightly darker": an outlier, or none? Both are claimed.
            found += [Claim(match.start(), NONE, True), *(claim._replace(cued=True) for claim in odd)]
    return found
