"""Where a text names positions of a grid, in the words that people and models use."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.parsing.words import any_of, lazy_pattern, numbered_words, word_pattern

ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth",
)  # fmt: skip
_CARDINALS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "twenty-one", "twenty-two",
    "twenty-three", "twenty-four", "twenty-five",
)  # fmt: skip
_NUMBERS = {
    **{word: number for number, word in enumerate(ORDINALS, start=1)},
    **{word: number for number, word in enumerate(_CARDINALS, start=1)},
}
_LAST = -1

# The longer before those that they start with: "twenty-one" is not twenty.
_NTH = rf"(?:{'|'.join(reversed(ORDINALS))}|last|\d{{1,2}}(?:st|nd|rd|th))"
_COUNT = rf"(?:\d{{1,2}}|{'|'.join(reversed(_CARDINALS))})"
_NOUN = r"(?:sub-?)?(?:image|panel|scan|picture|tile|cell|square|frame|position|slot|slice|figure|photo|view)"
_MIDDLE = r"(?:middle|mid|center)"
_ROW_WORD = rf"(?:top|upper|bottom|lower|{_MIDDLE})(?:-?most)?"
_COLUMN_WORD = rf"(?:left|right|{_MIDDLE})(?:-?most)?(?:[ -]hand)?"
# Sides of the body, not of the grid: "upper left lobe".
_NOT_ANATOMY = (
    r"(?! (?:lung|lobe|zone|ventric|atri|kidney|renal|extremit|limb|leg|arm|abdom|chest|hemi|temporal|frontal|parietal|"
    r"occipital|field|jaw|molar|teeth|tooth|ear\b|lingula|phalan|cerebr|finger|third\b|hip\b|knee|shoulder|breast|hilum|"
    r"hilar|sided\b|side of the (?:body|chest|patient|heart|head|brain)))"
)
_ROW = rf"(?:(?P<<>word>{_ROW_WORD}|{_NTH})[ -]row|row ?(?:no\.? ?|number |\# ?)?(?P<<>count>{_COUNT}))"
_COLUMN = (
    rf"(?:(?P<<>word>{_COLUMN_WORD}|{_NTH})(?: (?:col(?:umn)?|{_NOUN}|one|side|end))?"
    r"(?P<<>from> from the (?:left|right))?"
    rf"|col(?:umn)?\.? ?(?:no\.? ?|number |\# ?)?(?P<<>count>{_COUNT}))"
)
_JOIN = r"[ ,:(-]*(?:(?:and|on|in|at|of|to|is|the|its) ?)*"
_THE_ROW, _THE_COLUMN = _ROW.replace("<>", "r"), _COLUMN.replace("<>", "c")
_PATTERNS = {
    "row_column": rf"\b{_THE_ROW}{_JOIN}{_THE_COLUMN}\b",
    "column_row": rf"\b{_THE_COLUMN}(?: (?:in|of|on|at|from)|,|:| and)? ?(?:the )?{_THE_ROW}\b",
    "code": r"\br ?(?P<row>\d) ?,? ?c ?(?P<column>\d)\b",
    "coordinates": r"\((?P<row>\d) ?, ?(?P<column>\d)\)(?P<order>,? ?\(?row, ?col(?:umn)?\b)?",
    "in_column": rf"\b(?P<one>{_ROW_WORD})(?: (?:{_NOUN}|one))? (?:of|in) the (?P<two>{_COLUMN_WORD}) column\b",
    "column_first": rf"\b(?P<one>{_COLUMN_WORD}) column,? (?:(?:at|on|in) )?(?:the )?(?P<two>{_ROW_WORD})\b(?! row)",
    "in_brackets": rf"\((?P<one>{_ROW_WORD}), ?(?P<two>{_COLUMN_WORD})\)",
    "pair": rf"\b(?P<one>{_ROW_WORD})(?:[ -]*|,? (?:in|at|on) the )(?P<two>{_COLUMN_WORD})\b{_NOT_ANATOMY}"
    "(?! (?:row|column))",
    "reversed": rf"\b(?P<one>{_COLUMN_WORD})[ -]*(?P<two>{_ROW_WORD})\b{_NOT_ANATOMY}(?! quadrant)(?![ -](?:row|col))",
    "list": rf"\b{_NOUN}s (?P<list>\d{{1,2}}(?:(?:,| and|, and|,? &) ?\d{{1,2}})+)\b",
    "number": rf"\b(?:{_NOUN}|number) ?(?:no\.? ?|number |\# ?)?(?P<number>{_COUNT})\b(?! of)",
    "answer": r"\banswer\"?(?: is|:| =)* ?(?P<number>\d{1,2})\b(?![.,]\d)",
    "ordinal": rf"\b(?P<number>{_NTH}) (?:{_NOUN}|one)\b(?!s)(?! out)",
    "middle": rf"\b{_MIDDLE}\b(?![ -](?:row|col|of (?!the (?:grid|picture|image)\b))){_NOT_ANATOMY}",
}
_ANY = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}

_CHINESE_NUMBERS = {word: str(number) for number, word in enumerate("一二三四五六七八九", start=1)}
_CHINESE_IMAGE = re.compile(r"第 ?(?P<number>[一二三四五六七八九1-9]) ?[张幅个]")
_ENGLISH = ("center", "image", "superior", "inferior")
"""Words of these languages that are English, too."""
_SIDES = {"top": 0, "bottom": 0, "left": 1, "right": 1}
_MOST_TOKENS = 6
_THE_IMAGE = r"(?: (?:la|el|le|das|die|der|l'|im)?(?: ?(?:imagen|image|bild))?(?= ))?"


class PositionMention(NamedTuple):
    """A position named in a text: where in it, and which, by the grid's own name."""

    start: int
    end: int
    position: str


