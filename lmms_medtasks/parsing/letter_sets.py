"""Which options a reply names, where several can be right together."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lmms_medtasks.parsing.letters import option_letters
from lmms_medtasks.parsing.outcomes import Answer, refuses
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.parsing.statements import Statement, find_statements, is_negated, last_standing
from lmms_medtasks.parsing.texts import normalised
from lmms_medtasks.parsing.words import any_of

_MARKED = r"[(\[*\"'`]*([A-Z])[)\]*\"'`.:]*"
_LONGEST = 600


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    sign = rf"(?:\s*(?:,|;|/|&|\+|{any_of('and')})\s*|\s+)+"
    only = r"(?:only|just|both|nur|beide|s[oó]lo|solamente|seulement|uniquement|只有|仅|すべて)"
    label = rf"(?:{any_of('answer')}|options?|choices?|answers?)(?:\s+(?:{any_of('sure')}))?\s*(?::|=|{any_of('is')})?"
    return {
        "sign": re.compile(sign),
        "list": re.compile(rf"{_MARKED}(?:{sign}{_MARKED})*"),
        "and": re.compile(any_of("and")),
        "label": re.compile(
            rf"^[\s*\[\"'{{]*(?:the\s+|both\s+)?(?:(?:right|correct)\s+)?(?:{label}\s*)?(?:{only}\s+)?", re.I
        ),
        "are_right": re.compile(
            rf"((?:{_MARKED}(?:{sign})?){{1,10}})\s*(?:(?i:are|is|sont|son|est|es|sind|ist|都?是?|が|이|가)\s*)?"
            rf"(?:(?i:(?:both |all |the |indeed )?(?:correct|right|true|present|answers?|richtig|korrekt|zutreffend|correctas?|"
            rf"correctes?|exactes?|vraies?|verdaderas?))|正确|正しい|です|입니다)"
        ),
        "checked": re.compile(rf"{any_of('checked')}", re.I),
        "checked_end": re.compile(r"[√✓✔☑✅]\ufe0f?\s*$"),
        "crossed": re.compile(rf"{any_of('crossed')}", re.I),
        "crossed_end": re.compile(r"[×✗✘✕❌☒]\ufe0f?\s*$"),
        "except": re.compile(
            r"(?:all|alle|todas?|toutes?)\s+(?:\w+\s+){0,2}?(?:except|but|au[sß]er|excepto|menos|sauf)\s+(?:for\s+)?(.{1,40})",
            re.I,
        ),
        "none": re.compile(r"(?:all|none|any) of (?:the )?(?:above|options|them)", re.IGNORECASE),
    }


def read_letters(reply: Reply | str | None, options: Sequence[str]) -> Answer:
    """The letters that a reply names, in the order of the alphabet: "AC".

    What the last statement says counts that is not taken back ("answers: A, C", ``\\boxed{A, C}``, JSON), or what it says
    to be right ("A and C are correct"), else the whole reply where it is one line, else its last line. That must be
    letters with commas, blanks, slashes or "and" between them ("A, C"), letters in one word ("AC"), letters with their
    options' texts ("A. cat, C. dog"), or the texts themselves. Anything else is "unreadable", as is a letter beyond the
    last option or one that is named twice.
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return Answer(reply.outcome)
    text = normalised(reply.answer).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if letters := _named(" ".join(lines), options):
        return Answer("ok", letters, "whole")

    def resolve(statement: Statement) -> tuple[str, int] | None:
        part = text[statement.said : statement.end].strip()
        if _patterns()["none"].match(part):
            return "", statement.end
        for rest in (part.replace("\n", " "), part.split("\n")[0], re.split(r"[,;(]?\s*(?:不选|not|but not|nicht|pas|sin|no|und nicht|sondern|而不)", part, maxsplit=1)[0], re.split(r"[.;](?=\s|$)|\s:\s|:\s", part, maxsplit=1)[0],
                     re.split(r"[,;.:(]?\s+(?:because|since|as|weil|da|porque|car|因为)\b", part, maxsplit=1)[0]):  # fmt: skip
            if letters := _named(rest, options):
                return letters, statement.said + len(rest)
        return None

    if checked := checked_letters(text, options):
        return Answer("ok", checked, "checked")
    excepted = _patterns()["except"].match(text)
    if excepted and (named := _named(excepted[1], options)):
        return Answer("ok", "".join(each for each in option_letters(len(options)) if each not in named), "except")
    if reply.unfinished:
        said = [each for each in find_statements(text) if each.rule == "boxed"]
        boxed = last_standing(text, said, resolve)
        return Answer("ok", boxed.value, "boxed") if boxed and boxed.value else Answer(reply.unread)
    said = [*find_statements(text), *_said_to_be_right(text)]
    found = last_standing(text, sorted(said, key=lambda each: each.said), resolve)
    if found is not None:
        return (
            Answer("ok", found.value, found.statement.rule)
            if found.value and not found.taken_back
            else Answer("ambiguous")
        )
    present = (
        re.fullmatch(
            r"(.{3,300}?)\s+(?:are|is|sind|ist|son|sont|est)\s+(?:all\s+|both\s+)?(?:present|vorhanden|presentes?|pr[eé]sente?s?|seen|visible)\.?",
            lines[-1],
        )
        if lines
        else None
    )
    if present and (letters := _named(present[1], options)):
        return Answer("ok", letters, "present")
    if lines and not reply.unfinished and (letters := _named(lines[-1], options)):
        return Answer("ok", letters, "last")
    return Answer("refused" if refuses(text) else reply.unread)


