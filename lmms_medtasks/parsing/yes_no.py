"""Reading yes or no out of a reply that may explain itself."""

from __future__ import annotations

import re

from lmms_medtasks.parsing.outcomes import Answer, plain, prepared, refuses
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.words import normalised

YES_WORDS = frozenset({"yes", "yeah", "yep", "indeed", "sí", "si", "oui", "ja", "是", "是的", "对", "有", "true", "y"})
NO_WORDS = frozenset(
    {"no", "nope", "not really", "non", "nein", "否", "不是", "不", "不对", "没有", "无", "false", "n"}
)
_SAID = r"(?:yes|no|sí|oui|non|ja|nein|true|false)"
_CHINESE = r"(?:是的|不是|不对|没有|是|对|有|否|无|不)"
_BOTH = re.compile(
    r"\byes\b[ /,]*(?:and|or|/)[ ,]*\bno\b|\bno\b[ /,]*(?:and|or|/)[ ,]*\byes\b|^\W*yes, no[,.?]|^\W*no, yes[,.?]"
)
_HEDGED = re.compile(
    rf"\b(?:possibly|maybe|perhaps|probably|likely|potentially|quizás?|tal vez|peut-être|vielleicht)\W+{_SAID}\b"
)
_ANSWER = r"(?:answer|verdict|conclusion|respuesta|r[eé]ponse|antwort)"
_FINAL = re.compile(
    rf"(?:\b(?:final )?{_ANSWER}\b[\"' ]*(?:is|es|est|ist|lautet|:|=|would be)*|\b(?:so|therefore|thus|hence),?)"
    rf"[\"' ]*({_SAID})\b(?=\W*(?:$|\n|[.,;:!]))|答案(?:是|为|:)?\W*({_CHINESE})(?=\W|$)"
)
_BUT = re.compile(rf"\b(?:but|however|pero|mais|aber)\b[^.\n]{{0,80}}?[,: ]({_SAID})\W*$")
_WORD = re.compile(rf"(?<![\w'-])({_SAID})\b(?=\W*(?:$|\n)|[.,;:!])")
_HEAD = re.compile(rf"\W*(yes|yeah|yep|nope|not really|indeed|{_SAID})\b(?!-)(?! (?:one|way)\b)")
_CHINESE_HEAD = re.compile(rf"\W*({_CHINESE})(?=\W|$)")
_CONDITION = re.compile(r",? (?:if|unless)\b|\W*\?")
_DENIED = re.compile(r"\b(?:not|cannot|never|if|unless|whether|impossible)\b|n't\b|不|无法")
_ALONE = re.compile(r"\W*(y|n|si)\W*|si(?=,)")
# "No" before one of these is an answer; before another word it is that word's ("no image", "no idea").
_NO_ON_ITS_OWN = re.compile(
    r"no(?:\W*$|\s*[^\w\s]|\s*\n| (?:it|it's|its|this|that|there|the|they|because|as|since|not|in|on|at|based|all)\b)"
)
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
_NONE_OF_IT = re.compile(r"\bno (?:(?:evidence|signs?|indication) of )?(?:an? |any )?((?:[\w-]+ ?){1,4})")
_SOME_OF_IT = re.compile(r"^\W*(?:yes\W+)?there (?:is|are) (?:an? |some |one )?(?!no\b|not\b)((?:[\w-]+ ?){1,4})")
_TURNED = re.compile(r"\b(?:no|not|without|free of|absen\w+|normal|lack\w*|clear|healthy|unremarkable)\b|n't\b")
_TRUE_OR_FALSE = re.compile(r"\btrue\b\W+(?:or\W+)?false\b", re.IGNORECASE)
_SMALL_WORDS = frozenset(
    "there this that with from have image images shown picture visible seen any what which".split()
)


def asks_true_or_false(question: str) -> bool:
    """Whether a question offers "true" and "false" as its answers."""
    return _TRUE_OR_FALSE.search(question) is not None


