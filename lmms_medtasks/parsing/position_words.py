"""Positions and "none" in Spanish, French, German and Chinese, put into the English that the other readers know."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lmms_medtasks.parsing.mentions import ORDINALS
from lmms_medtasks.parsing.words import any_of, numbered, word_pattern

_CHINESE_NUMBERS = {word: str(number) for number, word in enumerate("一二三四五六七八九", start=1)}
_CHINESE_IMAGE = re.compile(r"第 ?(?P<number>[一二三四五六七八九1-9]) ?[张幅个]")
_ENGLISH = ("center", "image", "superior", "inferior")
"""Words of these languages that are English, too."""
_SIDES = {"top": 0, "bottom": 0, "left": 1, "right": 1}
_MOST_TOKENS = 6
_THE_IMAGE = r"(?: (?:la|el|le|das|die|der|l'|im)?(?: ?(?:imagen|image|bild))?(?= ))?"


def in_english(text: str) -> str:
    """A :func:`~lmms_medtasks.parsing.texts.plain` text with its foreign positions in English; others untouched.

    "abajo a la derecha" becomes "bottom-right", "第二行第三列" "row 2, column 3". What denies or compares a position
    becomes "not" and "unlike". A reply that names no position and says that there is none, or that all are alike,
    becomes "none".
    """
    text = word_pattern("grid_nobody").sub(" there is no outlier ", text, count=1)
    text = word_pattern("grid_differs").sub(" is different ", text)
    text = word_pattern("grid_normal").sub(" is normal ", text)
    found = _CHINESE_IMAGE.sub(lambda match: f" image {_digit(match['number'])} ", _translate_places(text))
    found = word_pattern("in_the_center").sub(" center ", found)
    for line in ("row", "column"):
        found = word_pattern(f"grid_{line}", after=r"(?= ?\d)").sub(line, found)
    if found != text:
        for category, after, english in (("not", _THE_IMAGE, "not"), ("unlike", "", "unlike"), ("or", "", "or")):
            found = word_pattern(f"grid_{category}", after=after).sub(f" {english} ", found)
        return found
    none = word_pattern("grid_none", before=r"\W*", after=r"(?=[^\w\s]|\s*$)").match(text)
    return "none" if none or word_pattern("grid_alike").search(text) else text


def _translate_places(text: str) -> str:
    """Puts each run of words for a row and a column into English: "in der Mitte der oberen Reihe"."""
    pieces, done = [], 0
    run: list[re.Match[str]] = []
    for token in [*_token().finditer(text), None]:
        if token is None or not _goes_on(run, token, text):
            if place := _name_place(run):
                pieces += [text[done : run[0].start()], f" {place} "]
                done = run[-1].end()
            run = []
        if token is not None:
            run.append(token)
    return "".join([*pieces, text[done:]])


def _goes_on(run: Sequence[re.Match[str]], token: re.Match[str], text: str) -> bool:
    """Whether a word belongs to the same place as those before it."""
    if not run or len(run) >= _MOST_TOKENS or not _joint().fullmatch(text, run[-1].end(), token.start()):
        return False
    kinds = [str(each.lastgroup) for each in run]
    kind = str(token.lastgroup)
    sides = [_SIDES[each] for each in kinds if each in _SIDES]
    lines = "row" in kinds or "column" in kinds
    if kind in _SIDES:
        return _SIDES[kind] not in sides
    return (kind not in kinds or kind == "center") and (kind != "center" or lines or len(sides) + kinds.count(kind) < 2)


def _name_place(run: Sequence[re.Match[str]]) -> str:
    """The place that a run of words names, in English; "" where it names none."""
    if all(token[0] in _ENGLISH or token[0] in ORDINALS for token in run):
        return ""
    kinds = [str(token.lastgroup) for token in run]
    lines: dict[str, str] = {}
    left = list(kinds)
    for line in ("row", "column"):
        if line in left:
            place = left.index(line)
            # Romance languages put the word for a side behind the line, and others before it.
            behind = (
                place + 1 < len(left)
                and left[place + 1][:3] != "nth"
                and word_pattern("grid_line_first").fullmatch(run[kinds.index(line)][0])
            )
            at = place + 1 if behind and left[place + 1] not in ("row", "column", "image") else place - 1
            if at >= 0 and left[at] not in ("row", "column", "image"):
                lines[line] = left[at]
                left = [each for number, each in enumerate(left) if number not in (at, place)]
    for each in left:
        line = ("row", "column")[_SIDES[each]] if each in _SIDES else "column" if "row" in lines else "row"
        if each in _SIDES:
            lines.setdefault(line, each)
    for each in left:
        if each == "center" or (each.startswith("nth") and lines):
            lines.setdefault("column" if "row" in lines else "row", each)
    if len(lines) < 2:
        return "center" if sorted(left) == ["center", "image"] else ""
    if any(each.startswith("nth") for each in lines.values()):
        return ", ".join(f"{_line_name(lines[line])} {line}" for line in ("row", "column"))
    return f"{lines['row'].replace('center', 'middle')}-{lines['column']}"


def _line_name(kind: str) -> str:
    return ORDINALS[int(kind[3:]) - 1] if kind.startswith("nth") else kind.replace("center", "middle")


def _digit(text: str) -> str:
    return _CHINESE_NUMBERS.get(text, text)


# --- Their patterns ---------------------------------------------------------------------------------------------------


@functools.cache
def _joint() -> re.Pattern[str]:
    return re.compile(rf"(?:[ ,'-]{{1,3}}|{any_of('grid_joint')}){{0,8}}")


@functools.cache
def _token() -> re.Pattern[str]:
    """A word for a side, a line, an image or a number; the name of its group says what it is."""
    words = [rf"(?P<{name}>{any_of(f'grid_{name}')})" for name in (*_SIDES, "center", "row", "column", "image")]
    words += [rf"(?P<nth{number}>{nth})" for number, nth in numbered("nth").items()]
    return re.compile("|".join(words))
