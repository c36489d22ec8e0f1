"""Signs beside a number, wherever it stands on the site: what a reader must know before it is compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.report.document import MARKS as NO_INTERVAL
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS

READABLE = 0.9
"""Share of the replies that could be read below which a number is marked."""
HARD_TO_READ = "†"
UNREAD = f"under {READABLE:.0%} of the replies could be read".replace("%", " %")
"""What a sentence says in place of a claim about a model whose number :data:`HARD_TO_READ` marks."""
BY_WORDS = "judged by lexical: words compared, no score"
"""What a badge says of numbers that :data:`LEXICAL` marks."""
SAID = {
    HARD_TO_READ: f"Under {READABLE:.0%} of the replies could be read; the others count as wrong.".replace("%", " %"),
    LEXICAL: MEANINGS[LEXICAL],
}
"""What each sign means."""
_TOGETHER = {**SAID, HARD_TO_READ + LEXICAL: " ".join(SAID.values())}
MARKS = {
    signs + why: f"{meaning} {said}".rstrip()
    for signs, meaning in _TOGETHER.items()
    for why, said in {"": "", **NO_INTERVAL}.items()
    if why not in SAID
}
"""The same of a cell's whole mark, for a table: signs, and why there is no interval."""


def signs(entry: Entry, metric: str) -> str:
    """The signs of an entry's number, "" for none."""
    return HARD_TO_READ * _is_hard_to_read(entry, metric) + LEXICAL * is_by_words(entry, metric)


def _is_hard_to_read(entry: Entry, metric: str) -> bool:
    """Whether too few replies could be read, of the questions of this metric: a task may ask others beside them."""
    if entry.declaration is None or entry.counts.parsed == entry.counts.replies:
        return False
    parsed, replies = entry.declaration.read_replies(entry.scored(metric))
    return replies > 0 and parsed / replies < READABLE


def with_signs(cell: Cell, found: str) -> Cell:
    """The cell with these signs before its own mark; one without a number has none."""
    return cell if cell.value is None else replace(cell, mark=found + cell.mark)


def signs_of(cell: Cell) -> str:
    """The signs that a cell has."""
    return "".join(each for each in SAID if each in cell.mark)


def legend(cells: Iterable[Cell]) -> tuple[tuple[str, str], ...]:
    """Each sign that one of the cells has, with its meaning."""
    used = {sign for each in cells for sign in signs_of(each)}
    return tuple((sign, meaning) for sign, meaning in SAID.items() if sign in used)