def read_yes_no(reply: Reply | str | None, question: str = "", *, panel: bool = False) -> Answer:
    """ "yes" or "no" as a reply gives it, in English, Spanish, French, German or Chinese.

    A final answer ("the answer is no") beats all else; then the word that the reply starts with; then the only one of
    the two words in it. "Yes and no" is ambiguous, "possibly yes" is no answer. With ``panel``, for a question whether
    a highlighted panel is the outlier, sentences that say so are read too ("is not the outlier").

    ``question`` settles two readings. "True" and "False" answer a question that offers them; said to another one, they
    may mean the question, a statement in it or its opposite, and are no answer. "There is no nodule" and "no nodule is
    seen" are "no" where the question asks for a nodule; "no image" and "no idea" are no answer to any, and "no
    nodule" does not answer "Is the lung normal?".
    """
    text = prepared(reply)
    if isinstance(text, Answer):
        return text
    text = plain(normalised(text))
    asked = plain(question)
    if not asks_true_or_false(question):
        text = re.sub(r"\b(?:true|false)\b", " ", text)
    alone = _ALONE.fullmatch(text) or re.match(r"\W*(si)(?=,)", text)
    if alone:
        return Answer("ok", _value(alone[1]))
    finals = [match[1] or match[2] for match in _FINAL.finditer(text)] or _BUT.findall(text[-200:])
    if finals:
        return Answer("ok", _value(finals[-1]))
    if _BOTH.search(text):
        return Answer("ambiguous")
    if _HEDGED.search(text):
        return Answer("unreadable")
    head = _HEAD.match(text) or _CHINESE_HEAD.match(text)
    if head and _CONDITION.match(text, head.end()):
        return Answer("unreadable")
    if head and (head[1] != "no" or _NO_ON_ITS_OWN.match(text, head.start(1))):
        return Answer("ok", _value(head[1]))
    said = {_value(match[1]) for match in _WORD.finditer(text) if not _DENIED.search(_before(text, match.start()))}
    if said:
        return Answer("ok", said.pop()) if len(said) == 1 else Answer("ambiguous")
    found = _by_question(text, asked) or (_by_statement(text) if panel else None)
    return found or Answer("refused" if refuses(text) else "unreadable")


def yes_or_no(option: str) -> str:
    """ "yes" or "no" where that is what an option's text is, else ""."""
    word = option.casefold().strip(" .,:;!")
    if word in {"yes", "sí", "si", "oui", "ja", "是"}:
        return "yes"
    return "no" if word in {"no", "non", "nein", "否", "不是"} else ""


def _before(text: str, place: int) -> str:
    """What stands before ``place`` in its sentence."""
    return re.split(r"[.!?;\n]", text[max(0, place - 200) : place])[-1]


def _value(word: str) -> str:
    return "yes" if word in YES_WORDS else "no"


def _by_question(text: str, asked: str) -> Answer | None:
    """What a first sentence says of the thing that the question asks for: "there is no nodule", "there is a nodule"."""
    if not asked or _TURNED.search(asked):
        return None
    sentence = re.split(r"[.;!?\n]", text.strip(), maxsplit=1)[0][:200]
    asked_for = {word.rstrip("s") for word in re.findall(r"[^\W\d_]{4,}", asked)} - _SMALL_WORDS
    for pattern, value in ((_NONE_OF_IT, "no"), (_SOME_OF_IT, "yes")):
        match = pattern.search(sentence)
        if match and asked_for & {word.rstrip("s") for word in match[1].split()}:
            return None if re.search(r"\b(?:but|or|if|whether)\b", sentence) else Answer("ok", value)
    return None


def _by_statement(text: str) -> Answer | None:
    said = _OPEN.sub(" ", text)
    negated, asserted = _NEGATED.search(said), _ASSERTED.search(_NEGATED.sub(" ", said))
    if negated and asserted:
        return Answer("ambiguous")
    if negated or asserted:
        return Answer("ok", "no" if negated else "yes")
    return None
