"""Reading yes or no out of a reply that may explain itself."""

from __future__ import annotations

import re

from lmms_medtasks.parsing.outcomes import Answer, plain, prepared, refuses

_BOTH = re.compile(r"\byes\b[ /,]*(?:and|or|/)[ ,]*\bno\b|\bno\b[ /,]*(?:and|or|/)[ ,]*\byes\b")
_FINAL = re.compile(
    r"(?:\b(?:final )?(?:answer|verdict|conclusion)\b[\"' ]*(?:is|:|=|would be)*|\b(?:so|therefore|thus|hence),?)"
    r"[\"' ]*(yes|no)\b(?=\W*(?:$|\n|[.,;:!]))"
)
_WORD = re.compile(r"(?<![\w'-])(yes|no|true|false)\b(?=\W*(?:$|\n)|[.,;:!])")
_HEAD = re.compile(r"\W*(yes|yeah|yep|no|nope|not really|true|false|indeed)\b(?!-)(?! (?:one|way)\b)")
_YES = {"yes", "yeah", "yep", "true", "indeed"}
_ODD = r"(?:outlier|odd one out|differ\w*|anomal\w*|inconsistent|abnormal|stands? out|unlike the)"
_ALIKE = r"(?:consistent with|the same as|similar to|identical to|normal\b)"
_OPEN = re.compile(r"\b(?:whether|if)\b[^.,;\n]*")
_NEGATED = re.compile(
    rf"(?:\bnot|n't)\b(?: \w+){{0,4}}? {_ODD}|\bno (?:\w+ )?(?:outlier|differen\w+|anomal\w+)"
    rf"|\b(?:is|appears|looks|seems)(?: to be)? (?!not )(?:\w+ )?{_ALIKE}"
    r"|\bmatches the other"
)
_ASSERTED = re.compile(
    rf"\b(?:is|appears to be|does|seems to be|looks)(?: \w+){{0,3}}? {_ODD}|\b(?:differs|stands out)\b"
    rf"|(?:\bnot|n't)(?: to be)? (?:\w+ )?{_ALIKE}|\bunlike the (?:other|rest|remaining)"
)


def read_yes_no(reply: str | None) -> Answer:
    """ "yes" or "no" as a reply gives it.

    A final answer ("the answer is no") beats all else; then the word that the reply starts with; then the only one of
    the two words in it; then what its sentences say of the highlighted panel ("is not the outlier"). "Yes and no" is
    ambiguous.
    """
    text = prepared(reply)
    if isinstance(text, Answer):
        return text
    text = plain(text)
    finals = [match[1] for match in _FINAL.finditer(text)]
    if finals:
        return Answer("ok", finals[-1])
    if _BOTH.search(text):
        return Answer("ambiguous")
    head = _HEAD.match(text)
    if head:
        return Answer("ok", _value(head[1]))
    words = {_value(word) for word in _WORD.findall(text)}
    if words:
        return Answer("ok", words.pop()) if len(words) == 1 else Answer("ambiguous")
    return _by_statement(text)


def _value(word: str) -> str:
    return "yes" if word in _YES else "no"


def _by_statement(text: str) -> Answer:
    said = _OPEN.sub(" ", text)
    negated, asserted = _NEGATED.search(said), _ASSERTED.search(_NEGATED.sub(" ", said))
    if negated and asserted:
        return Answer("ambiguous")
    if negated or asserted:
        return Answer("ok", "no" if negated else "yes")
    return Answer("refused" if refuses(text) else "unreadable")
