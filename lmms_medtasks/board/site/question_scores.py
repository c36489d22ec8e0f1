"""The models' scores on a task's questions: as texts, from 0 (worst) to 1 (best), and as codes for filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.suites.suite import Measure

_BETWEEN = 8
RIGHT, WRONG, MIDDLE, MISSING, DIFFER = 1, 2, 4, 8, 16
"""Bits: the verdict of any model, and whether their scores differ."""
_BITS = "0123456789abcdefghijklmnopqrstuv"


@dataclass(frozen=True)
class QuestionScores:
    """A model's scores on n questions, of which k are distinct: a board may have millions, most of them equal.

    A question has its first main mean with a value.

    Attributes:
        places: (n,) integers of the smallest type, the index of each question's score among the distinct ones.
        distinct: (k,) floats, NaN for none. shares: (k,) floats, scaled to 0 to 1.
        measure: (k,) integers, index of the score's unit in ``units``.
    """

    places: np.ndarray
    distinct: np.ndarray
    shares: np.ndarray
    measure: np.ndarray
    units: tuple[Measure, ...]

    @property
    def normal(self) -> np.ndarray:
        """(n,) floats from 0 to 1, NaN for none."""
        return self.shares[self.places]

    def text(self, row: int) -> str | None:
        """``33.3%``, None without a score."""
        return self._text(int(self.places[row]))

    def said(self, rows: slice) -> list[tuple[str, str]]:
        """The scores of these rows as a text ("–" for none) and as the digit of the index."""
        found, back = np.unique(self.places[rows], return_inverse=True)
        said = [(self._text(place) or "–", score_character(float(self.shares[place]))) for place in found.tolist()]
        return [said[place] for place in back.tolist()]

    def _text(self, place: int) -> str | None:
        value = self.distinct[place]
        if np.isnan(value):
            return None
        shown = self.units[self.measure[place]]
        unit = shown.unit if shown.unit == "%" else f" {shown.unit}"
        return f"{shown.factor * value:.{shown.digits}f}{unit}"

    def ordered(self, order: np.ndarray) -> QuestionScores:
        """The scores in another order of the questions, (n,) indices."""
        return replace(self, places=self.places[order])


def scores_of(entry: LeaderboardEntry, ids: np.ndarray) -> QuestionScores:
    """The scores of an entry on the questions ``ids`` (sorted; it need not have all of them)."""
    units = tuple(map(entry.scale, entry.main_means))
    own = entry.questions.ids
    place = slice(None) if own is ids else np.searchsorted(ids, own)
    values, measure = np.full(len(ids), np.nan), np.zeros(len(ids), dtype=np.int16)
    for number, name in enumerate(entry.main_means):
        found = np.full(len(ids), np.nan)
        found[place] = entry.scores(name)
        empty = np.isnan(values) & ~np.isnan(found)
        values[empty], measure[empty] = found[empty], number
    return _compact_scores(values, measure, units)


def _compact_scores(values: np.ndarray, measure: np.ndarray, units: Sequence[Measure]) -> QuestionScores:
    several = max(len(units), 1)
    known, codes = np.unique(values, return_inverse=True)
    pairs, places = np.unique(codes * several + measure, return_inverse=True)
    distinct, of_pair = known[pairs // several], (pairs % several).astype(np.int16)
    shares = np.full(len(distinct), np.nan)
    for number, shown in enumerate(units):
        own = of_pair == number
        shares[own] = shares_of(distinct[own], shown)
    smallest = np.min_scalar_type(max(len(distinct) - 1, 0))
    return QuestionScores(places.astype(smallest), distinct, shares, of_pair, tuple(units))


def shares_of(values: np.ndarray, scale: Measure) -> np.ndarray:
    """Scores from 0 (worst) to 1 (best)."""
    share = np.clip((values - scale.low) / (scale.high - scale.low), 0, 1)
    return share if scale.higher_is_better else 1 - share


def score_mark(normal: float) -> str:
    """✓ for the best score, ✗ for the worst, ~ between, "" for none."""
    return "" if np.isnan(normal) else "✓" if normal >= 1 else "✗" if normal <= 0 else "~"


def score_characters(shares: np.ndarray, places: np.ndarray) -> str:
    """A character a question: 0 worst, 9 best, 1 to 8 between, - none. ``places``: indices into ``shares``."""
    found = np.array([ord(score_character(value)) for value in shares.tolist()], dtype=np.uint8)
    return bytes(found[places]).decode()


def score_character(value: float) -> str:
    """The character of a score from 0 to 1, NaN for none."""
    if np.isnan(value):
        return "-"
    return "0" if value <= 0 else "9" if value >= 1 else str(1 + min(_BETWEEN - 1, int(value * _BETWEEN)))


def score_verdicts(normals: Iterable[np.ndarray], count: int) -> str:
    """For each question the verdicts of all models, and whether they differ: a digit of base 32 each.

    ``normals``: of each model the scores of the ``count`` questions from 0 to 1; one is in memory at a time.
    """
    found = np.zeros(count, dtype=int)
    highest, lowest = np.full(count, -np.inf), np.full(count, np.inf)
    for normal in normals:
        right, wrong, none = normal >= 1, normal <= 0, np.isnan(normal)
        for bit, kind in ((RIGHT, right), (WRONG, wrong), (MIDDLE, ~right & ~wrong & ~none), (MISSING, none)):
            found[kind] |= bit
        np.fmax(highest, normal, out=highest)
        np.fmin(lowest, normal, out=lowest)
    found[highest > lowest] |= DIFFER
    return "".join(_BITS[bits] for bits in found.tolist())
