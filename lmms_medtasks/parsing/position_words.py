"""Positions and "none" in Spanish, French, German and Chinese, put into the English that the other readers know."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ROW_WORDS: Mapping[str, tuple[str, ...]] = {
    "top": ("arriba", "superior", "haut", "supérieure?", "oben", r"obere[nrsm]?"),
    "middle": ("medio", "centro", "milieu", "center", "mitte", r"mittlere[nrsm]?"),
    "bottom": ("abajo", "inferior", "bas", "inférieure?", "unten", r"untere[nrsm]?"),
}
_COLUMN_WORDS: Mapping[str, tuple[str, ...]] = {
    "left": ("izquierd[ao]", "gauche", "links", r"linke[nrsm]?"),
    "right": ("derech[ao]", "droite?", "rechts", r"rechte[nrsm]?"),
}
_BETWEEN = r"(?:[ ,-]{1,3}|\b(?:a|en|de|del|la|el|al|à|au|du|le|in|der|im|am)\b){1,8}"
_CENTER = r"(?:centro|medio|center|milieu|mitte)"


def _any(words: Mapping[str, tuple[str, ...]]) -> str:
    return "|".join(each for known in words.values() for each in known)


# A column of these languages has to be there, or two words of them: "superior" and "center" are English, too.
_ROW_COLUMN = re.compile(rf"\b(?:en )?(?P<row>{_any(_ROW_WORDS)})\b{_BETWEEN}\b(?P<column>{_any(_COLUMN_WORDS)})\b")
_COLUMN_ROW = re.compile(rf"\b(?P<column>{_any(_COLUMN_WORDS)})\b{_BETWEEN}\b(?P<row>{_any(_ROW_WORDS)})\b")
_ROW_CENTER = re.compile(
    rf"\b(?P<row>arriba|abajo|en haut|en bas|oben|unten)\b{_BETWEEN}\b(?P<center>{_CENTER}|mittig)\b"
)
_CENTER_ALONE = re.compile(
    r"\b(?:en el|al) centro\b|\bau (?:center|milieu)\b|\bin der mitte\b|正?中(?:间|央)(?!那?一?[行列排])"
)
_CHINESE = {"上": "top", "下": "bottom", "中": "middle", "左": "left", "右": "right"}
# "其中左上" and "图中右上": the 中 there says "of them", "in the picture".
_CHINESE_PAIR = re.compile(
    r"(?:(?P<a>[左右])(?P<b>[上下])|(?P<c>[上下])[排行]?的?(?P<d>[左右])(?![上下])"
    r"|(?P<e>[左右])[侧边]?(?P<f>中)间?|(?<![其图片像格])(?P<g>中)间?(?P<h>[左右])(?![上下])"
    r"|(?<![左右])(?P<i>[上下])[侧边]?(?P<j>中)间?|(?<![其图片像格])(?P<k>中)间?(?P<l>[上下]))[角方侧边部]?"
)
_CHINESE_AND = re.compile(r"(?<=[左右中上下角方侧边间])[和与及](?=[左右中上下])")  # "top-left and bottom-right", no comparison
_CHINESE_NUMBERS = {word: str(number) for number, word in enumerate("一二三四五六七八九", start=1)}
_CHINESE_ROW = re.compile(r"第 ?(?P<row>[一二三四五1-5]) ?行[ ,的]{0,3}第 ?(?P<column>[一二三四五1-5]) ?列")
_CHINESE_IMAGE = re.compile(r"第 ?(?P<number>[一二三四五六七八九1-9]) ?[张幅个]")
_NTH = {"first": r"primera|premi[èe]re|erste[nrsm]?", "second": r"segunda|deuxi[èe]me|seconde|zweite[nrsm]?",
        "third": r"tercera|troisi[èe]me|dritte[nrsm]?"}  # fmt: skip
_LINES = {"row": r"fila|ligne|rang[ée]e|zeile|reihe", "column": r"columna|colonne|spalte"}
_ORDINALS = tuple((re.compile(rf"\b(?:{nth})\s+(?:{line})\b"), f"{number} {name}")
                  for number, nth in _NTH.items() for name, line in _LINES.items())  # fmt: skip
_PREDICATES = (
    (
        re.compile(
            r"\bes (?:la |el )?(?:[uú]nica )?(?:distint[ao]|diferente)\b|\best (?:la seule )?diff[ée]rente\b|\bunterscheidet sich\b|"
            r"\bist (?:anders|der ausrei(?:ß|ss)er)\b|\b(?:ausrei(?:ß|ss)er|intruse?)\b"
        ),
        " is different ",
    ),
    (re.compile(r"(?:和|与|跟)?(?:其他|别的)[^.,]{0,8}不(?:一样|同)"), " is different "),
)
_NOBODY = re.compile(
    r"\bno hay ning[uú]n[ao]?(?: imagen)?(?: que sea)? (?:distint[ao]|diferente)|\bninguna (?:imagen )?(?:es|destaca|difiere|parece)|"
    r"\baucune (?:image )?(?:n['’]est|ne) (?:diff\w+|se d[ée]tache|se distingue|sort)|\bkein(?:es|e)? (?:bild|der bilder)?\s?(?:weicht|unterscheidet|f[aä]llt|ist anders)|"
    r"kein(?:en|e|es)? (?:ausrei(?:ß|ss)er|unterschied|abweich\w+)|(?<=[:是为])\s?(?:无|没有)(?=[.\s]|$)|没有(?:任何|哪)?(?:一)?(?:张)?(?:图像?|图片)?(?:是)?(?:真的)?(?:异常|不同|例外|不一样)"
)
_CONSIDERED = re.compile(r"\b(?:dachte ich an|hielt ich|pens[eé] en|je pensais [aà]|j'ai cru voir|mi primera impresi[oó]n fue)\b")
_NOUNS = (
    (re.compile(r"\b(?:fila|ligne|rangée|zeile|reihe)(?= ?\d)"), "row"),
    (re.compile(r"\b(?:columna|colonne|spalte)(?= ?\d)"), "column"),
)
_THE_IMAGE = r"(?: (?:la|el|le|das|die|der|l'|im)?(?: ?(?:imagen|image|bild))?(?= ))?"
_NOT = re.compile(rf"\b(?:no es|no está|ni|n'est pas|pas|nicht|weder|noch)\b{_THE_IMAGE}|不是|并非|不在")
_UNLIKE = re.compile(r"\b(?:a diferencia de|contrairement à|im gegensatz zu[rm]?)\b|[与和](?= )")
_OR = re.compile(r"\b(?:o|ou|oder|y|et|und)\b|或|和")
_NONE = re.compile(r"\W*(?:ningun[ao]|aucune?|keine[srn]?|无|没有|没有异常)(?=[^\w\s]|\s*$)")
_ALL_ALIKE = re.compile(
    r"\btodas (?:las im[aá]genes )?(?:son|parecen) iguales\b|\btoutes (?:les images )?sont (?:identiques|pareilles)\b|\bsont toutes (?:identiques|pareilles)\b|\bsind alle (?:gleich|identisch)|完全(?:一致|相同|一样)|"
    r"\balle (?:bilder )?sind (?:gleich|identisch)\b|(?:所有|全部|都)[^.,]{0,8}(?:一样|相同|一致)"
)


def in_english(text: str) -> str:
    """A :func:`~lmms_medtasks.parsing.texts.plain` text with its foreign positions in English; others untouched.

    "abajo a la derecha" becomes "bottom-right", "第二行第三列" "row 2, column 3". What denies or compares a position
    becomes "not" and "unlike". A reply that names no position and says that there is none, or that all are alike,
    becomes "none".
    """
    if (nobody := _NOBODY.search(text)) is not None:
        text = f"{text[: nobody.start()]} there is no outlier {text[nobody.end() :]}"
    text = _CONSIDERED.sub(" considered ", text)
    for pattern, english in (*_ORDINALS, *_PREDICATES):
        text = pattern.sub(english, text)
    found = _ROW_COLUMN.sub(lambda match: _pair(match["row"], match["column"]), text)
    found = _COLUMN_ROW.sub(lambda match: _pair(match["row"], match["column"]), found)
    found = _ROW_CENTER.sub(lambda match: f"{_name(match['row'].removeprefix('en '), _ROW_WORDS)}-center", found)
    found = _CHINESE_AND.sub("或", found)
    found = _CHINESE_PAIR.sub(_chinese_pair, found)
    found = _CHINESE_ROW.sub(lambda match: f" row {_number(match['row'])}, column {_number(match['column'])} ", found)
    found = _CHINESE_IMAGE.sub(lambda match: f" image {_number(match['number'])} ", found)
    found = _CENTER_ALONE.sub(" center ", found)
    for pattern, noun in _NOUNS:
        found = pattern.sub(noun, found)
    if found != text:
        return _OR.sub(" or ", _UNLIKE.sub(" unlike ", _NOT.sub(" not ", found)))
    return "none" if _NONE.match(text) or _ALL_ALIKE.search(text) else text


def _pair(row: str, column: str) -> str:
    return f"{_name(row, _ROW_WORDS)}-{_name(column, _COLUMN_WORDS)}"


def _name(word: str, words: Mapping[str, tuple[str, ...]]) -> str:
    return next(name for name, known in words.items() if any(re.fullmatch(each, word) for each in known))


def _chinese_pair(match: re.Match[str]) -> str:
    names = [_CHINESE[each] for each in match.groups() if each]
    row = next((name for name in names if name in ("top", "bottom")), "middle")
    column = next((name for name in names if name in ("left", "right")), "center")
    return f" {row}-{column} "


def _number(text: str) -> str:
    return _CHINESE_NUMBERS.get(text, text)
