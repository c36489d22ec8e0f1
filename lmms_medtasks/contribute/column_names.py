"""How columns of tables of questions are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lmms_medtasks import parsing

_NAMES: Mapping[str, tuple[str, ...]] = {
    "image": ("image", "images", "img", "picture", "photo", "imagepath", "imgpath", "imagepaths", "imagefile",
              "filename", "imagename", "imgname", "imagefilename", "figurepath", "file"),
    "question": ("question", "query", "questiontext", "q", "problem", "text"),
    "options": ("options", "choices", "candidates", "answeroptions", "answerchoices"),
    "answer": ("answer", "answerindex", "answeridx", "answerid", "answerlabel", "answerletter", "answerkey",
               "correctanswer", "correctindex", "correctidx", "correctoption", "correctchoice", "correct", "label",
               "groundtruth", "gt", "gtanswer", "target", "cop", "reference", "multiplechoiceanswer", "answers"),
    "id": ("id", "index", "questionid", "qid", "uid", "sampleid"),
}  # fmt: skip
"""Our name of a column -> how others call it: small letters, without blanks and signs. The first one counts."""

_NUMBERED = re.compile(r"(?:image|img|picture)([0-9]+)")
_OPTION = re.compile(r"(?:option|choice|opt|op|candidate)?([a-z]|[0-9]{1,2})")


def plain(name: str) -> str:
    """A column's name in small letters, without blanks and signs."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def candidates(names: Sequence[str], ours: str) -> list[str]:
    """The columns that may be ours, the likeliest first."""
    known = {plain(name): name for name in reversed(names)}
    return [known[each] for each in _NAMES[ours] if each in known]


def numbered(names: Sequence[str]) -> list[str]:
    """Columns such as image_1, image_2, in the order of their numbers."""
    numbers = {int(match[1]): name for name in names if (match := _NUMBERED.fullmatch(plain(name)))}
    return [numbers[each] for each in sorted(numbers)]


def option_columns(names: Sequence[str]) -> list[str]:
    """A column for each option: A, B, C; option_a, option_b; choice1, choice2; from the first one on, without a gap."""
    marks = {match[1]: name for name in reversed(names) if (match := _OPTION.fullmatch(plain(name)))}
    for marked in (list(parsing.option_letters(26).lower()), range(26), range(1, 27)):
        run = []
        for mark in map(str, marked):
            if mark not in marks:
                break
            run.append(marks[mark])
        if len(run) > 1:
            return run
    return []