def find_mentions(text: str, size: GridSize) -> list[PositionMention]:
    """The positions that a :func:`~lmms_medtasks.parsing.texts.to_plain_text` text names, in its order, without
    overlaps.

    Numbers count in reading order from 1. A place that the grid has not ("image 7" of four) is no mention, nor is one
    that names no single panel ("the top row"). In a grid with more than three panels a side only its corners have names
    of two words, and its center only if the side is odd.
    """
    if re.fullmatch(r"\W*\d{1,2}\W*", text) and not re.search(r"\d.*\W\d|[(]", text):
        return [PositionMention(0, len(text), name) for name in _position_numbered(int(re.sub(r"\D", "", text)), size)]
    all_mentions: list[PositionMention] = []
    taken = [False] * (len(text) + 1)
    for name, pattern in _ANY.items():
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            places = list(_match_positions(name, match, size))
            # What a longer phrase names, a shorter one inside must not name again, even if the grid has no such place.
            taken[match.start() : match.end()] = [True] * (match.end() - match.start())
            all_mentions += [PositionMention(match.start() if start is None else start, end or match.end(), position)
                      for position, start, end in places]  # fmt: skip
    return sorted(all_mentions)


def _match_positions(name: str, match: re.Match[str], size: GridSize) -> Iterator[tuple[str, int | None, int | None]]:
    """The positions of one match, each with its own span where that is not the match's."""
    groups = match.groupdict()
    if name == "list":
        for number in re.finditer(r"\d{1,2}", match["list"]):
            offset = match.start("list")
            for position in _position_numbered(int(number.group()), size):
                yield position, offset + number.start(), offset + number.end()
        return
    if name in ("number", "answer", "ordinal"):
        number_found = _parse_number(groups["number"])
        matched = _position_numbered(size.panels if number_found == _LAST else number_found, size)
    elif name == "middle":
        matched = _position_at(_middle_line(size), _middle_line(size), size)
    elif name == "code":
        matched = _position_at(*_from_one(int(groups["row"]), int(groups["column"])), size)
    elif name == "coordinates":
        one, two = int(groups["row"]), int(groups["column"])
        # Without words one cannot tell rows from columns, or counting from 1 from counting from 0.
        sure = groups["order"] or (one == two and one in (0, size.side))
        matched = _position_at(*_from_one(one, two), size) if sure else iter(())
    elif name in ("in_column", "column_first", "in_brackets", "pair", "reversed"):
        matched = _two_words(groups["one"], groups["two"], size)
    else:
        row = _line_number(groups["rword"] or groups["rcount"], "", size, ("top", "upper"), ("bottom", "lower"))
        column = _line_number(groups["cword"] or groups["ccount"], groups["cfrom"] or "", size, ("left",), ("right",))
        matched = _position_at(*_from_one(row, column), size)
    yield from ((position, None, None) for position in matched)


def _position_numbered(number: int, size: GridSize) -> Iterator[str]:
    if 1 <= number <= size.panels:
        yield size.positions[number - 1]


def _from_one(row: int | None, column: int | None) -> tuple[int | None, int | None]:
    """Row and column counted from 1, where a 0 shows that they were counted from 0."""
    if row is not None and column is not None and 0 in (row, column):
        return row + 1, column + 1
    return row, column


def _position_at(row: int | None, column: int | None, size: GridSize) -> Iterator[str]:
    if row and column and row <= size.side and column <= size.side:
        yield size.positions[(row - 1) * size.side + column - 1]


def _middle_line(size: GridSize) -> int | None:
    return size.side // 2 + 1 if size.side % 2 else None


def _two_words(one: str, two: str, size: GridSize) -> Iterator[str]:
    words = (one.split("-")[0].removesuffix("most"), two.split("-")[0].split(" ")[0].removesuffix("most"))
    vertical = [word for word in words if word in ("top", "upper", "bottom", "lower")]
    horizontal = [word for word in words if word in ("left", "right")]
    row = _line_number(vertical[0] if vertical else "middle", "", size, ("top", "upper"), ("bottom", "lower"))
    column = _line_number(horizontal[0] if horizontal else "middle", "", size, ("left",), ("right",))
    if len(vertical) < 2 and len(horizontal) < 2:
        yield from _position_at(row, column, size)


