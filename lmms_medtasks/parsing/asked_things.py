"""Whether a sentence says that the thing that a question asks for is there, or that it is not."""

from __future__ import annotations

import functools
import re
from typing import Literal

from lmms_medtasks.parsing.words import lazy_pattern, numbered_words, word_pattern

_PLACE = re.compile(r"\b(?:in|on|of the|at|within|en|dans|sur|im|auf|von)\b")
_DESCRIBING = 3  # words before a thing that may describe it
_FRAGMENT = 6  # words of a clause without a verb: "aspect tout à fait normal"
_IS = r"(?:is|are|was|were|looks|appears|seems|ist|sind|est[aá]n?|es|son|est|sont)"
_SEEN = r"present|visible|seen|there|evident|shown|identified|noted|enlarged"
_THERE = rf"(?:{_SEEN}|vorhanden|sichtbar|erkennbar|presentes?|pr[eé]sente?s?|visibles?)"
_IS_THERE = re.compile(rf"\s*(?:[\w-]+\s){{0,4}}?{_IS}\s+(?:\w+ly\s+|bien\s+|deutlich\s+)?{_THERE}\b")
_QUALITY = r"([^\W\d_][\w-]{3,})"
_IN_SIZE = (
    r"(?: (?:in|at|of|bei|en) (?:size|shape|width|contour|appearance|calib\w+|signal|density|position|tamaño|taille))?"
)
_IS_ADJECTIVE = re.compile(
    rf"^\W*{_IS}\b(?! there).*?{_QUALITY}{_IN_SIZE}\W*$|^.{{1,60}}\b(?:est|sont)-(?:ils?|elles?) {_QUALITY}\W*$"
    rf"|^\W*(?:es|est[aá]n?|son) {_QUALITY}\b"
)
_NOT_BEHIND = re.compile(r"\W*(?:\w+\W+){0,3}?(?:not|nicht|pas|no)\b")
_NOUN_AT_END = re.compile(
    r"\b(?:(?:an?|the|un[ae]?|eine?)|(?:of|in|on|at|de|del|du|von|im|en|dans)(?:\W+\w+){0,2})\W+\w+\W*$"
)
_COPULAS = ("is", "are", "es", "está", "esta", "est", "ist", "sind")  # "psoriasis is a chronic disease" shows none
_PASSIVE = ("can be", "was", "were", "has been", "have been")
_IT_IS = re.compile(r"\b(?:it|this|that|das|c')\s?(?:is|ist|est)\b")
_FREE_OF = re.compile(r"(\w+)-free\b")
_HAN = re.compile(r"[\u3400-\u9fff]")


_ONE_ALONE = ("view", "count")
"""Of what a picture has one."""
_OPPOSITES = ("side", "view", "count", "time", "size", "height")


def read_about(sentence: str, question: str) -> Literal["yes", "no"] | None:
    """What a sentence says of the thing that ``question`` asks for: it is there, or not; None where it says neither.

    Both are :func:`~lmms_medtasks.parsing.texts.to_plain_text` texts. The sentence must name the thing by its last
    word, and what is denied must be the thing and no quality of it. A question that denies something, or asks whether
    all is normal, is answered by no such sentence.
    """
    if (other := names_other(sentence, question)) is not None:
        denied = word_pattern("denies").search(sentence) or word_pattern("may_be_there").search(sentence)
        return "no" if other in _ONE_ALONE and not denied and not sentence.endswith("?") else None
    if _HAN.search(question):
        return _read_about_in_chinese(sentence, question)
    if (predicate := _read_predicate(sentence, question)) is not None:
        return predicate
    things = _find_things(question)
    sentence = _FREE_OF.sub(r"no \1", sentence)
    if not things or word_pattern("may_be_there").search(sentence):
        return None
    readings = {
        clause_reading
        for clause in _clauses().split(sentence)
        if (clause_reading := _read_clause(clause, things, question))
    }
    return readings.pop() if len(readings) == 1 and "other" not in readings else None  # type: ignore[return-value]


def names_other(sentence: str, question: str) -> str | None:
    """The kind (side, view, count ...) in which a sentence contradicts the question: right where it asks about left."""
    for kind in _OPPOSITES:
        inside = [
            {number for number, words in numbered_words(kind).items() if re.search(words, text)}
            for text in (question, sentence)
        ]
        if all(inside) and not inside[0] & inside[1]:
            return kind
    return None


def _is_another(before: str, after: str, thing: str, question: str) -> bool:
    """Whether it is a part of another thing's name: "kidney stone", or "clavicle fracture" for "rib fracture"."""
    if (noun := word_pattern("finding_noun", before=r"\s+").match(after)) and noun[0].strip() not in question:
        return True
    named_in_question = re.search(rf"([^\W\d_]{{3,}})\s+{re.escape(thing)}", question)
    near = re.search(r"([^\W\d_]{3,})\s+$", before)
    bones = word_pattern("bone")
    return bool(
        named_in_question
        and near
        and named_in_question[1] != near[1]
        and bones.fullmatch(named_in_question[1])
        and bones.fullmatch(near[1])
    )


