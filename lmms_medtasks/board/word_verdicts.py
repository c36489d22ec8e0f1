"""Whether a number of an entry is made of verdicts of the judge that compares words: it is a smoke test, no score."""

from __future__ import annotations

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical


def word_signs(by_words: tuple[bool, bool]) -> tuple[str, str]:
    """The signs of two sides' numbers, "" for none."""
    one, other = by_words
    return LEXICAL * one, LEXICAL * other


def is_lexical_metric(entry: LeaderboardEntry, metric: str) -> bool:
    """Whether the number is made of verdicts of the judge that compares words; a rule's alone are not its."""
    if entry.judge is None or not is_lexical(entry.judge.name):
        return False
    return not {"judged", "partial"}.isdisjoint(entry.scored(metric).column("judgement"))