def _line_number(word: str, side: str, size: GridSize, first: tuple[str, ...], last: tuple[str, ...]) -> int | None:
    """The number of a row or column, from 1; None if the grid has no such one."""
    base = re.split(r"[ -]", word)[0].removesuffix("most")
    if base in first:
        return 1
    if base in last:
        return size.side
    if re.fullmatch(_MIDDLE, base):
        return _middle_line(size)
    number = _parse_number(base)
    if number == _LAST:
        return size.side
    return size.side + 1 - number if side.endswith("right") else number


@functools.cache
def _parse_number(word: str) -> int:
    if word == "last":
        return _LAST
    return _NUMBERS.get(word) or int(re.sub(r"\D", "", word))


def in_english(text: str) -> str:
    """A :func:`~lmms_medtasks.parsing.texts.to_plain_text` text with its foreign positions in English; others
    untouched.

    "abajo a la derecha" becomes "bottom-right", "第二行第三列" "row 2, column 3". What denies or compares a position
    becomes "not" and "unlike". A reply that names no position and says that there is none, or that all are alike,
    becomes "none".
    """
    text = word_pattern("grid_nobody").sub(" there is no outlier ", text, count=1)
    text = word_pattern("grid_differs").sub(" is different ", text)
    text = word_pattern("grid_normal").sub(" is normal ", text)
    english_text = _translate_places(text)
    english_text = _CHINESE_IMAGE.sub(lambda match: f" image {_CHINESE_NUMBERS.get(match[1], match[1])} ", english_text)
    english_text = word_pattern("in_the_center").sub(" center ", english_text)
    for line in ("row", "column"):
        english_text = word_pattern(f"grid_{line}", after=r"(?= ?\d)").sub(line, english_text)
    if english_text != text:
        for category, after, english in (("not", _THE_IMAGE, "not"), ("unlike", "", "unlike"), ("or", "", "or")):
            english_text = word_pattern(f"grid_{category}", after=after).sub(f" {english} ", english_text)
        return english_text
    none = word_pattern("grid_none", before=r"\W*", after=r"(?=[^\w\s]|\s*$)").match(text)
    return "none" if none or word_pattern("grid_alike").search(text) else text


def _translate_places(text: str) -> str:
    """Puts each run of words for a row and a column into English: "in der Mitte der oberen Reihe"."""
    pieces, done = [], 0
    run: list[re.Match[str]] = []
    for token in [*_token_pattern().finditer(text), None]:
        if token is None or not _goes_on(run, token, text):
            if place_name := _name_place(run):
                pieces += [text[done : run[0].start()], f" {place_name} "]
                done = run[-1].end()
            run = []
        if token is not None:
            run.append(token)
    return "".join([*pieces, text[done:]])


def _goes_on(run: Sequence[re.Match[str]], token: re.Match[str], text: str) -> bool:
    """Whether a word belongs to the same place as those before it."""
    if not run or len(run) >= _MOST_TOKENS or not _joint_pattern().fullmatch(text, run[-1].end(), token.start()):
        return False
    kinds = [str(word.lastgroup) for word in run]
    kind = str(token.lastgroup)
    sides = [_SIDES[name] for name in kinds if name in _SIDES]
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
            line_index = left.index(line)
            # Romance languages put the word for a side behind the line, and others before it.
            behind = (
                line_index + 1 < len(left)
                and left[line_index + 1][:3] != "nth"
                and word_pattern("grid_line_first").fullmatch(run[kinds.index(line)][0])
            )
            at = line_index + 1 if behind and left[line_index + 1] not in ("row", "column", "image") else line_index - 1
            if at >= 0 and left[at] not in ("row", "column", "image"):
                lines[line] = left[at]
                left = [kind for number, kind in enumerate(left) if number not in (at, line_index)]
    for kind in left:
        line = ("row", "column")[_SIDES[kind]] if kind in _SIDES else "column" if "row" in lines else "row"
        if kind in _SIDES:
            lines.setdefault(line, kind)
    for kind in left:
        if kind == "center" or (kind.startswith("nth") and lines):
            lines.setdefault("column" if "row" in lines else "row", kind)
    if len(lines) < 2:
        return "center" if sorted(left) == ["center", "image"] else ""
    if any(kind.startswith("nth") for kind in lines.values()):
        return ", ".join(f"{_line_name(lines[line])} {line}" for line in ("row", "column"))
    return f"{lines['row'].replace('center', 'middle')}-{lines['column']}"


def _line_name(kind: str) -> str:
    return ORDINALS[int(kind[3:]) - 1] if kind.startswith("nth") else kind.replace("center", "middle")


# --- Their patterns ---------------------------------------------------------------------------------------------------


_joint_pattern = lazy_pattern(r"(?:[ ,'-]{1,3}|{grid_joint}){0,8}")


@functools.cache
def _token_pattern() -> re.Pattern[str]:
    """A word for a side, a line, an image or a number; the name of its group says what it is."""
    words = [rf"(?P<{name}>{any_of(f'grid_{name}')})" for name in (*_SIDES, "center", "row", "column", "image")]
    words += [rf"(?P<nth{number}>{nth})" for number, nth in numbered_words("nth").items()]
    return re.compile("|".join(words))
