"""Positions and "none" in Spanish, French, German and Chinese, put into the English that the other readers know."""

from __future__ import annotations

import functools
import re
from typing import Literal

from lmms_medtasks.parsing.mentions import ORDINALS
from lmms_medtasks.parsing.words import any_of, numbered, word_pattern

_CHINESE = {"上": "top", "下": "bottom", "中": "middle", "左": "left", "右": "right"}
_CHINESE_NUMBERS = {word: str(number) for number, word in enumerate("一二三四五六七八九", start=1)}
# "其中左上" and "图中右上": the 中 there says "of them", "in the picture".
_OF_THE_GRID = "(?<![其图片像格])"
_CHINESE_PAIR = re.compile(
    r"(?:([左右])([上下])|([上下])[排行]?的?([左右])(?![上下])"
    rf"|([左右])[侧边]?(中)间?|{_OF_THE_GRID}(中)间?([左右])(?![上下])"
    rf"|(?<![左右])([上下])[侧边]?(中)间?|{_OF_THE_GRID}(中)间?([上下]))[角方侧边部]?"
)
_CHINESE_ROW = re.compile(r"第 ?(?P<row>[一二三四五1-5]) ?行[ ,的]{0,3}第 ?(?P<column>[一二三四五1-5]) ?列")
_CHINESE_IMAGE = re.compile(r"第 ?(?P<number>[一二三四五六七八九1-9]) ?[张幅个]")
_THE_IMAGE = r"(?: (?:la|el|le|das|die|der|l'|im)?(?: ?(?:imagen|image|bild))?(?= ))?"


def in_english(text: str) -> str:
    """A :func:`~lmms_medtasks.parsing.texts.plain` text with its foreign positions in English; others untouched.

    "abajo a la derecha" becomes "bottom-right", "第二行第三列" "row 2, column 3". What denies or compares a position
    becomes "not" and "unlike". A reply that names no position and says that there is none, or that all are alike,
    becomes "none".
    """
    text = word_pattern("grid_nobody").sub(" there is no outlier ", text, count=1)
    text = word_pattern("grid_differs").sub(" is different ", _translate_ordinals(text))
    found = _translate_chinese(_translate_pairs(text))
    found = word_pattern("in_the_center").sub(" center ", found)
    for line in ("row", "column"):
        found = word_pattern(f"grid_{line}", after=r"(?= ?\d)").sub(line, found)
    if found != text:
        for category, after, english in (("not", _THE_IMAGE, "not"), ("unlike", "", "unlike"), ("or", "", "or")):
            found = word_pattern(f"grid_{category}", after=after).sub(f" {english} ", found)
        return found
    none = word_pattern("grid_none", before=r"\W*", after=r"(?=[^\w\s]|\s*$)").match(text)
    return "none" if none or word_pattern("grid_alike").search(text) else text


def _translate_ordinals(text: str) -> str:
    """ "Segunda fila" becomes "second row"."""
    for number, nth in numbered("nth").items():
        for line in ("row", "column"):
            text = word_pattern(f"grid_{line}", before=rf"{nth}\s+").sub(f"{ORDINALS[number - 1]} {line}", text)
    return text


def _translate_pairs(text: str) -> str:
    """Words for a row and a column, in either order, or for a row and the middle: "en haut à gauche"."""
    for first, second in (("row", "column"), ("column", "row")):
        text = _pair(first, second).sub(_name_pair, text)
    return _row_center().sub(lambda match: f"{_name_row(match['row'])}-center", text)


def _translate_chinese(text: str) -> str:
    text = _CHINESE_PAIR.sub(_name_chinese_pair, text)
    text = _CHINESE_ROW.sub(lambda match: f" row {_digit(match['row'])}, column {_digit(match['column'])} ", text)
    return _CHINESE_IMAGE.sub(lambda match: f" image {_digit(match['number'])} ", text)


def _name_pair(match: re.Match[str]) -> str:
    column = "left" if word_pattern("grid_left").fullmatch(match["column"]) else "right"
    return f"{_name_row(match['row'])}-{column}"


def _name_row(word: str) -> str:
    if word_pattern("grid_top", before="(?:en )?").fullmatch(word):
        return "top"
    return "bottom" if word_pattern("grid_bottom", before="(?:en )?").fullmatch(word) else "middle"


def _name_chinese_pair(match: re.Match[str]) -> str:
    names = [_CHINESE[sign] for sign in match.groups() if sign]
    row = next((name for name in names if name in ("top", "bottom")), "middle")
    column = next((name for name in names if name in ("left", "right")), "center")
    return f" {row}-{column} "


def _digit(text: str) -> str:
    return _CHINESE_NUMBERS.get(text, text)


# --- Their patterns ---------------------------------------------------------------------------------------------------


def _joint() -> str:
    return rf"(?:[ ,-]{{1,3}}|{any_of('grid_joint')}){{1,8}}"


@functools.cache
def _pair(first: Literal["row", "column"], second: Literal["row", "column"]) -> re.Pattern[str]:
    # A column of these languages has to be there, or two words of them: "superior" and "center" are English, too.
    words = {
        "row": rf"(?:en )?(?P<row>{any_of('grid_top')}|{any_of('grid_middle')}|{any_of('grid_bottom')})",
        "column": rf"(?P<column>{any_of('grid_left')}|{any_of('grid_right')})",
    }
    return re.compile(rf"(?<!\w){words[first]}{_joint()}{words[second]}")


@functools.cache
def _row_center() -> re.Pattern[str]:
    row = rf"(?P<row>(?:en )?(?!superior|inferior)(?:{any_of('grid_top')}|{any_of('grid_bottom')}))"
    return re.compile(rf"(?<!\w){row}{_joint()}{any_of('grid_center')}")
