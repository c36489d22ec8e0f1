"""The models' scores on a task's questions, as texts and from 0 (worst) to 1 (best)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.suites.suite import Measure


@dataclass(frozen=True)
class Scores:
    """A model's scores on the questions of a task, (n,) floats, NaN where there is none: as they are, and from 0 to 1.

    A question has the first main measure that has a value for it.
    """

    values: np.ndarray
    normal: np.ndarray
    units: tuple[Measure, ...]
    measure: np.ndarray

    def text(self, row: int) -> str | None:
        """``33.3%``, None where there is none."""
        if np.isnan(self.values[row]):
            return None
        shown = self.units[self.measure[row]]
        unit = shown.unit if shown.unit == "%" else f" {shown.unit}"
        return f"{shown.factor * self.values[row]:.{shown.digits}f}{unit}"

    def ordered(self, order: np.ndarray) -> Scores:
        """The same of the questions in another order, (n,) places."""
        return Scores(self.values[order], self.normal[order], self.units, self.measure[order])


def scores_of(entry: Entry, ids: np.ndarray) -> Scores:
    """The scores of an entry on the questions ``ids`` (sorted; it need not have all of them)."""
    values, normal = np.full(len(ids), np.nan), np.full(len(ids), np.nan)
    measure = np.zeros(len(ids), dtype=np.int16)
    units = tuple(map(entry.scale, entry.main_metrics))
    place = np.searchsorted(ids, entry.questions.ids)
    for number, (name, shown) in enumerate(zip(entry.main_metrics, units, strict=True)):
        found = np.full(len(ids), np.nan)
        found[place] = entry.scores(name)
        empty = np.isnan(values) & ~np.isnan(found)
        values[empty], measure[empty] = found[empty], number
        share = (found[empty] - shown.low) / (shown.high - shown.low)
        normal[empty] = np.clip(share if shown.higher_is_better else 1 - share, 0, 1)
    return Scores(values, normal, units, measure)


def mark(normal: float) -> str:
    """✓ of the best score, ✗ of the worst, ~ between, "" of none."""
    return "" if np.isnan(normal) else "✓" if normal >= 1 else "✗" if normal <= 0 else "~"