def _read_clause(clause: str, things: tuple[str, ...], question: str) -> Literal["yes", "no", "other"] | None:
    """What a clause says; "other" where it denies something else of the thing."""
    words = re.finditer(r"[^\W\d_][\w-]*", clause)
    word = next((word for word in words if _stem(word[0]) == things[-1]), None)
    if word is None:
        return None
    before, after = clause[: word.start()], clause[word.end() :]
    if _is_another(before, after, things[-1], question):
        return None
    denials = list(word_pattern("denies").finditer(before))
    if denials:
        between = re.findall(r"[\w-]+", before[denials[-1].end() :])[-_DESCRIBING:]
        return "no" if all(_belongs(part, things) for part in between) else "other"
    if (denial := word_pattern("denies").search(after)) is not None:
        verb, rest = after[: denial.start()].strip(), after[denial.end() :].strip()
        asserts = word_pattern("asserts")
        is_there = not rest or asserts.match(rest.removeprefix("zu "))
        return "no" if (not verb.strip(":-– ") or verb in _PASSIVE or asserts.fullmatch(verb)) and is_there else "other"
    asserted = any(match[0] not in _COPULAS for match in word_pattern("asserts").finditer(before))
    there = _IS_THERE.match(after) or word_pattern("yes_alone").fullmatch(after.strip(" :-"))
    return "yes" if asserted or there or _IT_IS.search(before) else None


def _read_predicate(sentence: str, question_text: str) -> Literal["yes", "no"] | None:
    """To "Is the lung normal?": "the lung is normal", "it isn't normal", "it is not Gram-positive"."""
    question = _IS_ADJECTIVE.match(question_text)
    if (
        question is None
        or _NOUN_AT_END.search(question_text[: question.end(question.lastindex or 0)])
        or word_pattern("may_be_there").search(sentence)
    ):
        return None
    for clause in re.split(r"[,:]", sentence):
        match = re.search(rf"\b{re.escape(question[question.lastindex or 0])}\b", clause)
        if match is None:
            continue
        near = " ".join(clause[: match.start()].split()[-5:])
        if word_pattern("denies").search(near) or _NOT_BEHIND.match(clause, match.end()):
            return "no"
        if re.search(rf"\b{_IS}\b", near) or len(clause.split()) < _FRAGMENT:
            return "yes"
    return None


def _belongs(word: str, things: tuple[str, ...]) -> bool:
    """Whether a word between a denial and a thing is the thing's own, says that it is there, or changes nothing."""
    return _stem(word) in things or any(word_pattern(name).fullmatch(word) for name in ("describes", "asserts"))


@functools.lru_cache(1024)
def _find_things(question: str) -> tuple[str, ...]:
    """The stems of the words for what a question asks for, the most particular last; () where it turns."""
    if word_pattern("question_turns").search(question):
        return ()
    thing = _PLACE.split(question.rstrip(" ?.！？"), maxsplit=1)[0]
    return tuple(_stem(word) for word in _naming_words(thing) or _naming_words(question)[:1])


def _naming_words(text: str) -> list[str]:
    """The words of a question, of four letters or more, that may name what it asks for."""
    known = word_pattern("question_word")
    return [word for word in re.findall(r"[^\W\d_][\w-]{3,}", text) if not known.fullmatch(word)]


def _stem(word: str) -> str:
    return word if len(word) < 5 else re.sub(r"(?:es|s|en|e)$", "", word)


_clauses = lazy_pattern(",|{turn}|{concede}")


# --- Chinese, which puts no blanks between words ----------------------------------------------------------------------

_ASKS = r"(?:是否(?:为|有|可?见|存在|符合|提示|显示|看到|合并|伴有)?|有没有|有无|有|可见|看到|存在|显示|符合|提示|是)"
_SIGN_OF = r"(?:的(?:表现|征象|特征|证据))?"
_THING = re.compile(rf"{_ASKS}([\u3400-\u9fff]{{2,12}}?){_SIGN_OF}(?:吗|么|呢)?\s*[?？.。]?$")
_NOT_SEEN = r"未见|未发现|未显示|未提示|没有(?:看到|发现|见到|明显)?|看不到|无明显"
_IS_NOT = r"无|并非|不是|不存在|不符合|不支持|不提示|排除"
_DENIED = re.compile(rf"(?:{_NOT_SEEN}|{_IS_NOT})(?:明显|任何|典型|明确|确切)?(?:的)?$")
_DENIED_BEHIND = re.compile(r"(?:的(?:征象|表现|证据))?(?:未见|不明显|不存在|阴性)")
_SAID = re.compile(r"(?:有|可见|看到|存在|显示|见|是|为|符合|提示|发现|考虑)[^,.;]{0,6}$")
_SAID_BEHIND = re.compile(r"形成|存在|明显|可见|征象")


def _read_about_in_chinese(sentence: str, question: str) -> Literal["yes", "no"] | None:
    thing = _THING.search(question.strip())
    # "有没有" and "有无" ask whether it is there, and deny nothing.
    if thing is None or word_pattern("question_turns").search(re.sub("有没有|有无", "有", question)):
        return None
    name = re.sub(r"^(?:明显|典型|任何)?的?", "", thing[1])
    start = sentence.rfind(name)
    if start < 0 or word_pattern("may_be_there").search(sentence):
        return None
    before = re.split(r"[,;]|但", sentence[:start])[-1]
    after = sentence[start + len(name) : start + len(name) + 8]
    if _DENIED.search(before) or _DENIED_BEHIND.match(after):
        return "no"
    if re.search(r"不|无|没|未|非", before):
        return None
    return "yes" if _SAID.search(before) or _SAID_BEHIND.match(after) else None