def checked_letters(text: str, options: Sequence[str]) -> str | None:
    """The letters that a list marks as right which goes through all options: "A ✓, B ✗ …", "Ascites: present"; else None.

    None as well where an option has no mark.
    """
    letters, known = option_letters(len(options)), _patterns()
    found = {}
    for line in re.split(r"\n|(?<=[.;,])\s+(?=\(?[A-Z]\b|[^\W\d_]+\s*:)", text[:4000]):
        for letter, option in zip(letters, options, strict=True):
            label = rf"[\s*_(\[|-]{{0,6}}(?P<sign>[√✓✔☑✅×✗✘✕❌☒]\ufe0f?\s*)?(?:(?P<box>\[[ xX]\])\s*)?(?:\(?{letter}(?![^\W_])[).:\]*_\s]{{0,4}}(?:{re.escape(option)})?|{re.escape(option)})"
            match = re.match(label, line, re.IGNORECASE if option in line else 0)
            if match is None:
                continue
            if match["sign"]:
                found[letter] = match["sign"][0] in "√✓✔☑✅"
                break
            if match["box"]:
                found[letter] = "x" in match["box"].lower()
                break
            rest = line[match.end() :]
            begins = re.match(r"[\s*_:|)\]=—–-]{0,8}", rest)
            mark = known["checked"].match(rest, begins.end()) or known["checked_end"].search(rest)
            crossed = known["crossed"].match(rest, begins.end()) or known["crossed_end"].search(rest)
            if bool(mark) != bool(crossed) or (mark and crossed):
                found[letter] = bool(mark) and not (
                    crossed and crossed.end() - crossed.start() > mark.end() - mark.start()
                )
            break
    return "".join(letter for letter in letters if found[letter]) if len(found) == len(letters) > 1 else None


def _said_to_be_right(text: str) -> list[Statement]:
    """Where letters are said to be right together."""
    return [Statement(match.start(1), match.start(1), match.end(1), "predicate")
            for match in _patterns()["are_right"].finditer(text) if not is_negated(text, match.start(1))]  # fmt: skip


def _named(said: str, options: Sequence[str]) -> str:
    """The letters that a line names, "" if it can't be read."""
    letters, known = option_letters(len(options)), _patterns()
    if len(said) > _LONGEST + sum(map(len, options)):
        return ""
    line = re.sub(r"\b(?:la|el|le|les|las|los|option|opci[oó]n|die|the)\s+(?=[(\[\"']?[A-Z]\b)", "", said)
    line = known["label"].sub("", line).strip().rstrip(".!").strip("*_[]{}()\"' $")
    line = re.sub(r"[\"']", "", line) if re.fullmatch(r"[\"'A-Z, ]+", line) else line
    if re.fullmatch(r"[A-Z]{2,26}", line):
        found = list(line)
    elif known["list"].fullmatch(line):
        found = re.findall(r"[A-Z]", known["and"].sub(" ", line))
    else:
        found = _with_texts(line, letters, options)
    right = found and len(set(found)) == len(found) and all(each in letters for each in found)
    return "".join(sorted(found)) if right else ""


def _with_texts(line: str, letters: str, options: Sequence[str]) -> list[str]:
    """Letters of a line that is options' texts, each with or without its letter, and signs between them."""
    by_length = sorted(zip(letters, map(normalised, options), strict=True), key=lambda pair: -len(pair[1]))
    found, rest = [], line
    while rest:
        for letter, text in by_length:
            match = re.match(rf"(?:[(\[*-]*\s?{letter}[)\].:*]*\s*)?{re.escape(text)}(?!\w)", rest, re.IGNORECASE)
            if match and text:
                found.append(letter)
                rest = re.sub(rf"^{_patterns()['sign'].pattern}", "", rest[match.end() :].lstrip(".)*]")).strip()
                break
        else:
            return []
    return found
